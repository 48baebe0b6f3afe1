#include "tests/explorer/NetworkMachine.h"

#include <algorithm>
#include <cstring>

namespace colldsl::test {

NetworkMachine::NetworkMachine(const Scenario &scenario, Mutant mutant)
    : scenario_(&scenario), mutant_(mutant) {
  std::memset(&s_, 0, sizeof s_);
  for (uint8_t r = 0; r < kMostRanks; ++r)
    for (uint8_t plan = 0; plan < kPlans; ++plan)
      if (!takesPart(r, plan))
        s_.ranks[r].phases[plan] = Phase::Closed;
}

const char *NetworkMachine::take(uint8_t rank, uint8_t choice) {
  if (isDead(rank))
    return nullptr;
  if (choice < kMostMessages * kPerMessage) {
    uint8_t m = choice / kPerMessage;
    return m < scenario_->messages.size() ? stepOfMessage(rank, m, choice % kPerMessage) : nullptr;
  }
  choice -= kMostMessages * kPerMessage;
  if (choice < kMostRanks * kPerRank) {
    uint8_t peer = choice / kPerRank;
    return peer < scenario_->ranks && peer != rank ? stepWithPeer(rank, peer, choice % kPerRank)
                                                   : nullptr;
  }
  choice -= kMostRanks * kPerRank;
  if (choice < kPlans * kPerPlan)
    return stepOfPlan(rank, choice / kPerPlan, choice % kPerPlan);
  return die(rank);
}

// Frames that change nothing, or say that a peer moves nothing any more; that bytes have been
// written; the end of a plan, for memory that is given back later is in less danger. A rank that
// may die may do so before it says something.
const char *NetworkMachine::takeAtOnce(uint8_t rank) {
  if (isDead(rank))
    return nullptr;
  for (uint8_t from = 0; from < scenario_->ranks; ++from)
    if (from != rank && mayTakeAtOnce(rank, from))
      return takeFrame(rank, from);
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (spec(m).from == rank)
      if (const char *step = seeMoved(rank, m))
        return step;
  bool mayDie = rank == scenario_->troubled && scenario_->trouble >= Trouble::FailsAndDies;
  for (uint8_t plan = 0; plan < kPlans; ++plan) {
    Phase phase = s_.ranks[rank].phases[plan];
    const char *step = phase == Phase::Waiting                 ? leave(rank, plan)
                       : phase == Phase::Cancelling && !mayDie ? close(rank, plan)
                                                               : nullptr;
    if (step)
      return step;
  }
  return nullptr;
}

bool NetworkMachine::mayTakeAtOnce(uint8_t rank, uint8_t from) const {
  const Wire &wire = s_.wires[from][rank];
  if (wire.numFrames == 0)
    return false;
  Kind kind = wire.frames[0].kind;
  if (kind == Kind::Drained || kind == Kind::Closed)
    return true;
  NetworkMachine next = *this;
  next.takeFrame(rank, from);
  next.s_.wires[from][rank] = wire;
  return next.bytes() == bytes();
}

const char *NetworkMachine::stepOfMessage(uint8_t rank, uint8_t m, uint8_t what) {
  bool sends = spec(m).from == rank;
  if (!sends && spec(m).to != rank)
    return nullptr;
  switch (what) {
  case 0:
    return phaseOf(rank, m) == Phase::Running ? post(rank, m) : nullptr;
  case 1:
    return sends ? stream(m) : read(m);
  case 2:
    return movePart(rank, m);
  case 3:
    return seeMoved(rank, m);
  default:
    return sends ? nullptr : seeWritten(m);
  }
}

const char *NetworkMachine::stepWithPeer(uint8_t rank, uint8_t peer, uint8_t what) {
  switch (what) {
  case 0:
    return takeFrame(rank, peer);
  case 1:
    return loseIt(rank, peer);
  default:
    for (uint8_t plan = 0; plan < kPlans; ++plan) {
      Phase phase = s_.ranks[rank].phases[plan];
      uint8_t &told = s_.ranks[rank].told[plan];
      if (phase != Phase::Failed || !arePeers(rank, peer, plan) || (told >> peer & 1) ||
          isMoving(rank, peer, plan))
        continue;
      told |= 1 << peer;
      send(rank, peer, Kind::Drained, plan);
      return "a rank that failed says that it moves nothing any more";
    }
    return nullptr;
  }
}

const char *NetworkMachine::stepOfPlan(uint8_t rank, uint8_t plan, uint8_t what) {
  Rank &own = s_.ranks[rank];
  Phase &phase = own.phases[plan];
  switch (what) {
  case 0:
    if (plan == 0)
      return failHere(rank);
    return nullptr;
  case 1:
    if (phase != Phase::Failed && (phase != Phase::Running || !isOver(rank, plan)))
      return nullptr;
    phase = Phase::Cancelling;
    return "a rank cancels a plan";
  case 2:
    return phase == Phase::Cancelling ? close(rank, plan) : nullptr;
  default:
    return phase == Phase::Waiting ? leave(rank, plan) : nullptr;
  }
}

// A dead rank's reads and writes end with it.
const char *NetworkMachine::die(uint8_t rank) {
  bool mayDie = scenario_->trouble == Trouble::Dies ||
                (scenario_->trouble == Trouble::FailsAndDies && s_.troubleCame != 0);
  if (rank != scenario_->troubled || !mayDie)
    return nullptr;
  s_.ranks[rank].isDead = 1;
  return "a rank dies";
}

bool NetworkMachine::takesPart(uint8_t rank, uint8_t plan) const {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (planOf(m) == plan && (spec(m).from == rank || spec(m).to == rank))
      return true;
  return false;
}

bool NetworkMachine::arePeers(uint8_t a, uint8_t b, uint8_t plan) const {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (planOf(m) == plan &&
        ((spec(m).from == a && spec(m).to == b) || (spec(m).from == b && spec(m).to == a)))
      return true;
  return false;
}

bool NetworkMachine::isMoving(uint8_t rank, uint8_t peer, uint8_t plan) const {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    const Message &message = s_.messages[m];
    bool reads = spec(m).to == rank && spec(m).from == peer && message.recv == Recv::Reading;
    bool writes = spec(m).from == rank && spec(m).to == peer && message.send == Send::Writing;
    if (planOf(m) == plan && (reads || writes) && !isLost(rank, peer))
      return true;
  }
  return false;
}

