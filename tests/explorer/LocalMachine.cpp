#include "tests/explorer/LocalMachine.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace colldsl::test {

using cooperative::End;
using rendezvous::State;

LocalMachine::LocalMachine(const Scenario &scenario, Mutant mutant)
    : scenario_(&scenario), mutant_(mutant) {
  std::memset(&s_, 0, sizeof s_);
  for (auto &row : s_.fifos)
    for (Fifo &fifo : row)
      for (uint8_t id = 0; id < kMaxMessages; ++id) {
        fifo.isFree[id] = 1;
        fifo.incoming[id] = kNone;
      }
}

// Whoever copies does nothing else.
const char *LocalMachine::take(uint8_t rank, uint8_t choice) {
  if (choice == 0 && rank == scenario_->troubled) {
    bool isReporting = s_.ranks[rank].phase == Phase::Reporting;
    if (scenario_->trouble == Trouble::Dies ||
        (scenario_->trouble == Trouble::FailsAndDies && isReporting)) {
      s_.ranks[rank].phase = Phase::Dead;
      return "a rank dies";
    }
  }
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (isCopying(rank, m))
      return choice == 1 || choice == 2 ? copyOn(rank, choice == 2) : nullptr;
  if (choice == 0)
    return nullptr;
  --choice;
  if (choice < kMaxMessages * kPerMessage) {
    uint8_t m = choice / kPerMessage;
    return m < scenario_->messages.size() ? stepOfMessage(rank, m, choice % kPerMessage) : nullptr;
  }
  choice -= kMaxMessages * kPerMessage;
  if (choice < kMaxRanks)
    return choice < scenario_->ranks && choice != rank ? takeSlot(choice, rank) : nullptr;
  return stepForItself(rank, choice - kMaxRanks);
}

bool LocalMachine::isCopying(uint8_t rank, uint8_t m) const {
  const Message &message = s_.messages[m];
  return (spec(m).to == rank &&
          (message.recv == Recv::Reading || message.parts[0] != Part::None)) ||
         (spec(m).from == rank &&
          (message.send == Send::Writing || message.parts[1] != Part::None));
}

const char *LocalMachine::stepOfMessage(uint8_t rank, uint8_t m, uint8_t what) {
  bool isSender = spec(m).from == rank, isReceiver = spec(m).to == rank;
  if (!isSender && !isReceiver)
    return nullptr;
  bool isRunning = isOpen(rank, m);
  switch (what) {
  case 0:
    return isRunning ? post(rank, m) : nullptr;
  case 1:
    if (isSender)
      return sendCancelled(m);
    if (!isRunning)
      return nullptr;
    return spec(m).way == Way::Cooperative ? claimPart(m, End::Receiver) : withdrawRtr(m);
  case 2:
    if (!isSender || !isRunning)
      return nullptr;
    return s_.messages[m].send == Send::Fragmenting ? putFragment(m) : pollSend(m);
  default:
    return isCancelling(rank, m) ? cancel(rank, m) : nullptr;
  }
}

bool LocalMachine::isOpen(uint8_t rank, uint8_t m) const {
  return spec(m).isOfSecondPlan ? s_.death == 0 : s_.ranks[rank].phase == Phase::Running;
}

bool LocalMachine::isCancelling(uint8_t rank, uint8_t m) const {
  Phase phase = s_.ranks[rank].phase;
  if (spec(m).isOfSecondPlan)
    return s_.death != 0;
  return phase == Phase::Cancelling || (is(Mutant::ToldBeforeCancelled) && phase == Phase::Told);
}

// In the first plan.
bool LocalMachine::isOver(uint8_t rank) const {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    const Message &message = s_.messages[m];
    if (spec(m).isOfSecondPlan)
      continue;
    if ((spec(m).from == rank && message.send < Send::Done) ||
        (spec(m).to == rank && message.recv < Recv::Done))
      return false;
  }
  return true;
}

