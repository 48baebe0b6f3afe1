#include "tests/explorer/SleepMachine.h"

namespace colldsl::test {

const char *SleepMachine::look(Thread &thread, Sleeper otherwise) {
  thread.sleeper = thread.isVisible != 0 ? Sleeper::Done : otherwise;
  return "a thread looks for its events";
}

// The kernel compares and sleeps in one step.
const char *SleepMachine::sleep(Thread &thread) {
  bool isWoken = is(SleepMutant::SleepsOnOneWord) ? s_.sleeping == 0 : s_.wakes != thread.epoch;
  thread.sleeper = isWoken ? Sleeper::Looks : Sleeper::Asleep;
  return isWoken ? "a thread need not sleep" : "a thread falls asleep";
}

const char *SleepMachine::sleeper(uint8_t i) {
  Thread &own = thread(i);
  bool readsEpochLate = is(SleepMutant::EpochAfterArming);
  switch (own.sleeper) {
  case Sleeper::Looks:
    return look(own, readsEpochLate ? Sleeper::Arms : Sleeper::ReadsEpoch);
  case Sleeper::ReadsEpoch:
    own.epoch = s_.wakes;
    own.sleeper = readsEpochLate ? Sleeper::Fences : Sleeper::Arms;
    return "a thread reads how many wake-ups there were";
  case Sleeper::Arms:
    s_.sleeping = 1;
    own.sleeper = readsEpochLate ? Sleeper::ReadsEpoch : Sleeper::Fences;
    return "a thread says that it sleeps";
  case Sleeper::Fences:
    if (!scenario_.wakersFence && !is(SleepMutant::NoBarrier))
      for (Thread &other : s_.threads)
        drain(other);
    own.sleeper = is(SleepMutant::LooksBeforeArming) ? Sleeper::Sleeps : Sleeper::LooksAgain;
    return "a thread passes its barrier";
  case Sleeper::LooksAgain:
    return look(own, Sleeper::Sleeps);
  case Sleeper::Sleeps:
    return sleep(own);
  case Sleeper::Asleep:
  case Sleeper::Done:
    break;
  }
  return nullptr;
}

void SleepMachine::drain(Thread &thread) {
  thread.isVisible |= thread.isBuffered;
  thread.isBuffered = 0;
}

const char *SleepMachine::drained(uint8_t i) {
  if (thread(i).isBuffered == 0)
    return nullptr;
  drain(thread(i));
  return "events become visible";
}

const char *SleepMachine::readWord(Thread &own) {
  if (scenario_.wakersFence && !is(SleepMutant::NoBarrier))
    drain(own);
  Waker next = is(SleepMutant::CountsBeforeClearing) ? Waker::Counts : Waker::Clears;
  own.waker = s_.sleeping == 0 ? Waker::Done : next;
  return "a waker reads whether somebody sleeps";
}

void SleepMachine::wakeAll() {
  for (Thread &other : s_.threads)
    if (other.sleeper == Sleeper::Asleep)
      other.sleeper = Sleeper::Looks;
}

const char *SleepMachine::waker(uint8_t i) {
  Thread &own = thread(i);
  bool countsFirst = is(SleepMutant::CountsBeforeClearing);
  switch (own.waker) {
  case Waker::Publishes:
    own.isBuffered = 1;
    own.waker = Waker::ReadsWord;
    return "a waker publishes events";
  case Waker::ReadsWord:
    return readWord(own);
  case Waker::Clears: // read-modify-write: what was stored before is visible
    drain(own);
    own.waker = s_.sleeping == 0 ? Waker::Done : countsFirst ? Waker::Wakes : Waker::Counts;
    s_.sleeping = 0;
    return "a waker clears the word";
  case Waker::Counts:
    drain(own);
    ++s_.wakes;
    own.waker = countsFirst ? Waker::Clears : Waker::Wakes;
    return "a waker counts a wake-up";
  case Waker::Wakes:
    wakeAll();
    own.waker = Waker::Done;
    return "a waker wakes all that sleep";
  case Waker::Done:
    break;
  }
  return nullptr;
}

std::string SleepMachine::unfinished() const {
  for (uint8_t i = 0; i < scenario_.threads; ++i)
    if (s_.threads[i].sleeper != Sleeper::Done)
      return "a thread sleeps though its events are there";
  return "";
}

} // namespace colldsl::test
