/// Ranks that exchange long messages over a network, of two plans: one rank may fail in the first
/// plan anywhere, or die. What transports/network does, in steps.
///
/// Frames from rank to rank arrive in order; reads and writes of memory pass by them. Memory is
/// registered while a peer may move bytes into or out of it. Any rank that heard that a plan failed
/// tells its peers, and cancels the plan at some time; the messages of the second plan go on. A
/// rank that cancels waits for peers that may write. It waits some time, and perhaps no longer, for
/// those that may read; by then what it said has arrived there, though perhaps it was not taken.
#pragma once

#include "tests/explorer/Scenario.h"

#include <array>
#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>

namespace colldsl::test {

class NetworkMachine {
public:
  static constexpr std::array kWays = {Way::Read, Way::Written, Way::Fragments, Way::Announced};
  /// A rule as it was before, or one that somebody might think of.
  enum class Mutant : uint8_t {
    None,
    MovesAfterFailure,      ///< a rank that failed begins to read or to write
    FailureEndsWrites,      ///< a peer that said that it failed is taken for one that has written
    ClosesBeforeItHasMoved, ///< a rank says that it closed the plan while it reads or writes
    ForgetsWriters,         ///< a rank that cancels does not wait for its writers
    DeregistersUnread,      ///< what a peer may still read is not kept registered
    KeepsForGood,           ///< nor ever given up
    EndsAfterFailure,       ///< what was read once the plan failed counts as received
  };

  NetworkMachine(const Scenario &scenario, Mutant mutant);

  /// Where a step commutes with all others it is the only one.
  template <typename Visit> void steps(Visit visit) const {
    for (uint8_t r = 0; r < scenario_->ranks; ++r) {
      NetworkMachine next = *this;
      if (const char *step = next.takeAtOnce(r))
        return visit(next, step);
    }
    for (uint8_t r = 0; r < scenario_->ranks; ++r)
      for (uint8_t choice = 0; choice < kChoices; ++choice) {
        NetworkMachine next = *this;
        if (const char *step = next.take(r, choice))
          visit(next, step);
      }
  }
  std::string violation() const { return s_.wrong ? s_.wrong : ""; }
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  static constexpr uint8_t kParts = 1; ///< of a message
  static constexpr uint8_t kFrames = 14, kPlans = 2;
  static constexpr uint8_t kEveryPlan = kPlans;
  static constexpr uint8_t kPerMessage = 5, kPerRank = 3, kPerPlan = 4;
  static constexpr uint8_t kChoices =
      kMostMessages * kPerMessage + kMostRanks * kPerRank + kPlans * kPerPlan + 1;

  /// Of a plan at a rank. From Cancelling on the plan takes no frames; once Waiting it reads and
  /// writes nothing.
  enum class Phase : uint8_t { Running, Failed, Cancelling, Waiting, Closed };
  enum class Send : uint8_t { Idle, Asked, Writing, Streaming, Done, Cancelled };
  enum class Recv : uint8_t {
    Idle,
    Posted,
    Announced,
    ToRead,
    Looked,
    Reading,
    Streaming,
    Done,
    Cancelled
  };
  enum class Kind : uint8_t { Request, Place, Unasked, Fragment, Read, Failed, Drained, Closed };

  struct Frame {
    Kind kind;
    uint8_t subject; ///< a message, or a plan
  };
  struct Message {
    Send send;
    Recv recv;
    uint8_t isAside;      ///< the request waits for its receive
    uint8_t isPlaced;     ///< the sender knows where the receiver wants it
    uint8_t mayBeRead;    ///< the receiver knows where it is
    uint8_t mayBeWritten; ///< the sender may know where it is wanted
    uint8_t isKept;       ///< registered at the sender though its plan is closed
    uint8_t said;         ///< parts in frames
    uint8_t moved;        ///< parts that are where they belong
    uint8_t isWritten;    ///< the receiver will see that it is
    uint8_t isStale;      ///< a part was read from memory that was used again
  };
  struct Wire {
    uint8_t numFrames, unused;
    Frame frames[kFrames];
  };
  struct Rank {
    Phase phases[kPlans];
    uint8_t lost;            ///< a bit per rank
    uint8_t drained[kPlans]; ///< the same: who moves nothing of the plan any more
    uint8_t told[kPlans];    ///< the same: who was told that this rank does so
    uint8_t isDead;
  };
  struct Situation {
    const char *wrong;
    Rank ranks[kMostRanks];
    Wire wires[kMostRanks][kMostRanks];
    Message messages[kMostMessages];
    uint8_t troubleCame;
  };

