#include "tests/explorer/GraphMachine.h"

#include <algorithm>

namespace colldsl::test {

GraphMachine::GraphMachine(const GraphScenario &scenario)
    : scenario_(scenario), ranks_(scenario.pattern == GraphPattern::Ring ? 3 : 2), s_{} {
  switch (scenario.pattern) {
  case GraphPattern::Exchange:
    messages_ = {{{0, 1}, {1, 0}}};
    count_ = 2;
    break;
  case GraphPattern::Two:
    messages_ = {{{0, 1}, {0, 1}}};
    count_ = 2;
    break;
  case GraphPattern::Ring:
    messages_ = {{{0, 1}, {1, 2}, {2, 0}}};
    count_ = 3;
    break;
  }
  for (Stream &stream : s_.streams)
    stream.launch = 1;
  if (is(GraphMutant::WholeOpsInOrder))
    orderWholeOps();
}

void GraphMachine::orderWholeOps() {
  for (uint8_t rank = 0; rank < ranks_; ++rank) {
    auto next = s_.streams[rank].order.begin();
    for (uint8_t m = 0; m < count_; ++m)
      if (messages_[m].from == rank) {
        *next++ = {Kind::Offers, m};
        *next++ = {Kind::IsAnswered, m};
      }
    for (uint8_t m = 0; m < count_; ++m)
      if (messages_[m].to == rank)
        *next++ = {Kind::Receives, m};
  }
  s_.runs = runsToNote();
}

uint8_t GraphMachine::items(uint8_t rank) const {
  const auto &order = s_.streams[rank].order;
  return static_cast<uint8_t>(std::count_if(
      order.begin(), order.end(), [](const Item &item) { return item.kind != Kind::None; }));
}

bool GraphMachine::anyDied() const {
  return std::any_of(s_.streams.begin(), s_.streams.end(),
                     [](const Stream &stream) { return stream.isDead != 0; });
}

const char *GraphMachine::step(uint8_t rank, uint8_t step) {
  if (s_.streams[rank].isDead != 0)
    return nullptr;
  if (isNoting()) {
    constexpr Kind kinds[] = {Kind::Offers, Kind::IsAnswered, Kind::Receives};
    return step < 3 * count_ ? note(rank, kinds[step / count_], step % count_) : nullptr;
  }
  return step == 0 ? work(rank) : step == 1 ? die(rank) : step == 2 ? release(rank) : nullptr;
}

const char *GraphMachine::note(uint8_t rank, Kind kind, uint8_t message) {
  State &state = s_.run[message];
  const bool sends = messages_[message].from == rank, receives = messages_[message].to == rank;
  const char *what = nullptr;
  if (kind == Kind::Offers && sends && state == State::Open) {
    state = State::Offered;
    what = "a host offers a message";
  } else if (kind == Kind::Receives && receives && state == State::Offered) {
    state = State::Received;
    what = "a host receives and answers a message";
  } else if (kind == Kind::IsAnswered && sends && state == State::Received) {
    state = State::Done;
    what = "a host has its answer";
  } else {
    return nullptr;
  }
  if (runsToNote() == 1 || rank % 2 == s_.runs) {
    auto &order = s_.streams[rank].order;
    order[items(rank)] = {kind, message};
  }
  if (std::all_of(s_.run.begin(), s_.run.begin() + count_,
                  [](State one) { return one == State::Done; }))
    endRun();
  return what;
}

void GraphMachine::endRun() {
  ++s_.runs;
  s_.run = {};
}

const char *GraphMachine::work(uint8_t rank) {
  Stream &stream = s_.streams[rank];
  if (stream.launch > scenario_.launches)
    return nullptr;
  if (stream.item == 0)
    return begin(stream);
  if (stream.item > items(rank))
    return end(rank);
  auto [kind, message] = stream.order[stream.item - 1u];
  const char *what = nullptr;
  switch (kind) {
  case Kind::None:
    break;
  case Kind::Offers:
    what = offer(stream, message);
    break;
  case Kind::IsAnswered:
    what = await(stream, s_.answers[message], !is(GraphMutant::KeepsTheWordOfAnAnswer));
    break;
  case Kind::Receives:
    what = receive(stream, message);
    break;
  }
  const uint8_t parts = kind == Kind::Receives ? 4 : 2;
  if (what && ++stream.part == parts) {
    stream.part = 0;
    ++stream.item;
  }
  return what;
}

const char *GraphMachine::begin(Stream &stream) {
  stream.source = stream.launch;
  ++stream.item;
  return "a launch begins, and the source is written";
}

const char *GraphMachine::end(uint8_t rank) {
  Stream &stream = s_.streams[rank];
  for (uint8_t m = 0; m < count_; ++m)
    if (messages_[m].to == rank && s_.target[m] != stream.launch && !anyDied())
      s_.isWrong = 1;
  ++stream.launch;
  stream.item = 0;
  return "a launch ends, and the result is read";
}

const char *GraphMachine::offer(Stream &stream, uint8_t message) {
  if ((stream.part == 0) != is(GraphMutant::SignalsBeforePacking)) {
    s_.packed[message] = stream.source;
    return "a stream packs a message";
  }
  s_.offers[message].signalled = 1;
  return "a stream signals the receiver";
}

const char *GraphMachine::receive(Stream &stream, uint8_t message) {
  if (stream.part < 2)
    return await(stream, s_.offers[message], !is(GraphMutant::KeepsTheWordOfAnOffer));
  if ((stream.part == 2) != is(GraphMutant::AnswersBeforeCopying)) {
    s_.target[message] = s_.packed[message];
    return "a stream copies a message";
  }
  s_.answers[message].signalled = 1;
  return "a stream signals the sender";
}

// The wait and what clears the word are two steps.
const char *GraphMachine::await(Stream &stream, Word &word, bool clears) {
  if (stream.part == 1) {
    word.signalled = clears ? 0 : word.signalled;
    return "a stream clears the word";
  }
  return word.signalled != 0 || word.released != 0 ? "a stream has waited for a word" : nullptr;
}

const char *GraphMachine::die(uint8_t rank) {
  if (!scenario_.mayDie || anyDied())
    return nullptr;
  s_.streams[rank].isDead = 1;
  return "a rank dies";
}

const char *GraphMachine::release(uint8_t rank) {
  Stream &stream = s_.streams[rank];
  if (!anyDied() || stream.isReleased != 0 || is(GraphMutant::DeathReleasesNothing))
    return nullptr;
  stream.isReleased = 1;
  for (uint8_t m = 0; m < count_; ++m)
    for (Word *word : {messages_[m].from == rank ? &s_.answers[m] : nullptr,
                       messages_[m].to == rank ? &s_.offers[m] : nullptr})
      if (word)
        (is(GraphMutant::ReleasesTheSignalledHalf) ? word->signalled : word->released) = 1;
  return "a host releases its stream";
}

std::string GraphMachine::violation() const {
  return s_.isWrong != 0 ? "a stream reads what is not of its launch" : "";
}

std::string GraphMachine::unfinished() const {
  for (uint8_t rank = 0; rank < ranks_; ++rank)
    if (s_.streams[rank].isDead == 0 && s_.streams[rank].launch <= scenario_.launches)
      return "a stream waits for good";
  return "";
}

} // namespace colldsl::test