const char *LocalMachine::stepForItself(uint8_t rank, uint8_t what) {
  Phase &phase = s_.ranks[rank].phase;
  switch (what) {
  case 0: // only once
    if ((scenario_->trouble != Trouble::Fails && scenario_->trouble != Trouble::FailsAndDies) ||
        rank != scenario_->troubled || s_.troubleCame != 0 || phase != Phase::Running)
      return nullptr;
    s_.troubleCame = 1;
    phase = Phase::Reporting;
    return "a rank fails";
  case 1:
    return phase == Phase::Reporting ? report(rank) : nullptr;
  case 2: {
    bool isAnyDead = std::any_of(s_.ranks, s_.ranks + scenario_->ranks,
                                 [](const Rank &r) { return r.phase == Phase::Dead; });
    if (isAnyDead && s_.death == 0) {
      s_.death = 1;
      return "a death is reported";
    }
    bool isHidden = is(Mutant::HidesLaterReports) && s_.report == 1;
    if (phase != Phase::Running || isHidden || (s_.report != 2 && s_.death == 0))
      return nullptr;
    phase = Phase::Cancelling;
    return "a rank sees that another one failed";
  }
  default:
    if (phase == Phase::Running && isOver(rank))
      phase = Phase::Finished;
    else if (phase == Phase::Cancelling && (isOver(rank) || is(Mutant::ToldBeforeCancelled)))
      phase = Phase::Told;
    else
      return nullptr;
    return "a rank is told that its run is over";
  }
}

// A rank may die between the two steps: another rank dies of the same trouble then.
const char *LocalMachine::report(uint8_t rank) {
  if (s_.report < 2 && ++s_.report == 1)
    return "a rank begins to report";
  s_.ranks[rank].phase = Phase::Cancelling;
  return "a rank has reported";
}

const char *LocalMachine::post(uint8_t rank, uint8_t m) {
  Message &message = s_.messages[m];
  if (spec(m).to == rank) {
    if (message.recv != Recv::Idle)
      return nullptr;
    message.recv = Recv::Posted;
    if (message.isAside == 0)
      return "a receive is posted";
    message.isAside = 0;
    return answer(m);
  }
  if (message.send != Send::Idle)
    return nullptr;
  Fifo &fifo = fifoOf(m);
  uint8_t *free = std::find(fifo.isFree, fifo.isFree + kMaxMessages, 1);
  if (free == fifo.isFree + kMaxMessages) {
    s_.wrong = "no id is left";
    return "a send is posted";
  }
  *free = 0;
  message.id = static_cast<uint8_t>(free - fifo.isFree);
  message.send = Send::Asked;
  put(m, SlotKind::Request, fifo.uses[message.id]);
  return "a send is posted";
}

void LocalMachine::put(uint8_t m, SlotKind kind, uint8_t use) {
  Fifo &fifo = fifoOf(m);
  if (fifo.numSlots == kSlots) {
    s_.wrong = "the model's fifo is too short";
    return;
  }
  fifo.slots[fifo.numSlots++] = {kind, m, s_.messages[m].id, use};
}

void LocalMachine::reuse(uint8_t m) {
  Fifo &fifo = fifoOf(m);
  uint8_t id = s_.messages[m].id;
  Word word = wordOf(m, id);
  rendezvous::beginUse(word, ++fifo.uses[id]);
  fifo.isFree[id] = 1;
  s_.messages[m].send = Send::Done;
}

const char *LocalMachine::pollSend(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.send == Send::Cooperating) {
    if (const char *step = claimPart(m, End::Sender))
      return step;
    message.send = Send::Asked;
    return "a sender finds no part to copy";
  }
  if (message.send != Send::Asked)
    return nullptr;
  Word word = wordOf(m, message.id);
  uint32_t use = fifoOf(m).uses[message.id], state = *word.value;
  if (state == rendezvous::wordOf(use, State::Done)) {
    reuse(m);
    return "a sender sees that its message has moved";
  }
  if (state == rendezvous::wordOf(use, State::Cooperating)) {
    message.send = Send::Cooperating;
    return "a sender sees that both ends copy";
  }
  if (state == rendezvous::wordOf(use, State::Fragments)) {
    message.send = Send::Fragmenting;
    message.moved = 0;
    return "a sender sees that fragments are wanted";
  }
  if (state != rendezvous::wordOf(use, State::RtrSent) || !rendezvous::claimWrite(word, use))
    return nullptr;
  message.send = Send::Writing;
  return "a sender begins to write";
}

const char *LocalMachine::putFragment(uint8_t m) {
  Message &message = s_.messages[m];
  put(m, SlotKind::Fragment);
  if (++message.said == kParts)
    reuse(m);
  return "a sender puts a fragment";
}

