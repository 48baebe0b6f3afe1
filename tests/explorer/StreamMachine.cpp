#include "tests/explorer/StreamMachine.h"

#include <algorithm>
#include <cassert>

namespace colldsl::test {

void StreamMachine::add(Stream &stream, Work work, uint8_t value) {
  for (Item &item : stream.items)
    if (item.work == Work::None) {
      item = {work, value};
      return;
    }
  assert(false && "a stream is full");
}

const char *StreamMachine::caller() {
  switch (s_.caller) {
  case Caller::Produces:
    if (scenario_.streams == 2)
      add(producer(), Work::AwaitConsumed, static_cast<uint8_t>(s_.run - 1));
    add(producer(), Work::Produce, s_.run);
    s_.caller = Caller::Starts;
    return "the caller adds work that produces the input";
  case Caller::Starts:
    return start();
  case Caller::Follows:
    return follow();
  case Caller::Consumes:
    add(consumer(), Work::Consume, s_.run);
    s_.caller = s_.run == scenario_.runs ? Caller::Destroys : Caller::Produces;
    ++s_.run;
    return "the caller adds work that consumes the result";
  case Caller::Destroys:
    return destroy();
  case Caller::Frees:
    return freeWord();
  case Caller::Done:
    break;
  }
  return nullptr;
}

const char *StreamMachine::start() {
  if (s_.state == State::Running)
    return nullptr;
  if (s_.state == State::Failed) {
    s_.caller = Caller::Destroys;
    return "the caller learns that the plan failed";
  }
  add(producer(), Work::Mark, ++s_.marks);
  s_.state = State::Running;
  s_.part = is(StreamMutant::StartsAtOnce) ? Part::CopiesIn : Part::AwaitsMark;
  s_.caller = Caller::Follows;
  return "the caller starts a run on the stream";
}

const char *StreamMachine::follow() {
  s_.caller = Caller::Consumes;
  if (s_.state != State::Running && !is(StreamMutant::FollowsRunsThatAreOver))
    return "the run is over before a stream follows it";
  uint8_t runs = is(StreamMutant::WaitsForTheLastRun) ? s_.runsOver : s_.runsOver + 1;
  add(consumer(), Work::AwaitWord, static_cast<uint8_t>(2 * runs));
  return "a stream follows the run";
}

void StreamMachine::complete(bool failed) {
  s_.word = static_cast<uint8_t>(2 * ++s_.runsOver + (failed ? 1 : 0));
}

const char *StreamMachine::destroy() {
  if (isOnDevice())
    return nullptr;
  if (s_.state == State::Running) {
    s_.state = State::Failed;
    s_.failedRun = static_cast<uint8_t>(s_.run - 1);
    if (!is(StreamMutant::DestructionTellsNoStream))
      complete(true);
  }
  s_.caller = Caller::Frees;
  return "the caller destroys the plan";
}

const char *StreamMachine::freeWord() {
  bool isAwaited = false;
  for (const Stream &stream : s_.streams)
    for (const Item &item : stream.items)
      isAwaited |= item.work == Work::AwaitWord;
  if (isAwaited && !is(StreamMutant::FreesTheWordAtOnce))
    return nullptr;
  s_.isWordThere = 0;
  s_.caller = Caller::Done;
  return "the word is freed";
}

const char *StreamMachine::progress() {
  if (s_.state != State::Running)
    return nullptr;
  switch (s_.part) {
  case Part::AwaitsMark:
    if (s_.marked != s_.marks)
      return nullptr;
    s_.part = Part::CopiesIn;
    return "the run begins, as its mark is reached";
  case Part::CopiesIn:
    s_.part = Part::In;
    return "the run begins to copy from the device";
  case Part::CopiesOut:
    if (is(StreamMutant::CompletesBeforeCopiesEnd))
      complete(false);
    s_.part = Part::Out;
    return "the run begins to copy to the device";
  case Part::Completes: // in one step, as the plan is locked
    if (!is(StreamMutant::CompletesBeforeCopiesEnd))
      complete(false);
    if (is(StreamMutant::EndsInTwoSteps)) {
      s_.part = Part::Ends;
      return "the run writes the word";
    }
    [[fallthrough]];
  case Part::Ends:
    s_.state = State::Idle;
    s_.part = Part::AwaitsMark;
    return "the run has ended";
  case Part::In:
  case Part::Out:
    break;
  }
  return nullptr;
}

// A rank that dies, a timeout: at any time before the word is written. The device is drained first.
const char *StreamMachine::fail() {
  if (!scenario_.mayFail || s_.state != State::Running || isOnDevice() || s_.part == Part::Ends)
    return nullptr;
  s_.state = State::Failed;
  s_.failedRun = s_.marks;
  if (!is(StreamMutant::FailureTellsNoStream))
    complete(true);
  return "the run fails";
}

const char *StreamMachine::copyIn() {
  if (s_.part != Part::In)
    return nullptr;
  s_.stage = s_.input;
  s_.part = Part::CopiesOut;
  return "the device has copied the input";
}

const char *StreamMachine::copyOut() {
  if (s_.part != Part::Out)
    return nullptr;
  s_.result = s_.stage;
  s_.part = Part::Completes;
  return "the device has copied the result";
}

const char *StreamMachine::execute(Stream &stream) {
  const Item item = stream.items[0];
  const char *what = nullptr;
  switch (item.work) {
  case Work::None:
    return nullptr;
  case Work::AwaitConsumed:
    if (s_.consumed < item.value)
      return nullptr;
    what = "a stream has waited for the other one";
    break;
  case Work::Produce:
    s_.input = item.value;
    what = "a stream produces the input";
    break;
  case Work::Mark:
    s_.marked = item.value;
    what = "a stream reaches the mark";
    break;
  case Work::AwaitWord:
    if (s_.word < item.value)
      return nullptr;
    what = "a stream has waited for the word";
    break;
  case Work::Consume:
    s_.isWrong |= s_.result != item.value && s_.failedRun != item.value;
    s_.consumed = item.value;
    what = "a stream consumes the result";
    break;
  }
  std::move(stream.items.begin() + 1, stream.items.end(), stream.items.begin());
  stream.items.back() = {};
  return what;
}

std::string StreamMachine::violation() const {
  if (s_.isWrong != 0)
    return "a stream consumes what is not the result of the run";
  for (const Stream &stream : s_.streams)
    if (stream.items[0].work == Work::AwaitWord && s_.isWordThere == 0)
      return "a stream waits for a word that is gone";
  return "";
}

std::string StreamMachine::unfinished() const {
  for (const Stream &stream : s_.streams)
    if (stream.items[0].work != Work::None)
      return "a stream waits for good";
  return s_.caller == Caller::Done ? "" : "the caller waits for good";
}

} // namespace colldsl::test
