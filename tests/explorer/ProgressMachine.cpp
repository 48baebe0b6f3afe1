#include "tests/explorer/ProgressMachine.h"

#include "tests/explorer/Explorer.h"
#include "tests/explorer/Scenarios.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iostream>

namespace colldsl::test {

using Travel = ProgressMessage::Travel;

namespace {

bool namesPlace(const ProgressMessage &message) {
  return message.way == Travel::Placed || message.way == Travel::Short;
}

} // namespace

ProgressMachine::ProgressMachine(const ProgressScenario &scenario, Mutant mutant)
    : scenario_(&scenario), mutant_(mutant) {
  std::memset(&s_, 0, sizeof s_);
  s_.placeRun.fill(kNone);
  s_.writtenIn.fill(kNone);
}

const char *ProgressMachine::take(uint8_t rank, uint8_t choice) {
  if (s_.ranks[rank].isSeenOver != 0)
    return choice == kBegin ? lookAgain(rank) : nullptr;
  if (choice == kBegin)
    return begin(rank);
  if (choice < kTake)
    return end(rank, choice - kEnd);
  if (choice < kPost)
    return takeFrame(choice - kTake, rank);
  return takeAtEnd(rank, choice - kPost);
}

// What an end of a message does in one run: is posted, sees what was written, probes early or late.
const char *ProgressMachine::takeAtEnd(uint8_t rank, uint8_t choice) {
  uint8_t what = kPost + choice / kEnds * kEnds, end = choice % kEnds;
  bool sends = end % 2 == 1;
  uint8_t m = end / 2 % kMaxMessages, run = end / 2 / kMaxMessages;
  if (m >= scenario_->messages.size() || (sends ? spec(m).from : spec(m).to) != rank ||
      !isOpen(rank, run))
    return nullptr;
  End state = sends ? at(m, run).send : at(m, run).recv;
  if (what == kPost && state == End::Idle)
    return sends ? postSend(m, run) : postRecv(m, run);
  if (state != End::Waiting)
    return nullptr;
  if (what == kArrive)
    return sends ? nullptr : arrive(m, run);
  if (isNetwork() && what >= kProbe)
    return probe(m, run, sends, what == kLateProbe);
  return what == kProbe ? seeOver(rank, m, run) : nullptr;
}

const char *ProgressMachine::begin(uint8_t rank) {
  Rank &own = s_.ranks[rank];
  int open = own.begun - std::popcount(own.ended);
  if (own.begun == scenario_->runs || open >= (rank == 0 ? scenario_->inFlight : 1))
    return nullptr;
  ++own.begun;
  return "a rank begins a run";
}

uint8_t ProgressMachine::overOf(uint8_t rank) const {
  uint8_t run = 0;
  while (run < s_.ranks[rank].begun && !isOpen(rank, run))
    ++run;
  return run;
}

const char *ProgressMachine::end(uint8_t rank, uint8_t run) {
  if (!isOpen(rank, run))
    return nullptr;
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    if ((spec(m).from == rank && at(m, run).send != End::Done) ||
        (spec(m).to == rank && at(m, run).recv != End::Done))
      return nullptr;
  Rank &own = s_.ranks[rank];
  own.ended |= static_cast<uint8_t>(1U << run);
  uint8_t over = overOf(rank);
  if (!is(Mutant::EndsWhenIdle) || over == own.begun)
    own.over = over;
  return "a rank ends a run";
}

void ProgressMachine::put(uint8_t from, uint8_t to, const Frame &frame) {
  Fifo &fifo = s_.fifos[from][to];
  if (fifo.numFrames == kFrames)
    s_.wrong = "the model's FIFO is too short";
  else
    fifo.frames[fifo.numFrames++] = frame;
}

const char *ProgressMachine::postSend(uint8_t m, uint8_t run) {
  Message &message = at(m, run);
  message.send = End::Done;
  if (!has(spec(m).sent, run))
    return "a send without bytes is posted";
  if (spec(m).way == Travel::Placed && s_.placeRun[m] == run)
    return write(m, run);
  bool isEager = spec(m).way == Travel::Eager || spec(m).way == Travel::Short;
  if (!isEager)
    message.send = End::Waiting;
  put(spec(m).from, spec(m).to, {isEager ? Kind::Eager : Kind::Request, m, run, 0});
  return isEager ? "an eager message is sent" : "a request to send is sent";
}

const char *ProgressMachine::write(uint8_t m, uint8_t run) {
  at(m, run).send = End::Done;
  at(m, run).isUnderWay = 1;
  s_.writtenIn[m] = run;
  return "a sender writes";
}

const char *ProgressMachine::arrive(uint8_t m, uint8_t run) {
  if (at(m, run).isUnderWay == 0)
    return nullptr;
  at(m, run).isUnderWay = 0;
  at(m, run).recv = End::Done;
  return "a receiver sees what was written";
}

const char *ProgressMachine::postRecv(uint8_t m, uint8_t run) {
  Message &message = at(m, run);
  bool hasBytes = has(spec(m).received, run);
  message.recv = hasBytes ? End::Waiting : End::Done;
  if (hasBytes && namesPlace(spec(m)))
    put(spec(m).to, spec(m).from, {Kind::Place, m, run, 0});
  if (message.isEarly == 0)
    return "a receive is posted";
  message.isEarly = 0;
  if (hasBytes)
    return accept(message.early);
  if (isNetwork())
    fail(m, run);
  return "a receive without bytes meets a message";
}

const char *ProgressMachine::takeFrame(uint8_t from, uint8_t to) {
  Fifo &fifo = s_.fifos[from][to];
  if (fifo.numFrames == 0)
    return nullptr;
  Frame frame = fifo.frames[0];
  std::copy(fifo.frames.begin() + 1, fifo.frames.begin() + fifo.numFrames, fifo.frames.begin());
  fifo.frames[--fifo.numFrames] = {};
  Message &message = at(frame.message, frame.run);
  switch (frame.kind) {
  case Kind::Eager:
  case Kind::Request:
    return takeMessage(frame);
  case Kind::Taken:
    message.send = End::Done;
    return "a sender sees that its message was taken";
  case Kind::Place:
    s_.placeRun[frame.message] = frame.run;
    return message.send == End::Waiting ? write(frame.message, frame.run) : "a place is noted";
  case Kind::Probe:
    put(to, from,
        {Kind::Reply, frame.message, frame.run,
         static_cast<uint8_t>(frame.detail | static_cast<uint8_t>(replyTo(frame)) << 1)});
    return "a probe is answered";
  case Kind::Reply:
    return takeReply(frame);
  }
  return nullptr;
}

const char *ProgressMachine::takeMessage(const Frame &frame) {
  Message &message = at(frame.message, frame.run);
  switch (message.recv) {
  case End::Idle:
    message.early = frame;
    message.isEarly = 1;
    return "an early message is kept";
  case End::Waiting:
    return accept(frame);
  case End::Done: // perhaps what was asked about was written before
    if (isNetwork() && isOpen(spec(frame.message).to, frame.run) &&
        !has(spec(frame.message).received, frame.run))
      fail(frame.message, frame.run);
    return "a message is thrown away";
  }
  return nullptr;
}

// The answer to a request of a placed message is the place, which is under way.
const char *ProgressMachine::accept(const Frame &frame) {
  uint8_t m = frame.message;
  Message &message = at(m, frame.run);
  if (spec(m).way == Travel::Placed)
    return "a receiver waits for what it said the place of";
  if (spec(m).way == Travel::Short)
    fail(m, frame.run);
  message.recv = End::Done;
  if (frame.kind == Kind::Request && isNetwork())
    put(spec(m).to, spec(m).from, {Kind::Taken, m, frame.run, 0});
  else if (frame.kind == Kind::Request)
    message.send = End::Done; // by the state word of the request
  return "a receiver takes a message";
}

// Of runs that are not the last one, and only the latest without a gap.
bool ProgressMachine::isSkippedLately(const Frame &probe) const {
  bool asSender = (probe.detail & 1) == 0;
  const ProgressMessage &message = spec(probe.message);
  uint8_t runs = asSender ? message.sent : message.received;
  uint8_t begun = s_.ranks[asSender ? message.from : message.to].begun;
  uint8_t run = begun;
  while (run > 0 && has(runs, run - 1))
    --run;
  while (run > 0 && !has(runs, run - 1))
    if (--run == probe.run)
      return true;
  return false;
}

// By the end that was probed.
ProgressMachine::Reply ProgressMachine::replyTo(const Frame &probe) const {
  const ProgressMessage &message = spec(probe.message);
  bool asSender = (probe.detail & 1) == 0;
  uint8_t begun = s_.ranks[asSender ? message.from : message.to].begun;
  if (probe.run + 1 < begun) {
    if (is(Mutant::AnswersForOpenRuns))
      return Reply::NotYet;
    if (is(Mutant::ForgetsSkips) && isSkippedLately(probe))
      return Reply::Skipped;
    bool isWritten = asSender && s_.writtenIn[probe.message] == probe.run;
    bool mayBeWritten = is(Mutant::ForgetsSkips) && asSender && namesPlace(message);
    return isWritten || mayBeWritten ? Reply::PastAndWritten : Reply::Past;
  }
  const Message &state = s_.messages[probe.message][probe.run];
  bool isDone = (asSender ? state.send : state.recv) == End::Done;
  bool isSkipped = isDone && !has(asSender ? message.sent : message.received, probe.run);
  return isSkipped ? Reply::Skipped : Reply::NotYet;
}

// Each end has one probe under way at most. It probes once at any time, which shows what an answer
// that comes too early leads to, and once more when nothing else happens.
const char *ProgressMachine::probe(uint8_t m, uint8_t run, bool sends, bool isLate) {
  enum : uint8_t { Early = 1, Late = 4, UnderWay = 16 };
  uint8_t &probes = at(m, run).probes;
  auto bit = [&](uint8_t which) { return static_cast<uint8_t>(which << (sends ? 1 : 0)); };
  if ((probes & (bit(UnderWay) | bit(isLate ? Late : Early))) != 0)
    return nullptr;
  probes |= bit(UnderWay) | bit(isLate ? Late : Early);
  uint8_t from = sends ? spec(m).from : spec(m).to, to = sends ? spec(m).to : spec(m).from;
  put(from, to, {Kind::Probe, m, run, static_cast<uint8_t>(sends)});
  return "a rank probes the other end of a message";
}

const char *ProgressMachine::takeReply(const Frame &frame) {
  bool sends = (frame.detail & 1) != 0;
  Message &message = at(frame.message, frame.run);
  message.probes &= static_cast<uint8_t>(~(16U << (sends ? 1 : 0)));
  if ((sends ? message.send : message.recv) != End::Waiting)
    return "a reply comes late";
  switch (static_cast<Reply>(frame.detail >> 1)) {
  case Reply::NotYet:
    return "a rank goes on waiting";
  case Reply::PastAndWritten:
    if (!is(Mutant::TakesWritesAsOrdered))
      return "a rank waits for what was written";
    break;
  case Reply::Past:
  case Reply::Skipped:
    break;
  }
  fail(frame.message, frame.run);
  return "a rank learns that nothing comes";
}

const char *ProgressMachine::seeOver(uint8_t rank, uint8_t m, uint8_t run) {
  uint8_t peer = spec(m).from == rank ? spec(m).to : spec(m).from;
  if (s_.ranks[peer].over <= run)
    return nullptr;
  if (is(Mutant::LooksOnce))
    fail(m, run);
  s_.ranks[rank].isSeenOver = 1;
  s_.ranks[rank].message = m;
  s_.ranks[rank].run = run;
  return "a rank sees that the other end's run is over";
}

const char *ProgressMachine::lookAgain(uint8_t rank) {
  Rank &own = s_.ranks[rank];
  uint8_t m = own.message, run = own.run;
  own.isSeenOver = own.message = own.run = 0;
  bool sends = spec(m).from == rank;
  uint8_t peer = sends ? spec(m).to : spec(m).from;
  while (takeFrame(peer, rank))
    ;
  if ((sends ? at(m, run).send : at(m, run).recv) == End::Waiting)
    fail(m, run);
  return "a rank looks once more";
}

void ProgressMachine::fail(uint8_t m, uint8_t run) {
  s_.isFailed = 1;
  if (has(spec(m).sent, run) && has(spec(m).received, run) && spec(m).way != Travel::Short)
    s_.wrong = "a rank gives up a message that comes";
}

// In shared memory ranks that wait for each other in one run learn nothing of it: a rank waits for
// good if the run of the other end is over.
std::string ProgressMachine::unfinished() const {
  if (s_.isFailed != 0)
    return "";
  for (uint8_t m = 0; m < scenario_->messages.size(); ++m)
    for (uint8_t run = 0; run < scenario_->runs; ++run) {
      const Message &message = s_.messages[m][run];
      auto waits = [&](End state, uint8_t peer) {
        return state == End::Waiting && (isNetwork() || has(s_.ranks[peer].ended, run));
      };
      if (waits(message.send, spec(m).to) || waits(message.recv, spec(m).from))
        return "a rank waits for good";
    }
  return "";
}

std::string explore(const ProgressScenario &shape, size_t messages, size_t every,
                    ProgressMachine::Mutant mutant) {
  std::vector<ProgressMessage> all;
  auto runs = static_cast<uint8_t>(1U << shape.runs);
  Travel last = shape.medium == Medium::Network ? Travel::Short : Travel::Request;
  for (uint8_t from = 0; from < shape.ranks; ++from)
    for (uint8_t to = 0; to < shape.ranks; ++to)
      for (uint8_t way = 0; way <= static_cast<uint8_t>(last); ++way)
        for (uint8_t sent = 0; sent < runs; ++sent)
          for (uint8_t received = 0; received < runs; ++received)
            if (from != to && (sent | received) != 0)
              all.push_back({from, to, static_cast<Travel>(way), sent, received});
  uint64_t number = 0, scenarios = 0, states = 0;
  std::string wrong;
  ProgressScenario scenario = shape;
  forEachList(all, messages, [&](const std::vector<ProgressMessage> &list) {
    if (!wrong.empty() || number++ % every != 0)
      return;
    scenario.messages = list;
    Exploration found = Explorer(ProgressMachine(scenario, mutant)).run();
    ++scenarios;
    states += found.states;
    wrong = found.wrong;
  });
  std::cout << scenarios << " scenarios, " << states << " states" << std::endl;
  return wrong;
}

} // namespace colldsl::test
