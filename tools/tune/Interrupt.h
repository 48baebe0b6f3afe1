/// SIGINT, as work that can be ended early sees it: in this process and in those that it forks.
#pragma once

#include <atomic>
#include <cstdint>

namespace colldsl::tools {

class Interrupt {
public:
  /// From now on the first SIGINT is counted; the next one ends the process.
  Interrupt();
  Interrupt(const Interrupt &) = delete;
  Interrupt &operator=(const Interrupt &) = delete;

  const std::atomic<uint32_t> *count() const { return count_; }
  bool came() const { return count_->load() != 0; }

private:
  std::atomic<uint32_t> *count_; ///< shared with processes that are forked; lives as long as these
};

} // namespace colldsl::tools