// Bytes move from the sender's memory to the receiver's.
void LocalMachine::moveBytes(uint8_t m) {
  Message &message = s_.messages[m];
  auto isTold = [&](uint8_t rank) {
    return !spec(m).isOfSecondPlan && s_.ranks[rank].phase == Phase::Told;
  };
  bool isSenderTold = message.send >= Send::Done || isTold(spec(m).from);
  bool isReceiverTold = message.recv >= Recv::Done || isTold(spec(m).to);
  if (isSenderTold && !isDead(spec(m).from))
    s_.wrong = "bytes move out of memory whose owner was told that the message ended";
  else if (isReceiverTold && !isDead(spec(m).to))
    s_.wrong = "bytes move into memory whose owner was told that the message ended";
  ++message.moved;
}

void LocalMachine::received(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.moved != kParts)
    s_.wrong = "a receive ends without its bytes";
  message.recv = Recv::Done;
}

const char *LocalMachine::claimPart(uint8_t m, End end) {
  Message &message = s_.messages[m];
  if (end == End::Receiver && message.recv != Recv::Awaiting)
    return nullptr;
  Word parts = partsOf(m, idOf(m, end));
  std::optional<cooperative::Claim> claim = cooperative::claim(parts, end, kParts);
  if (!claim)
    return nullptr;
  message.part[static_cast<uint8_t>(end)] = static_cast<uint8_t>(claim->first);
  partOf(m, end) = Part::Claimed;
  return end == End::Receiver ? "a receiver claims a part" : "a sender claims a part";
}

const char *LocalMachine::copyPart(uint8_t m, End end, bool fails) {
  Message &message = s_.messages[m];
  Part &part = partOf(m, end);
  if (part == Part::Claimed && fails) {
    part = Part::Failed;
    return "a part cannot be copied";
  }
  if (part == Part::Claimed) {
    auto bit = static_cast<uint8_t>(1u << message.part[static_cast<uint8_t>(end)]);
    if ((message.movedParts & bit) != 0)
      s_.wrong = "a part is copied twice";
    message.movedParts |= bit;
    moveBytes(m);
    part = Part::Moved;
    return "a part is copied";
  }
  if (part == Part::LastCopied || part == Part::LastClosed)
    return endCooperation(m, end);
  Word parts = partsOf(m, idOf(m, end));
  cooperative::Outcome outcome = cooperative::leave(parts, end, kParts, part == Part::Moved);
  part = outcome == cooperative::Outcome::Pending  ? Part::None
         : outcome == cooperative::Outcome::Copied ? Part::LastCopied
                                                   : Part::LastClosed;
  return "a part is left";
}

const char *LocalMachine::endCooperation(uint8_t m, End end) {
  Message &message = s_.messages[m];
  Word word = wordOf(m, idOf(m, end));
  uint8_t use = useOf(m, end);
  message.send = end == End::Sender ? Send::Asked : message.send;
  bool isCopied = std::exchange(partOf(m, end), Part::None) == Part::LastCopied, isEnded = true;
  if (is(Mutant::EndsUnasked))
    rendezvous::leave(word, use, isCopied ? State::Done : State::Fragments);
  else
    isEnded = rendezvous::endCooperation(
        word, use, isCopied ? cooperative::Outcome::Copied : cooperative::Outcome::Closed);
  if (end == End::Receiver && isCopied) {
    fifoOf(m).incoming[message.request.id] = kNone;
    received(m);
  } else if (end == End::Sender && isCopied && isEnded) {
    put(m, SlotKind::Written);
    reuse(m);
  }
  return "a cooperation ends";
}

const char *LocalMachine::copyOn(uint8_t rank, bool fails) {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    Message &message = s_.messages[m];
    for (End end : {End::Receiver, End::Sender}) {
      uint8_t self = end == End::Receiver ? spec(m).to : spec(m).from;
      if (self == rank && partOf(m, end) != Part::None)
        return fails && partOf(m, end) != Part::Claimed ? nullptr : copyPart(m, end, fails);
    }
    if (fails)
      continue;
    bool reads = spec(m).to == rank && message.recv == Recv::Reading;
    bool writes = spec(m).from == rank && message.send == Send::Writing;
    if (!reads && !writes)
      continue;
    if (message.moved < kParts) {
      moveBytes(m);
      return reads ? "a receiver reads a part" : "a sender writes a part";
    }
    Word word = wordOf(m, reads ? message.request.id : message.id);
    rendezvous::leave(word, reads ? message.request.use : fifoOf(m).uses[message.id], State::Done);
    if (reads) {
      received(m);
      return "a receiver has read";
    }
    put(m, SlotKind::Written);
    reuse(m);
    return "a sender has written";
  }
  return nullptr;
}