  bool is(Mutant mutant) const { return mutant_ == mutant; }
  const MessageSpec &spec(uint8_t m) const { return scenario_->messages[m]; }
  uint8_t planOf(uint8_t m) const { return spec(m).isOfSecondPlan ? 1 : 0; }
  Phase phaseOf(uint8_t rank, uint8_t m) const { return s_.ranks[rank].phases[planOf(m)]; }
  bool isDead(uint8_t rank) const { return s_.ranks[rank].isDead != 0; }
  bool isLost(uint8_t rank, uint8_t peer) const { return s_.ranks[rank].lost >> peer & 1; }
  bool areDrained(uint8_t rank, uint8_t peer, uint8_t plan) const {
    return isLost(rank, peer) || (s_.ranks[rank].drained[plan] >> peer & 1);
  }
  /// Whether it has messages in the plan.
  bool takesPart(uint8_t rank, uint8_t plan) const;
  bool arePeers(uint8_t a, uint8_t b, uint8_t plan) const;
  /// Whether the rank reads or writes memory of the peer, in this plan.
  bool isMoving(uint8_t rank, uint8_t peer, uint8_t plan) const;
  bool mayMove(uint8_t rank, uint8_t m) const {
    return phaseOf(rank, m) == Phase::Running || is(Mutant::MovesAfterFailure);
  }
  bool isOver(uint8_t rank, uint8_t plan) const;
  /// Whether the memory of this end is its owner's again.
  bool isGivenBack(uint8_t rank, uint8_t m) const;

  /// Null: that cannot be done now.
  const char *take(uint8_t rank, uint8_t choice);
  /// A step that the order of all others does not depend on; null: there is none.
  const char *takeAtOnce(uint8_t rank);
  bool mayTakeAtOnce(uint8_t rank, uint8_t from) const;
  const char *stepOfMessage(uint8_t rank, uint8_t m, uint8_t what);
  const char *stepWithPeer(uint8_t rank, uint8_t peer, uint8_t what);
  const char *stepOfPlan(uint8_t rank, uint8_t plan, uint8_t what);
  const char *die(uint8_t rank);

  void send(uint8_t from, uint8_t to, Kind kind, uint8_t subject);
  void fail(uint8_t rank, uint8_t plan);
  const char *failHere(uint8_t rank);
  const char *loseIt(uint8_t rank, uint8_t peer);
  const char *takeFrame(uint8_t rank, uint8_t from);
  const char *takeOfPlan(uint8_t rank, uint8_t from, Frame frame);
  const char *takeOfMessage(Frame frame);
  const char *post(uint8_t rank, uint8_t m);
  const char *decide(uint8_t m);
  void announce(uint8_t m, Kind kind);
  const char *write(uint8_t m);
  const char *takePart(uint8_t m);
  const char *stream(uint8_t m);
  const char *read(uint8_t m);
  const char *movePart(uint8_t rank, uint8_t m);
  const char *seeMoved(uint8_t rank, uint8_t m);
  const char *seeWritten(uint8_t m);
  const char *close(uint8_t rank, uint8_t plan);
  const char *leave(uint8_t rank, uint8_t plan);

  const Scenario *scenario_;
  Mutant mutant_;
  Situation s_;
};

} // namespace colldsl::test
