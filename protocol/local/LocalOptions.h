/// What may be set when a worker is made. Sizes in bytes.
#pragma once

#include "protocol/Limits.h"
#include "transports/shm/FifoSender.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace colldsl::protocol {

/// What ends a sleep besides messages.
struct Wakeup {
  int file = -1; ///< readable: there is an event; negative: there is no such file
  std::chrono::nanoseconds atMost = std::chrono::nanoseconds::max(); ///< 0: the core is yielded
};

/// What else a waiting rank has to progress.
class ProgressHook {
public:
  virtual ~ProgressHook() = default;

  /// Progresses it once. Called often while a rank waits: costs little where nothing is pending.
  virtual void progress() = 0;

  /// Called now and then, and before each sleep: may enter the kernel.
  virtual void check() = 0;

  /// Called before each sleep, when nothing moved. Empty: there is something now.
  virtual std::optional<Wakeup> wakeup() = 0;

  /// Around each moment in which the waiting thread yields its core or sleeps.
  virtual void beforeWait() = 0;
  virtual void afterWait() = 0;
};

struct LocalOptions : Limits {
  shm::FifoOptions fifo;
  /// Of a rank that waits. A caller with other things to look after wakes sooner.
  std::chrono::nanoseconds longestSleep = std::chrono::milliseconds(5);
  /// Outlives the worker. May be null.
  ProgressHook *progressHook = nullptr;
  /// Whether events of the hook come by files.
  bool sleepsOnFiles = false;
  /// Polls without an event before a rank yields its core, at most: one that progresses other
  /// things besides polls for longer each time.
  uint32_t mostPolls = UINT32_MAX;
  /// How long a rank that has a core of its own yields it again and again before it sleeps, at
  /// least.
  std::chrono::nanoseconds leastYielding = {};
};

} // namespace colldsl::protocol