const char *LocalMachine::takeSlot(uint8_t from, uint8_t to) {
  Fifo &fifo = s_.fifos[from][to];
  if (fifo.numSlots == 0)
    return nullptr;
  Slot slot = fifo.slots[0];
  std::copy(fifo.slots + 1, fifo.slots + fifo.numSlots, fifo.slots);
  fifo.slots[--fifo.numSlots] = {};
  if (slot.kind == SlotKind::Request)
    return takeRequest(slot.message, slot);
  uint8_t m = fifo.incoming[slot.id];
  if (m == kNone)
    return "a slot of a receive that was cancelled is thrown away";
  Message &message = s_.messages[m];
  message.rtrSent = 0;
  switch (slot.kind) {
  case SlotKind::Fragment:
    if (slot.message != m)
      s_.wrong = "a fragment of one message is taken for that of another one";
    ++message.moved;
    if (message.moved < kParts)
      return "a receiver takes a fragment";
    break;
  case SlotKind::Written:
    break;
  case SlotKind::Cancelled:
    fifo.incoming[slot.id] = kNone;
    message.recv = Recv::Posted;
    return "a receiver takes the cancel of a sender";
  case SlotKind::Request:
    break;
  }
  fifo.incoming[slot.id] = kNone;
  received(m);
  return "a receiver has all";
}

const char *LocalMachine::takeRequest(uint8_t m, const Slot &slot) {
  Message &message = s_.messages[m];
  message.request = slot;
  if (message.recv == Recv::Posted)
    return answer(m);
  if (message.recv == Recv::Idle && isOpen(spec(m).to, m)) {
    message.isAside = 1;
    return "a request is set aside";
  }
  Word word = wordOf(m, slot.id);
  if (is(Mutant::CopiesWithoutClaim))
    rendezvous::leave(word, slot.use, State::Done);
  else
    rendezvous::refuse(word, slot.use);
  return "an RTS is refused";
}

const char *LocalMachine::answer(uint8_t m) {
  Message &message = s_.messages[m];
  uint8_t id = message.request.id, use = message.request.use;
  Word word = wordOf(m, id);
  if (!is(Mutant::CopiesWithoutClaim) && !rendezvous::claim(word, use))
    return "a receiver finds a request cancelled";
  if (spec(m).way == Way::Read) {
    message.recv = Recv::Reading;
    return "a receiver begins to read";
  }
  bool sendsRtr = spec(m).way == Way::Written;
  message.recv = Recv::Awaiting;
  if (spec(m).way == Way::Cooperative) {
    message.moved = message.movedParts = 0;
    fifoOf(m).incoming[id] = m;
    Word parts = partsOf(m, id);
    cooperative::begin(parts);
    rendezvous::leave(word, use, State::Cooperating);
    return "a receiver begins a cooperation";
  }
  message.rtrSent = sendsRtr;
  fifoOf(m).incoming[id] = m;
  rendezvous::leave(word, use, sendsRtr ? State::RtrSent : State::Fragments);
  return sendsRtr ? "a receiver sends an RTR" : "a receiver wants fragments";
}

const char *LocalMachine::withdrawRtr(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.recv != Recv::Awaiting || message.rtrSent == 0)
    return nullptr;
  Word word = wordOf(m, message.request.id);
  if (!rendezvous::withdrawRtr(word, message.request.use))
    return nullptr;
  message.rtrSent = 0;
  fifoOf(m).incoming[message.request.id] = kNone;
  message.recv = Recv::Reading;
  return "a receiver withdraws its RTR";
}

const char *LocalMachine::cancel(uint8_t rank, uint8_t m) {
  return spec(m).from == rank ? cancelSend(m) : cancelRecv(m);
}

