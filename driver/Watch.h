/// Progress and the end of long work, for its caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace colldsl::driver {

/// The progress of some work.
struct Reached {
  std::string what; ///< the name of a collective or of a schedule
  uint64_t done = 0, total = 0;
  std::string more = {}; ///< words for people, behind the numbers
};

/// The observer of the work for one request.
struct Watch {
  /// Set to true, it ends the work soon, which then fails. Null: the work runs to its end.
  const std::atomic<bool> *stop = nullptr;
  /// Any thread of the work may call it, several at once. It returns soon.
  std::function<void(const Reached &)> progress = nullptr;

  bool isStopped() const { return stop && stop->load(std::memory_order_relaxed); }
};

/// Counts the finished pieces of some work. Thread safe.
class Steps {
public:
  /// `watch` outlives this object.
  Steps(const Watch &watch, std::string what, uint64_t total)
      : watch_(watch), what_(std::move(what)), total_(total) {}

  void step() {
    uint64_t done = ++done_;
    if (watch_.progress)
      watch_.progress({what_, done, total_});
  }

private:
  const Watch &watch_;
  const std::string what_;
  const uint64_t total_;
  std::atomic<uint64_t> done_{0};
};

} // namespace colldsl::driver