bool NetworkMachine::isOver(uint8_t rank, uint8_t plan) const {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (planOf(m) == plan && ((spec(m).from == rank && s_.messages[m].send != Send::Done) ||
                              (spec(m).to == rank && s_.messages[m].recv != Recv::Done)))
      return false;
  return true;
}

bool NetworkMachine::isGivenBack(uint8_t rank, uint8_t m) const {
  const Message &message = s_.messages[m];
  return phaseOf(rank, m) == Phase::Closed ||
         (spec(m).from == rank ? message.send == Send::Done : message.recv == Recv::Done);
}

void NetworkMachine::send(uint8_t from, uint8_t to, Kind kind, uint8_t subject) {
  Wire &wire = s_.wires[from][to];
  if (isLost(from, to))
    return;
  if (wire.numFrames == kFrames)
    s_.wrong = "the model's wire is too short";
  else
    wire.frames[wire.numFrames++] = {kind, subject};
}

// A rank that knows it, or has closed the plan, has told the others.
void NetworkMachine::fail(uint8_t rank, uint8_t plan) {
  bool isNew = false;
  for (uint8_t p = 0; p < kPlans; ++p)
    if (Phase &phase = s_.ranks[rank].phases[p];
        (p == plan || plan == kEveryPlan) && phase == Phase::Running) {
      phase = Phase::Failed;
      isNew = true;
    }
  for (uint8_t peer = 0; isNew && peer < scenario_->ranks; ++peer)
    if (peer != rank && (takesPart(peer, 0) || takesPart(peer, 1)))
      send(rank, peer, Kind::Failed, plan);
}

