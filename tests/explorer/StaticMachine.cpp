#include "tests/explorer/StaticMachine.h"

#include "transports/Rendezvous.h"

namespace colldsl::test {

using rendezvous::State;
using rendezvous::wordOf;

// A rank learns by other means that its peer has cancelled, or is dead.
std::string StaticMachine::unfinished() const {
  if (s_.recv == Recv::Cancel || s_.send == Send::Cancel)
    return "a cancel never ends";
  bool hasLeft = s_.send == Send::Dead || s_.send == Send::Cancelled;
  bool isGone = s_.recv == Recv::Dead || s_.recv == Recv::Cancelled;
  if (s_.recv != Recv::Done && !isGone && !hasLeft)
    return "a message never comes";
  return s_.send == Send::Done || hasLeft || isGone ? "" : "a send never ends";
}

const char *StaticMachine::receive() {
  bool isLate = is(StaticMutant::CanaryBehindRtr);
  switch (s_.recv) {
  case Recv::Begin:
    s_.recv = !scenario_.isPut                 ? Recv::Poll
              : scenario_.hasCanary && !isLate ? Recv::WriteCanary
                                               : Recv::SendRtr;
    return "the receive is posted";
  case Recv::WriteCanary:
    s_.memory[kLast] = kCanary;
    s_.endsInCanary = 0;
    s_.recv = isLate ? Recv::Poll : Recv::SendRtr;
    return "the receiver writes the canary";
  case Recv::SendRtr: {
    RendezvousWord at = word();
    rendezvous::leave(at, recvRun(), State::RtrSent);
    s_.recv = scenario_.hasCanary && isLate ? Recv::WriteCanary : Recv::Poll;
    return "the receiver sends the RTR";
  }
  case Recv::Poll:
    return poll();
  case Recv::First:
    return read(false, Recv::Second);
  case Recv::Second:
    return read(true, Recv::Leave);
  case Recv::Leave: {
    RendezvousWord at = word();
    rendezvous::leave(at, recvRun(), State::Done);
    completeReceive();
    return "the receiver leaves its claim";
  }
  case Recv::Cancel:
    return cancel();
  case Recv::Cancelled:
  case Recv::Done:
  case Recv::Dead:
    return nullptr;
  }
  return nullptr;
}

const char *StaticMachine::poll() {
  if (!scenario_.isPut) {
    RendezvousWord at = word();
    bool isHere = is(StaticMutant::GetsWithoutClaim)
                      ? s_.word == wordOf(recvRun(), State::Requested)
                      : rendezvous::claim(at, recvRun());
    if (!isHere)
      return nullptr;
    s_.recv = Recv::First;
    return "the receiver finds the RTS";
  }
  bool isFlagged = s_.word == wordOf(recvRun(), State::Done) &&
                   !(scenario_.hasCanary && is(StaticMutant::LooksAtCanaryAlone));
  bool isGone = scenario_.hasCanary && s_.memory[kLast] != kCanary && s_.endsInCanary == 0;
  if (!isFlagged && !isGone)
    return nullptr;
  completeReceive();
  return isFlagged ? "the receiver reads Done" : "the receiver finds no canary";
}

const char *StaticMachine::read(bool last, Recv next) {
  if (s_.send == Send::Cancelled)
    s_.wrong = "memory is read whose send was cancelled";
  s_.memory[last ? kLast : 0] = s_.bufferRun;
  s_.recv = next;
  return last ? "the receiver reads the last bytes" : "the receiver reads the other bytes";
}

void StaticMachine::completeReceive() {
  for (uint8_t part : s_.memory)
    if (part != recvRun())
      s_.wrong = "a message is completed without all of its bytes";
  ++s_.recvRun;
  s_.recv = s_.recvRun == scenario_.runs ? Recv::Done : Recv::Begin;
}

// In place of the put. The RTR stays, and the sender does not look for it in this run any more.
const char *StaticMachine::takeEager() {
  if (s_.recv != Recv::Poll || s_.eagerRun != recvRun())
    return nullptr;
  s_.eagerRun = 0;
  s_.memory[0] = s_.memory[kLast] = recvRun();
  s_.endsInCanary = 0;
  completeReceive();
  return "the receiver takes the message from the FIFO";
}

const char *StaticMachine::beginCancel() {
  if (s_.recv != Recv::Poll || !scenario_.mayFail)
    return nullptr;
  s_.recv = Recv::Cancel;
  return "the receiver cancels";
}

const char *StaticMachine::cancel() {
  RendezvousWord at = word();
  bool isDead = s_.send == Send::Dead && !is(StaticMutant::WaitsForTheDead);
  if (scenario_.isPut && !rendezvous::cancelRtr(at, recvRun()) && !isDead &&
      !is(StaticMutant::CancelsWithoutWaiting))
    return nullptr;
  s_.recv = Recv::Cancelled;
  return "the receive is cancelled";
}

const char *StaticMachine::send() {
  RendezvousWord at = word();
  bool isEarly = is(StaticMutant::LastBytesFirst);
  switch (s_.send) {
  case Send::Look:
    if (!scenario_.isPut)
      return request();
    if (s_.word != wordOf(sendRun(), State::RtrSent))
      return nullptr;
    s_.send = is(StaticMutant::WritesWithoutClaim) ? Send::First : Send::Claim;
    return "the sender finds the RTR";
  case Send::Claim:
    if (rendezvous::claimWrite(at, sendRun())) {
      s_.send = Send::First;
      return "the sender claims the buffer";
    }
    s_.eagerRun = sendRun();
    endSend();
    return "the RTR is cancelled: the message goes through the FIFO";
  case Send::First:
    return write(isEarly, Send::Second);
  case Send::Second:
    return write(!isEarly, Send::Leave);
  case Send::Leave:
    if (is(StaticMutant::LeavesByStore))
      rendezvous::leave(at, sendRun(), State::Done);
    else
      rendezvous::change(at, sendRun(), State::Writing, State::Done);
    endSend();
    return "the sender leaves its claim";
  case Send::Request:
    return request();
  case Send::Await:
    if (s_.word != wordOf(sendRun(), State::Done))
      return nullptr;
    endSend();
    return "the sender finds that the receiver has the payload";
  case Send::Cancel:
    if (!rendezvous::change(at, sendRun(), State::Requested, State::Fragments) &&
        s_.word == wordOf(sendRun(), State::Reading) && s_.recv != Recv::Dead &&
        !is(StaticMutant::CancelsWithoutWaiting))
      return nullptr;
    s_.send = Send::Cancelled;
    return "the send is cancelled";
  case Send::Cancelled:
  case Send::Done:
  case Send::Dead:
    return nullptr;
  }
  return nullptr;
}

const char *StaticMachine::request() {
  bool isSecond = s_.send == Send::Request;
  bool writesWord = isSecond != is(StaticMutant::RequestsBeforeBuffer);
  if (writesWord) {
    RendezvousWord at = word();
    rendezvous::beginUse(at, sendRun());
  } else {
    s_.bufferRun = sendRun();
  }
  s_.send = isSecond ? Send::Await : Send::Request;
  return writesWord ? "the sender sends the RTS" : "the sender writes where its buffer is";
}

const char *StaticMachine::write(bool last, Send next) {
  if (s_.recv == Recv::Cancelled)
    s_.wrong = "bytes move into memory whose receive was cancelled";
  s_.memory[last ? kLast : 0] = sendRun();
  if (last)
    s_.endsInCanary = scenario_.endsInCanary;
  s_.send = next;
  return last ? "the sender writes the last bytes" : "the sender writes the other bytes";
}

void StaticMachine::endSend() {
  ++s_.sendRun;
  s_.send = s_.sendRun == scenario_.runs ? Send::Done : Send::Look;
}

// One message is in the FIFO at a time.
const char *StaticMachine::fallBack() {
  if (!scenario_.isPut || s_.send != Send::Look || s_.eagerRun != 0 ||
      !(scenario_.mayFallBack || s_.recv == Recv::Cancelled))
    return nullptr;
  if (s_.recv != Recv::Cancelled)
    s_.eagerRun = sendRun();
  endSend();
  return "the sender does not wait: the message goes through the FIFO";
}

const char *StaticMachine::cancelSend() {
  if (s_.send != Send::Await || !scenario_.mayFail)
    return nullptr;
  s_.send = Send::Cancel;
  return "the sender cancels";
}

// The end that copies.
const char *StaticMachine::die() {
  if (!scenario_.mayFail)
    return nullptr;
  if (scenario_.isPut) {
    if (s_.send == Send::Done || s_.send == Send::Dead)
      return nullptr;
    s_.send = Send::Dead;
    return "the sender dies";
  }
  if (s_.recv == Recv::Done || s_.recv == Recv::Dead || s_.recv == Recv::Cancelled)
    return nullptr;
  s_.recv = Recv::Dead;
  return "the receiver dies";
}

} // namespace colldsl::test
