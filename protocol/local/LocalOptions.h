/// The options of a worker. Sizes in bytes.
#pragma once

#include "protocol/Limits.h"
#include "transports/shm/FifoSender.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace colldsl::protocol {

/// Events that end a sleep, besides messages.
struct Wakeup {
  int file = -1; ///< readable: there is an event; negative: there is no such file
  std::chrono::nanoseconds atMost = std::chrono::nanoseconds::max(); ///< 0: the core is yielded
};

/// Other work that a waiting rank has to progress.
class ProgressHook {
public:
  virtual ~ProgressHook() = default;

  /// Progresses the work once. Called often while a rank waits: costs little if nothing is pending.
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
  /// The longest sleep of a rank that waits. A caller with other work wakes sooner.
  std::chrono::nanoseconds longestSleep = std::chrono::milliseconds(5);
  /// Outlives the worker. May be null.
  ProgressHook *progressHook = nullptr;
  /// True if events of the hook come by files.
  bool sleepsOnFiles = false;
  /// Polls without an event before a rank yields its core, at most: one that progresses other
  /// things besides polls for longer each time.
  uint32_t mostPolls = UINT32_MAX;
  /// The least time for which a rank that has a core of its own yields it again and again before it
  /// sleeps.
  std::chrono::nanoseconds leastYielding = {};
};

} // namespace colldsl::protocol