const char *NetworkMachine::failHere(uint8_t rank) {
  bool fails = scenario_->trouble == Trouble::Fails || scenario_->trouble == Trouble::FailsAndDies;
  if (!fails || rank != scenario_->troubled || s_.troubleCame != 0 ||
      s_.ranks[rank].phases[0] != Phase::Running)
    return nullptr;
  s_.troubleCame = 1;
  fail(rank, 0);
  return "a rank fails";
}

// What the dead one had said before is taken first.
const char *NetworkMachine::loseIt(uint8_t rank, uint8_t peer) {
  if (!isDead(peer) || isLost(rank, peer) || s_.wires[peer][rank].numFrames != 0)
    return nullptr;
  s_.ranks[rank].lost |= 1 << peer;
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (spec(m).from == rank && spec(m).to == peer)
      s_.messages[m].isKept = 0;
  fail(rank, kEveryPlan);
  return "a rank sees that another one died";
}

const char *NetworkMachine::takeFrame(uint8_t rank, uint8_t from) {
  Wire &wire = s_.wires[from][rank];
  if (wire.numFrames == 0)
    return nullptr;
  Frame frame = wire.frames[0];
  std::copy(wire.frames + 1, wire.frames + wire.numFrames, wire.frames);
  wire.frames[--wire.numFrames] = {};
  switch (frame.kind) {
  case Kind::Failed:
  case Kind::Drained:
  case Kind::Closed:
    return takeOfPlan(rank, from, frame);
  case Kind::Read:
    s_.messages[frame.subject].mayBeRead = 0;
    if (s_.messages[frame.subject].send == Send::Asked)
      s_.messages[frame.subject].send = Send::Done;
    return "a sender hears that its message was read";
  case Kind::Request:
  case Kind::Place:
  case Kind::Unasked:
  case Kind::Fragment:
    return phaseOf(rank, frame.subject) < Phase::Cancelling ? takeOfMessage(frame)
                                                            : "a frame of a closed plan is dropped";
  }
  return nullptr;
}

const char *NetworkMachine::takeOfPlan(uint8_t rank, uint8_t from, Frame frame) {
  if (frame.kind == Kind::Failed) {
    fail(rank, frame.subject);
    if (is(Mutant::FailureEndsWrites) && frame.subject != kEveryPlan)
      s_.ranks[rank].drained[frame.subject] |= 1 << from;
    return "a rank hears of a failure";
  }
  s_.ranks[rank].drained[frame.subject] |= 1 << from;
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if (planOf(m) == frame.subject && spec(m).from == rank && spec(m).to == from &&
        !is(Mutant::KeepsForGood))
      s_.messages[m].isKept = 0;
  return frame.kind == Kind::Closed ? "a rank hears that a plan was closed"
                                    : "a rank hears that another one moves nothing any more";
}

const char *NetworkMachine::takeOfMessage(Frame frame) {
  uint8_t m = frame.subject;
  Message &message = s_.messages[m];
  switch (frame.kind) {
  case Kind::Request:
    if (message.recv == Recv::Idle) {
      message.isAside = 1;
      return "a request is set aside";
    }
    return message.recv == Recv::Posted ? decide(m) : "a request finds its announcement on its way";
  case Kind::Unasked:
    message.isPlaced = 1;
    if (message.send != Send::Asked)
      return "a sender hears where a message is wanted";
    message.mayBeRead = 0;
    return write(m);
  case Kind::Place:
    if (message.send != Send::Asked)
      return "an answer comes too late";
    message.mayBeRead = 0;
    if (spec(m).way != Way::Fragments)
      return write(m);
    message.send = Send::Streaming;
    return "a sender hears that fragments are wanted";
  case Kind::Fragment:
    return takePart(m);
  default:
    return nullptr;
  }
}

const char *NetworkMachine::takePart(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.recv != Recv::Streaming)
    return "a fragment is dropped";
  if (++message.moved == kParts)
    message.recv = Recv::Done;
  return "a receiver takes a fragment";
}

