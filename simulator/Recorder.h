/// Writes a Recording while the engine runs. Internal to this folder.
#pragma once

#include "simulator/Recording.h"

#include <cstddef>
#include <utility>

namespace colldsl::sim {

class Recorder {
public:
  /// `clocks`: processors and interfaces of all ranks, as the engine numbers them.
  Recorder(size_t vertices, size_t ranks, size_t clocks, bool hasLinks);

  /// `by` released the op. The op waited for the last one that released it.
  void released(uint32_t op, ActivityId by, uint64_t at);

  /// The resources of an activity: its clocks, and their values before.
  struct Use {
    uint32_t rank;
    size_t processor;
    uint64_t processorFree;
    size_t gap;
    uint64_t gapFree;
  };
  void ranOp(uint32_t op, const Use &use, uint64_t begin, uint64_t end, bool usesGap);
  /// After ranOp(): its interface sends until then.
  void sendsUntil(uint32_t op, uint64_t at) { recording_.ops[op].interfaceEnd = at; }
  /// The head of a message has arrived; it is received from `begin` to `end`.
  void arrived(uint32_t send, uint64_t at) { recording_.messages[send].begin = at; }
  void entersLinks(uint32_t send, uint64_t at) { recording_.onLinks[send] = at; }
  void leavesLinks(uint32_t send, uint64_t at) {
    recording_.onLinks[send] = at - recording_.onLinks[send];
  }
  void ranMessage(uint32_t send, const Use &use, uint64_t begin, uint64_t end);
  /// A send, or its message, continues at `at` because its receive has started. Its cause is the
  /// cause of the receive's start.
  void awaited(uint32_t send, bool isMessage, uint32_t recv, uint64_t at);
  /// A receive, which takes no time, was started.
  void posted(uint32_t recv, const Use &use, uint64_t at);
  /// A receive ends with its message, or with its own start if that is later.
  void received(uint32_t recv, uint32_t send, uint64_t end);
  /// A long send ends with the activity of its message on the other rank.
  void acknowledged(const Use &use, uint32_t send, uint64_t at);

  Recording take() { return std::move(recording_); }

private:
  struct Release {
    ActivityId by;
    uint64_t at = 0;
  };
  void explain(Activity &activity, const Use &use, bool usesGap, const Release &release) const;
  void occupy(ActivityId id, const Use &use, bool usesGap, uint64_t end);

  Recording recording_;
  std::vector<Release> releases_;   ///< per op
  std::vector<ActivityId> holders_; ///< per clock: the activity that set it
  std::vector<uint64_t> lastEnd_;   ///< per rank
};

} // namespace colldsl::sim
