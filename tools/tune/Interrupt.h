/// SIGINT as a request to end work early, in this process and in forked ones.
#pragma once

#include <atomic>
#include <cstdint>

namespace colldsl::tools {

class Interrupt {
public:
  /// From now on the process counts the first SIGINT; the next one ends it.
  Interrupt();
  Interrupt(const Interrupt &) = delete;
  Interrupt &operator=(const Interrupt &) = delete;

  const std::atomic<uint32_t> *count() const { return count_; }
  bool came() const { return count_->load() != 0; }

private:
  std::atomic<uint32_t> *count_; ///< shared with processes that are forked; lives as long as these
};

} // namespace colldsl::tools
