/// Ranks that exchange long messages over FIFOs, of two plans: one rank may fail in the first plan
/// anywhere, or die. What protocol/ does over shared memory, in steps. The state words are changed
/// by transports/Rendezvous.h itself.
///
/// A rank is one thread: while it copies it does nothing else. It posts its ends in any order. A
/// rank that fails in the first plan, or sees that another one did, cancels its ends of that plan,
/// and is told when that is done; the messages of the second plan go on. A dead rank does nothing
/// any more, which the others see at some time: then both plans have failed.
#pragma once

#include "tests/explorer/RendezvousWord.h"
#include "tests/explorer/Scenario.h"
#include "transports/Rendezvous.h"

#include <array>
#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>

namespace colldsl::test {

class LocalMachine {
public:
  static constexpr std::array kWays = {Way::Read, Way::Written, Way::Fragments, Way::Cooperative};
  /// A rule as it was before, or one that somebody might think of.
  enum class Mutant : uint8_t {
    None,
    CopiesWithoutClaim,  ///< the receiver copies, and the sender cancels, without a word
    CancelsDuringCopy,   ///< the sender does not wait for the end of a copy
    KeepsRtrs,           ///< the receiver does not cancel its RTR before it ends
    KeepsIds,            ///< of a message whose receiver waits for fragments
    UsesIdsAtOnce,       ///< and does not say that these do not come
    HidesLaterReports,   ///< reports stand in a row, and the first that is not whole ends it
    WaitsForTheDead,     ///< a copy that a dead rank began with is waited for
    ToldBeforeCancelled, ///< a rank that fails is told first
    CancelsBetweenParts, ///< a cancel looks for the other end's part, and does not close
    EndsUnasked,         ///< the end that leaves last does not look for a cancel
  };

  LocalMachine(const Scenario &scenario, Mutant mutant);

  template <typename Visit> void steps(Visit visit) const {
    for (uint8_t r = 0; r < scenario_->ranks; ++r) {
      if (s_.ranks[r].phase == Phase::Dead)
        continue;
      for (uint8_t choice = 0; choice < kChoices; ++choice) {
        LocalMachine next = *this;
        if (const char *step = next.take(r, choice))
          visit(next, step);
      }
    }
  }
  std::string violation() const { return s_.wrong ? s_.wrong : ""; }
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  static constexpr uint8_t kNone = 0xff;
  static constexpr uint8_t kParts = 2; ///< of a copy
  static constexpr uint8_t kSlots = 8;
  // What a rank may do next: die, something with each message, with each fifo, and for itself.
  static constexpr uint8_t kPerMessage = 4, kForItself = 4;
  static constexpr uint8_t kChoices = 1 + kMaxMessages * kPerMessage + kMaxRanks + kForItself;

  enum class Phase : uint8_t { Running, Reporting, Cancelling, Told, Finished, Dead };
  enum class Send : uint8_t { Idle, Asked, Cooperating, Fragmenting, Writing, Done, Cancelled };
  enum class Recv : uint8_t { Idle, Posted, Reading, Awaiting, Done, Cancelled };
  enum class Part : uint8_t { None, Claimed, Moved, Failed, LastCopied, LastClosed };
  enum class SlotKind : uint8_t { Request, Fragment, Written, Cancelled };

  struct Slot {
    SlotKind kind;
    uint8_t message, id, use;
  };
  struct Message {
    Send send;
    Recv recv;
    uint8_t id;         ///< at the sender
    uint8_t isAside;    ///< the request waits for its receive
    Slot request;       ///< as the receiver knows it
    uint8_t rtrSent;    ///< the sender may write
    uint8_t said;       ///< parts put into the fifo
    uint8_t moved;      ///< parts that are where they belong
    uint8_t movedParts; ///< Cooperative: which, a bit each
    Part parts[2];      ///< what the receiver, and the sender, do with a part
    uint8_t part[2];    ///< which
  };
  struct Rank {
    Phase phase;
  };
  struct Fifo {
    uint32_t words[kMaxMessages], parts[kMaxMessages];
    uint8_t uses[kMaxMessages];
    uint8_t isFree[kMaxMessages];
    uint8_t toCancel[kMaxMessages]; ///< of which the receiver is to be told
    uint8_t incoming[kMaxMessages]; ///< at the receiver: the message that comes
    uint8_t numSlots, unused[3];
    Slot slots[kSlots];
  };
  struct Situation {
    const char *wrong;
    Fifo fifos[kMaxRanks][kMaxRanks];
    Message messages[kMaxMessages];
    Rank ranks[kMaxRanks];
    uint8_t troubleCame;
    uint8_t report; ///< 0: none; 1: begun; 2: whole
    uint8_t death;  ///< seen
    uint8_t unused[2];
  };
  using Word = RendezvousWord;

  bool is(Mutant mutant) const { return mutant_ == mutant; }
  const MessageSpec &spec(uint8_t m) const { return scenario_->messages[m]; }
  Fifo &fifoOf(uint8_t m) { return s_.fifos[spec(m).from][spec(m).to]; }
  Word wordOf(uint8_t m, uint8_t id) { return {&fifoOf(m).words[id]}; }
  Word partsOf(uint8_t m, uint8_t id) { return {&fifoOf(m).parts[id]}; }
  // As an end of a message knows them.
  uint8_t idOf(uint8_t m, cooperative::End end) const {
    const Message &message = s_.messages[m];
    return end == cooperative::End::Receiver ? message.request.id : message.id;
  }
  uint8_t useOf(uint8_t m, cooperative::End end) {
    const Message &message = s_.messages[m];
    return end == cooperative::End::Receiver ? message.request.use : fifoOf(m).uses[message.id];
  }
  Part &partOf(uint8_t m, cooperative::End end) {
    return s_.messages[m].parts[static_cast<uint8_t>(end)];
  }
  bool isDead(uint8_t rank) const { return s_.ranks[rank].phase == Phase::Dead; }

  /// Null: that cannot be done now.
  const char *take(uint8_t rank, uint8_t choice);
  const char *copyOn(uint8_t rank, bool fails);
  const char *claimPart(uint8_t m, cooperative::End end);
  const char *copyPart(uint8_t m, cooperative::End end, bool fails);
  const char *endCooperation(uint8_t m, cooperative::End end);
  bool isCopying(uint8_t rank, uint8_t m) const;
  const char *stepOfMessage(uint8_t rank, uint8_t m, uint8_t what);
  const char *stepForItself(uint8_t rank, uint8_t what);
  const char *report(uint8_t rank);
  const char *post(uint8_t rank, uint8_t m);
  const char *pollSend(uint8_t m);
  const char *putFragment(uint8_t m);
  const char *sendCancelled(uint8_t m);
  const char *takeSlot(uint8_t from, uint8_t to);
  const char *takeRequest(uint8_t m, const Slot &slot);
  const char *answer(uint8_t m);
  const char *withdrawRtr(uint8_t m);
  const char *cancel(uint8_t rank, uint8_t m);
  const char *cancelSend(uint8_t m);
  const char *cancelRecv(uint8_t m);
  void put(uint8_t m, SlotKind kind, uint8_t use = 0);
  void reuse(uint8_t m);
  void moveBytes(uint8_t m);
  void received(uint8_t m);
  bool isOver(uint8_t rank) const;
  /// Whether the rank takes part in the message's plan.
  bool isOpen(uint8_t rank, uint8_t m) const;
  bool isCancelling(uint8_t rank, uint8_t m) const;

  const Scenario *scenario_;
  Mutant mutant_;
  Situation s_;
};

} // namespace colldsl::test
