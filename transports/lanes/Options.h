/// What may be set when the lanes of a rank are made. Sizes in bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace colldsl::lanes {

/// What ends a sleep besides news of the lanes.
struct News {
  int file = -1; ///< readable: there is news; negative: there is no such file
  std::chrono::nanoseconds atMost = std::chrono::nanoseconds::max();
};

/// What else a waiting rank has to move.
class ProgressHook {
public:
  virtual ~ProgressHook() = default;

  /// Moves it once. Called often while a rank waits: costs little where nothing is pending.
  virtual void progress() = 0;

  /// Called now and then, and before each sleep: may enter the kernel.
  virtual void check() = 0;

  /// Called before each sleep, when nothing moved. Empty: there is something now.
  virtual std::optional<News> news() = 0;

  /// Around each moment in which the waiting thread gives its core away or sleeps.
  virtual void leave() = 0;
  virtual void comeBack() = 0;
};

struct Options {
  /// Of each lane, for payloads under way. A multiple of 64.
  uint32_t ringBytes = 64 << 10;
  /// Up to here messages travel in lines, each with its stamp; at most kLongestInlineBytes.
  uint32_t inlineBytes = 512;
  /// Longer messages ask the receiver first; up to half the ring only one that is there in time, or
  /// that makes a single copy.
  uint32_t eagerBytes = 8 << 10;
  /// Of a message that streams.
  uint32_t fragmentBytes = 8 << 10;
  /// From here on the receiver reads the sender's memory, unless both share it: see CopyCosts.h.
  uint64_t singleCopyMinBytes = 16 << 10;
  /// When messages of so many bytes that nobody waits for were set aside, the sender is
  /// told to ask first.
  uint64_t asideBytes = 256 << 10;
  /// Of a rank that waits. Whoever has other things to look after wakes sooner.
  std::chrono::nanoseconds longestSleep = std::chrono::milliseconds(5);
  /// Ranks that share the cores with these, themselves included; 0: those of the world.
  uint32_t ranksOnMachine = 0;
  /// Outlives the lanes. May be null.
  ProgressHook *progressHook = nullptr;
  /// Whether its news come by files.
  bool sleepsOnFiles = false;
  /// Without news, before the core is given away, at most: whoever moves other things besides looks
  /// for longer each time.
  uint32_t mostLooks = UINT32_MAX;
  /// How long a rank that has a core of its own gives it away again and again before it sleeps, at
  /// least.
  std::chrono::nanoseconds leastYielding = {};
};

} // namespace colldsl::lanes