const char *NetworkMachine::post(uint8_t rank, uint8_t m) {
  Message &message = s_.messages[m];
  if (spec(m).to == rank) {
    if (message.recv != Recv::Idle)
      return nullptr;
    message.recv = Recv::Posted;
    if (message.isAside != 0) {
      message.isAside = 0;
      return decide(m);
    }
    if (spec(m).way == Way::Announced)
      announce(m, Kind::Unasked);
    return "a receive is posted";
  }
  if (message.send != Send::Idle)
    return nullptr;
  message.send = Send::Asked;
  if (message.isPlaced != 0)
    return write(m);
  message.mayBeRead = spec(m).way != Way::Fragments;
  send(rank, spec(m).to, Kind::Request, m);
  return "a send is posted";
}

const char *NetworkMachine::decide(uint8_t m) {
  Message &message = s_.messages[m];
  switch (spec(m).way) {
  case Way::Read:
    message.recv = Recv::ToRead;
    return "a receiver is to read";
  case Way::Fragments:
    message.recv = Recv::Streaming;
    send(spec(m).to, spec(m).from, Kind::Place, m);
    return "a receiver wants fragments";
  case Way::Written:
  case Way::Announced:
    announce(m, Kind::Place);
    return "a receiver says where it wants the bytes";
  }
  return nullptr;
}

void NetworkMachine::announce(uint8_t m, Kind kind) {
  s_.messages[m].recv = Recv::Announced;
  s_.messages[m].mayBeWritten = 1;
  send(spec(m).to, spec(m).from, kind, m);
}

const char *NetworkMachine::write(uint8_t m) {
  if (!mayMove(spec(m).from, m))
    return "a sender writes nothing of a plan that failed";
  s_.messages[m].send = Send::Writing;
  return "a sender begins to write";
}

const char *NetworkMachine::stream(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.send != Send::Streaming || phaseOf(spec(m).from, m) >= Phase::Cancelling)
    return nullptr;
  send(spec(m).from, spec(m).to, Kind::Fragment, m);
  if (++message.said == kParts)
    message.send = Send::Done;
  return "a sender sends a fragment";
}

// The receiver takes all that has arrived, and then begins; more may arrive in between.
const char *NetworkMachine::read(uint8_t m) {
  Message &message = s_.messages[m];
  uint8_t to = spec(m).to;
  if (phaseOf(to, m) >= Phase::Cancelling || !mayMove(to, m))
    return nullptr;
  if (message.recv == Recv::ToRead && s_.wires[spec(m).from][to].numFrames == 0) {
    message.recv = Recv::Looked;
    return "a receiver has taken all that arrived";
  }
  if (message.recv != Recv::Looked)
    return nullptr;
  message.recv = Recv::Reading;
  return "a receiver begins to read";
}

// Done by the network: nobody else need do anything.
const char *NetworkMachine::movePart(uint8_t rank, uint8_t m) {
  Message &message = s_.messages[m];
  bool reads = spec(m).to == rank;
  uint8_t peer = reads ? spec(m).from : spec(m).to;
  if (isDead(peer) || message.moved == kParts ||
      (reads ? message.recv != Recv::Reading : message.send != Send::Writing))
    return nullptr;
  bool isRegistered =
      reads ? message.mayBeRead != 0 || message.isKept != 0 : message.mayBeWritten != 0;
  if (!reads && isGivenBack(peer, m))
    s_.wrong = "bytes move into memory whose owner was told that the message ended";
  else if (!isRegistered)
    s_.wrong = "a rank that lives is lost: its memory is not registered";
  message.isStale |= reads && isGivenBack(peer, m);
  message.isWritten = ++message.moved == kParts && !reads;
  return reads ? "a receiver reads a part" : "a sender writes a part";
}

