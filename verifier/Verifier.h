/// Proves a schedule, or shows how it fails. The proofs, over the DAGs of all ranks, for the sizes
/// given:
///   matching   every send meets a receive, sizes agree, peers exist
///   deadlock   none, even if every send is synchronous; and none with the finite
///              FIFO channels that the transports have
///   races      two ops of a rank that touch common bytes, one writing, are ordered; the
///              sender of an announced message is told that its receiver has started
///   contract   every `ensures` holds; each contribution counted exactly once, in an
///              order its operator allows; `synchronizes`, `deterministic`; bounds of costs
///   writes     every promised byte is written, no other byte is touched (temporaries
///              aside), nor one beyond the length that a block of capacity has in the end; no
///              byte is read before it was written, no slice leaves its buffer
/// One symbolic run in any order is a proof for all orders, because a race-free DAG
/// has one outcome. How each proof works, and why it is sound: docs/verifier.md.
#pragma once

#include "ir/Channel.h"
#include "ir/Schedule.h"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::proof {

enum class Proof : uint8_t { Matching, Deadlock, Races, Contract, Writes };
std::string_view spelling(Proof proof);

struct VerifyOptions {
  /// Slots of a FIFO channel between two ranks in the finite-buffer check; 0: unlimited
  /// (messages of one channel are still taken in the order in which they were sent).
  uint32_t channelSlots = kChannelSlots;
  /// The most failures that are reported; one stands for all that differ in their ranks only.
  uint32_t maxFailures = 10;
  /// Fills in VerifyReport::waste, unless the schedule synchronizes: then messages order ranks,
  /// too.
  bool findsWaste = false;
  /// The operators are a caller's own, which elements of every type have; those of the schedule
  /// stand for them.
  bool ownOperators = false;
  /// Set to true, it ends the proof, which then counts as refused. Null: the proof runs to its end.
  const std::atomic<bool> *stop = nullptr;
};

/// A counterexample. `message` says what is wrong, `steps` how it comes about:
/// each step a place (rank, op, source line) and what happens there.
struct Failure {
  Proof proof;
  std::string message;
  struct Step {
    Rank rank = kNoRank;
    OpId op = kNoOp;
    SourceLoc loc;
    std::string text;
  };
  std::vector<Step> steps;

  /// Failures of other ranks, or in other ops, that a renaming of ranks takes to this one, which
  /// is that of the smallest rank.
  struct Alike {
    uint64_t count = 0;
    std::vector<uint32_t> ranks; ///< ascending, each once
    bool isAll = true;           ///< false: the search ended, as there were too many
  };
  Alike alike = {};
  std::string pattern = {}; ///< equal for such failures (Alike.h)

  Rank rank() const { return steps.empty() ? kNoRank : steps.front().rank; }
};

/// The parts of a proved schedule that it could do without.
struct Waste {
  /// The ops of one place in the sources, of all ranks, that receive, copy or combine.
  struct Place {
    SourceLoc loc;
    OpKind kind = OpKind::Recv;
    uint64_t ops = 0;
    uint64_t useless = 0;   ///< on which no promised byte depends
    uint64_t repeating = 0; ///< of these: rewrite values that are there already
    uint64_t spare = 0; ///< copy a whole temporary to bytes of a parameter that no other op touches
    std::string temporary, parameter; ///< of one that is spare
  };
  std::vector<Place> places;
  uint32_t depth = 0;       ///< the longest chain of messages
  uint32_t usefulDepth = 0; ///< of those that end in a message that is not useless
};

struct VerifyReport {
  std::vector<Failure> failures;
  uint64_t leftOut = 0;       ///< patterns of further failures, beyond VerifyOptions::maxFailures
  std::vector<Proof> skipped; ///< not tried, because a failure above takes away what they rest on
  uint64_t ops = 0;
  uint64_t messages = 0;
  /// Places of the `ensures` and invariants of which some rank compared bytes, and of bounds of
  /// costs that some rank had.
  std::vector<SourceLoc> compared;
  Waste waste;                  ///< if it is proved, and VerifyOptions::findsWaste
  bool contractChecked = false; ///< false: the schedule has none (plain GOAL), or it was skipped
  /// Set by verifyAllLengths(): the reason why the proof holds for some lengths only. Empty: it
  /// holds for all.
  std::string undecided = {};
  bool proved() const { return failures.empty() && undecided.empty(); }
};

/// sizes: one per rank, or one for all if no buffer has call-time blocks.
/// Block tables give the places of all blocks, and the lengths of those that hold
/// something at entry; Capacity buffers extend over blocks * m elements. The schedule is
/// well formed as a loaded image is: deps name older ops, slice ranges lie in Dag::slices.
/// Thread-safe: calls share nothing.
VerifyReport verify(const Schedule &schedule, const std::vector<Sizes> &sizes,
                    const VerifyOptions &options = {});

/// Variant of verify() at n == elements, for all lengths at once that the contract allows for
/// blocks [*] and [<= m]. Blocks of a rank must not overlap where they are written. A failure
/// happens at some lengths. Where ops divide blocks, or lists put them between each other in
/// another order, the proof holds for some lengths only, and VerifyReport::undecided says so.
VerifyReport verifyAllLengths(const Schedule &schedule, uint64_t elements,
                              const VerifyOptions &options = {});

/// The report as text for people; file names come from the schedule.
std::string describe(const VerifyReport &report, const Schedule &schedule);

} // namespace colldsl::proof
