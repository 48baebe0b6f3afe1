/// Progress of long work, on stderr, if stderr is a terminal and errors are not captured.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace colldsl::tools {

/// Thread safe. The destructor clears the line on the terminal.
class Progress {
public:
  Progress(std::string what, uint64_t total);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Counts one piece of work as done.
  void step();
  /// So many pieces are done; `more` is printed behind them.
  void reached(uint64_t done, const std::string &more);

private:
  bool isDue();
  void show(uint64_t done, const std::string &more);

  std::string what_;
  uint64_t total_;
  bool watched_;
  std::atomic<uint64_t> done_{0};
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_; ///< the next write is not before
  bool shown_ = false;
};

} // namespace colldsl::tools
