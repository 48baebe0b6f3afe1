/// Progress of long work, as a line on stderr, if stderr is a terminal.
#pragma once

#include "driver/Watch.h"

#include <chrono>
#include <mutex>

namespace colldsl::tools {

/// Thread safe. The destructor clears the line on the terminal.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// For work that ends before this object does.
  const driver::Watch &watch() const { return watch_; }

private:
  void show(const driver::Reached &reached);

  bool isShown_; ///< stderr is a terminal
  driver::Watch watch_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_; ///< the next write is not before
  bool hasLine_ = false;
};

} // namespace colldsl::tools