const char *LocalMachine::cancelSend(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.send >= Send::Done)
    return nullptr;
  bool isAsked = message.send != Send::Idle, isFragmenting = message.send == Send::Fragmenting;
  message.send = Send::Cancelled;
  if (!isAsked)
    return "a send is cancelled";
  Fifo &fifo = fifoOf(m);
  Word word = wordOf(m, message.id);
  uint8_t &use = fifo.uses[message.id];
  if (is(Mutant::CopiesWithoutClaim)) {
    if (!isFragmenting)
      fifo.toCancel[message.id] = 2; // owed until the receiver answers
    return "a send is cancelled without a word";
  }
  bool mayWait = !is(Mutant::CancelsDuringCopy) &&
                 (!isDead(spec(m).to) || s_.death == 0 || is(Mutant::WaitsForTheDead));
  Word parts = partsOf(m, message.id);
  uint32_t closing = *parts.value;
  if (is(Mutant::CancelsBetweenParts))
    parts.value = &closing;
  switch (rendezvous::cancel(word, parts, use)) {
  case rendezvous::Cancelled::NotYet:
    if (mayWait) {
      message.send = isFragmenting ? Send::Fragmenting : Send::Asked;
      return nullptr;
    }
    return "a send is cancelled in the middle of a copy";
  case rendezvous::Cancelled::Awaited:
    ++use;
    if (is(Mutant::KeepsIds))
      break;
    (is(Mutant::UsesIdsAtOnce) ? fifo.isFree : fifo.toCancel)[message.id] = 1;
    break;
  case rendezvous::Cancelled::Unnoticed:
    ++use;
    fifo.isFree[message.id] = 1;
    break;
  }
  return "a send is cancelled";
}

// Also of a rank that was told long ago.
const char *LocalMachine::sendCancelled(uint8_t m) {
  Message &message = s_.messages[m];
  Fifo &fifo = fifoOf(m);
  if (message.send != Send::Cancelled || fifo.toCancel[message.id] == 0)
    return nullptr;
  if (fifo.toCancel[message.id] == 2) {
    uint32_t done = rendezvous::wordOf(fifo.uses[message.id], State::Done);
    if (fifo.words[message.id] != done)
      return nullptr;
    fifo.words[message.id] = rendezvous::wordOf(++fifo.uses[message.id], State::Requested);
  } else {
    put(m, SlotKind::Cancelled);
  }
  fifo.toCancel[message.id] = 0;
  fifo.isFree[message.id] = 1;
  return "an id may be used again";
}

const char *LocalMachine::cancelRecv(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.recv >= Recv::Done)
    return nullptr;
  Word word = wordOf(m, message.request.id);
  if (message.rtrSent != 0 && !is(Mutant::KeepsRtrs)) {
    bool mayWait = !isDead(spec(m).from) || s_.death == 0;
    if (!rendezvous::cancelRtr(word, message.request.use) && mayWait)
      return nullptr;
  }
  if (message.recv == Recv::Awaiting && spec(m).way == Way::Cooperative) {
    bool mayWait = !isDead(spec(m).from) || s_.death == 0;
    Word parts = partsOf(m, message.request.id);
    if (!rendezvous::cancelCooperation(word, parts, message.request.use) && mayWait)
      return nullptr;
  }
  if (message.recv == Recv::Awaiting)
    fifoOf(m).incoming[message.request.id] = kNone;
  if (message.isAside != 0)
    rendezvous::refuse(word, message.request.use);
  message.isAside = message.rtrSent = 0;
  message.recv = Recv::Cancelled;
  return "a receive is cancelled";
}

std::string LocalMachine::unfinished() const {
  for (uint8_t r = 0; r < scenario_->ranks; ++r)
    if (s_.ranks[r].phase < Phase::Told)
      return "rank " + std::to_string(r) + " waits for good";
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if ((s_.messages[m].send < Send::Done && !isDead(spec(m).from)) ||
        (s_.messages[m].recv < Recv::Done && !isDead(spec(m).to)))
      return "a message has no end";
  for (uint8_t from = 0; from < scenario_->ranks; ++from)
    for (uint8_t to = 0; to < scenario_->ranks; ++to) {
      const Fifo &fifo = s_.fifos[from][to];
      if (isDead(from) || isDead(to))
        continue;
      if (fifo.numSlots != 0)
        return "slots are left";
      for (uint8_t id = 0; id < kMaxMessages; ++id)
        if (fifo.isFree[id] == 0 ||
            fifo.words[id] != rendezvous::wordOf(fifo.uses[id], State::Requested))
          return "an id is not used again";
        else if (fifo.incoming[id] != kNone)
          return "an id is left at a receiver";
    }
  return "";
}

} // namespace colldsl::test