// Frames that arrived before are taken first.
const char *NetworkMachine::seeMoved(uint8_t rank, uint8_t m) {
  Message &message = s_.messages[m];
  bool reads = spec(m).to == rank;
  if (message.moved != kParts)
    return nullptr;
  if (!reads) {
    if (message.send != Send::Writing)
      return nullptr;
    message.send = Send::Done;
    return "a sender sees that it has written";
  }
  if (message.recv != Recv::Reading || s_.wires[spec(m).from][rank].numFrames != 0)
    return nullptr;
  if (phaseOf(rank, m) != Phase::Running && !is(Mutant::EndsAfterFailure)) {
    message.recv = Recv::Cancelled;
    return "what was read of a plan that failed is not received";
  }
  if (message.isStale != 0)
    s_.wrong = "bytes are received of memory whose owner was told that the message ended";
  message.recv = Recv::Done;
  send(rank, spec(m).from, Kind::Read, m);
  return "a receiver has read";
}

const char *NetworkMachine::seeWritten(uint8_t m) {
  Message &message = s_.messages[m];
  if (message.isWritten == 0)
    return nullptr;
  message.isWritten = 0;
  if (message.mayBeWritten == 0)
    return "what was written is not waited for";
  message.mayBeWritten = 0;
  message.recv = Recv::Done;
  return "a receiver sees that its message was written";
}

// Its own reads and writes have ended.
const char *NetworkMachine::close(uint8_t rank, uint8_t plan) {
  for (uint8_t peer = 0; peer < scenario_->ranks; ++peer)
    if (isMoving(rank, peer, plan) && !is(Mutant::ClosesBeforeItHasMoved))
      return nullptr;
  s_.ranks[rank].phases[plan] = Phase::Waiting;
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    Message &message = s_.messages[m];
    bool isBusy = isMoving(rank, spec(m).from == rank ? spec(m).to : spec(m).from, plan);
    if (planOf(m) != plan || isBusy)
      continue;
    if (spec(m).from == rank && message.send != Send::Done)
      message.send = Send::Cancelled;
    if (spec(m).to == rank && message.recv != Recv::Done)
      message.recv = Recv::Cancelled;
  }
  for (uint8_t peer = 0; peer < scenario_->ranks; ++peer)
    if (peer != rank && arePeers(rank, peer, plan))
      send(rank, peer, Kind::Closed, plan);
  return "a rank says that it closed a plan";
}

// Memory that may be read stays registered, though this rank uses it again: what it said has
// arrived, so that whatever is read now is not received.
const char *NetworkMachine::leave(uint8_t rank, uint8_t plan) {
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    const Message &message = s_.messages[m];
    if (planOf(m) != plan)
      continue;
    bool isAwaited =
        spec(m).to == rank && message.mayBeWritten != 0 && !areDrained(rank, spec(m).from, plan);
    if (isAwaited && !is(Mutant::ForgetsWriters))
      return nullptr;
  }
  s_.ranks[rank].phases[plan] = Phase::Closed;
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    Message &message = s_.messages[m];
    if (planOf(m) != plan)
      continue;
    if (spec(m).to == rank)
      message.mayBeWritten = 0;
    if (spec(m).from == rank && message.mayBeRead != 0) {
      message.mayBeRead = 0;
      message.isKept = !areDrained(rank, spec(m).to, plan) && !is(Mutant::DeregistersUnread);
    }
  }
  return "a rank has closed a plan";
}

std::string NetworkMachine::unfinished() const {
  bool isAnyDead = false;
  for (uint8_t r = 0; r < scenario_->ranks; ++r)
    isAnyDead |= isDead(r);
  for (uint8_t r = 0; r < scenario_->ranks; ++r)
    for (Phase phase : s_.ranks[r].phases)
      if (phase != Phase::Closed && !isDead(r))
        return "rank " + std::to_string(r) + " waits for good";
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m) {
    const Message &message = s_.messages[m];
    bool isDone = message.send == Send::Done && message.recv == Recv::Done;
    if (spec(m).isOfSecondPlan && !isDone && !isAnyDead)
      return "a message of the other plan has no end";
    if (message.isKept != 0 && !isDead(spec(m).from))
      return "memory stays registered";
  }
  for (uint8_t from = 0; from < scenario_->ranks; ++from)
    for (uint8_t to = 0; to < scenario_->ranks; ++to)
      if (s_.wires[from][to].numFrames != 0 && !isDead(from) && !isDead(to))
        return "frames are left";
  return "";
}

} // namespace colldsl::test
