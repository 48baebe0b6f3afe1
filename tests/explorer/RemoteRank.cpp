#include "tests/explorer/RemoteRank.h"

#include <algorithm>
#include <cstring>

namespace colldsl::test {
namespace {

constexpr uint32_t kLongestEagerBytes = 8; ///< of a message, or of a fragment

network::Options makeOptions(const Scenario &scenario) {
  network::Options options;
  if (scenario.windowBytes != 0)
    options.windowBytes = scenario.windowBytes;
  options.longestEagerBytes = options.rmaThresholdBytes = kLongestEagerBytes;
  options.linger = options.lingerAfterFailure = RemoteRank::kLinger;
  return options;
}

Transfer transferOf(Way way) {
  switch (way) {
  case Way::Read:
    return {.protocol = Protocol::Rendezvous, .mover = Mover::Reader};
  case Way::Written:
    return {.protocol = Protocol::Rendezvous, .mover = Mover::Writer};
  case Way::EarlyRtr:
    return {.protocol = Protocol::Static};
  case Way::Canary:
    return {.protocol = Protocol::Static, .canary = true};
  case Way::Announced:
    return {.protocol = Protocol::Static, .announced = true};
  case Way::Eager:
  case Way::Fragments:
  case Way::Cooperative: // on one machine
    break;
  }
  return {};
}

uint64_t bytesOf(Way way) {
  return way == Way::Eager       ? kLongestEagerBytes / 2
         : way == Way::Announced ? kLongestEagerBytes // eager, until the RTR is there
                                 : MessageEnd::kMaxBytes;
}

/// What is sent.
std::byte byteOf(const MessageSpec &spec, uint8_t message, uint8_t run, uint64_t at) {
  if (spec.way == Way::Canary && run == 0 && at + 1 == MessageEnd::kMaxBytes)
    return network::kCanary;
  return static_cast<std::byte>(64 * run + 16 * (message + 1) + at);
}
/// What the owner puts into memory that is its own again.
constexpr std::byte kOwn{0xee};

} // namespace

RemoteRank::RemoteRank(const Scenario &scenario, uint8_t self, ScriptedNetwork &network)
    : scenario_(scenario), self_(self), network_(network) {
  auto transport = std::make_unique<ScriptedTransport>(network, self);
  transport->refused = scenario.refused;
  auto made = protocol::RemoteWorker::make(Rank{self}, scenario.ranks, makeOptions(scenario),
                                           std::move(transport), nullptr);
  worker_ = made.take();
  (void)worker_->start([](Rank) -> Result<network::RankAddress> { return network::RankAddress(); });
  endpoint_ = std::make_unique<protocol::RemoteEndpoint>(
      *worker_, protocol::RankGroup::ofAll(scenario.ranks, Rank{self}), nullptr);
  ends.reserve(scenario.messages.size());
  for (uint8_t plan = 0; plan < kPlans && !scenario.opensLate; ++plan)
    open(plan);
}

RemoteRank::~RemoteRank() {
  end();
  for (Plan &plan : plans_)
    plan.channels.reset();
}

void RemoteRank::end() {
  while (fiber_.isUnderWay())
    fiber_.resume();
}

// Plans have their numbers from the order in which they are opened.
bool RemoteRank::mayOpen(uint8_t plan) const {
  return !plans_[plan].wasOpened && (plan == 0 || plans_[plan - 1].wasOpened) && !isWaiting();
}

void RemoteRank::open(uint8_t plan) {
  network_.note(self_, 70 + plan);
  plans_[plan].wasOpened = true;
  std::vector<EdgeSpec> out, in;
  for (uint8_t m = 0; m < scenario_.messages.size(); ++m) {
    const MessageSpec &spec = scenario_.messages[m];
    if (spec.isOfSecondPlan == (plan == 1) && spec.from == self_)
      addEnd(m, out);
    if (spec.isOfSecondPlan == (plan == 1) && spec.to == self_)
      addEnd(m, in);
  }
  auto opened = endpoint_->open({.out = out, .in = in});
  plans_[plan].channels = opened.take();
  plans_[plan].channels->start();
  plans_[plan].described = static_cast<protocol::RemoteChannels *>(plans_[plan].channels.get());
  if (out.empty() && in.empty()) {
    plans_[plan].channels.reset();
    plans_[plan].described = nullptr;
  }
}

void RemoteRank::addEnd(uint8_t message, std::vector<EdgeSpec> &edges) {
  const MessageSpec &spec = scenario_.messages[message];
  MessageEnd &end = ends.emplace_back();
  end.message = message;
  end.plan = spec.isOfSecondPlan ? 1 : 0;
  end.sends = spec.from == self_;
  Rank peer{end.sends ? spec.to : spec.from};
  auto edge = std::find_if(edges.begin(), edges.end(),
                           [&](const EdgeSpec &known) { return known.peer == peer; });
  if (edge == edges.end())
    edge = edges.insert(edges.end(), EdgeSpec{.peer = peer, .messages = {}});
  end.slot = {static_cast<uint32_t>(edge - edges.begin()),
              static_cast<uint32_t>(edge->messages.size())};
  edge->messages.push_back(MessageId{message});
  edge->ways.push_back(transferOf(spec.way));
  fill(end);
  uint64_t bytes = bytesOf(spec.way), first = spec.way == Way::Fragments ? bytes / 2 : bytes;
  end.pieces = {iovec{end.memory.data(), first}, iovec{end.memory.data() + first, bytes - first}};
}

void RemoteRank::fill(MessageEnd &end) {
  for (uint64_t i = 0; i < MessageEnd::kMaxBytes; ++i)
    end.memory[i] =
        end.sends ? byteOf(scenario_.messages[end.message], end.message, plans_[end.plan].run, i)
                  : kOwn;
}

bool RemoteRank::mayRun(uint8_t plan) const {
  return isOpen(plan) && !isWaiting() && !plans_[plan].channels->failed() &&
         plans_[plan].run + 1 < scenario_.runs && isOver(plan);
}

void RemoteRank::run(uint8_t plan) {
  network_.note(self_, 72 + plan);
  ++plans_[plan].run;
  for (MessageEnd &end : ends)
    if (end.plan == plan) {
      end.isPosted = end.isOver = end.isDone = false;
      fill(end);
    }
  plans_[plan].channels->start();
}

bool RemoteRank::mayPost(const MessageEnd &end) const {
  return isOpen(end.plan) && !isWaiting() && !end.isPosted &&
         !plans_[end.plan].channels->failed() && !plans_[end.plan].isCancelled;
}

bool RemoteRank::hasPosted(uint8_t message, uint8_t run) const {
  return std::any_of(ends.begin(), ends.end(), [&](const MessageEnd &end) {
    return end.message == message && end.isPosted && plans_[end.plan].run == run;
  });
}

// Memory in two pieces is not reached by others.
void RemoteRank::post(MessageEnd &end) {
  network_.note(self_, end.message + 16u * end.sends);
  end.isPosted = true;
  Way way = scenario_.messages[end.message].way;
  Payload payload{end.pieces.data(), way == Way::Fragments ? 2u : 1u, false, false, bytesOf(way)};
  Channels &channels = *plans_[end.plan].channels;
  OpId op{static_cast<uint32_t>(&end - ends.data())};
  Posted posted =
      end.sends ? channels.send(end.slot, op, payload) : channels.recv(end.slot, op, payload);
  if (posted == Posted::Done)
    complete(end);
}

void RemoteRank::complete(MessageEnd &end) {
  end.isDone = true;
  const MessageSpec &spec = scenario_.messages[end.message];
  uint64_t bytes = bytesOf(spec.way);
  for (uint64_t i = 0; i < bytes && !end.sends; ++i)
    if (end.memory[i] != byteOf(spec, end.message, plans_[end.plan].run, i))
      wrong = "bytes are received that were not sent";
  giveBack(end);
}

void RemoteRank::giveBack(MessageEnd &end) {
  end.isOver = true;
  end.memory.fill(kOwn);
}

// A rank whose worker has ended all takes nothing any more.
void RemoteRank::poll() {
  if (hasLeft())
    return;
  size_t events = network_.numEvents(self_);
  if (isWaiting())
    fiber_.resume();
  else
    pollAll();
  noteWait(false);
  isDeaf_ = events != 0 && network_.numEvents(self_) == events;
}

void RemoteRank::pollAll() {
  if (!isOpen(0) && !isOpen(1)) {
    worker_->progress();
    worker_->checkPeers();
  }
  for (uint8_t plan = 0; plan < kPlans; ++plan)
    if (isOpen(plan))
      take(plan);
}

void RemoteRank::take(uint8_t plan) {
  Channels &channels = *plans_[plan].channels;
  for (const Completion &completion : channels.poll())
    if (MessageEnd &end = ends[index(completion.op)]; !end.isOver)
      complete(end);
    else if (!plans_[plan].isCancelled)
      wrong = "a message ends twice";
  channels.check();
}

void RemoteRank::fail() {
  network_.note(self_, 64);
  plans_[0].channels->abort({Rank{self_}, kNoOp, "it fails"});
}

bool RemoteRank::mayCancel(uint8_t plan) const {
  return isOpen(plan) && !isWaiting() && plans_[plan].channels->failed() &&
         !plans_[plan].isCancelled;
}

void RemoteRank::cancel(uint8_t plan) {
  network_.note(self_, 65 + plan);
  wait(plan, [this, plan] {
    plans_[plan].channels->cancel();
    plans_[plan].isCancelled = true;
    for (MessageEnd &end : ends)
      if (end.plan == plan && !end.isOver)
        giveBack(end);
  });
}

bool RemoteRank::isOver(uint8_t plan) const {
  return std::all_of(ends.begin(), ends.end(), [&](const MessageEnd &end) {
    return end.plan != plan || (end.isPosted && end.isOver);
  });
}

bool RemoteRank::mayClose(uint8_t plan) const {
  bool isLastRun = plans_[plan].run + 1 == scenario_.runs;
  return isOpen(plan) && !isWaiting() && (plans_[plan].isCancelled || (isLastRun && isOver(plan)));
}

bool RemoteRank::isClosed() const {
  return std::all_of(plans_.begin(), plans_.end(),
                     [](const Plan &plan) { return plan.wasOpened && !plan.channels; });
}

bool RemoteRank::knows(uint8_t peer) const {
  return worker_ && worker_->am().peers().count(Rank{peer}) != 0;
}

bool RemoteRank::mayLeave() const {
  return scenario_.disconnects && isClosed() && !hasLeft() && !isWaiting();
}

void RemoteRank::leave() {
  network_.note(self_, 74);
  endpoint_.reset();
  wait(0, [this] {
    delete worker_.get();
    (void)worker_.release();
  });
}

void RemoteRank::close(uint8_t plan) {
  network_.note(self_, 67 + plan);
  wait(plan, [this, plan] {
    plans_[plan].channels.reset();
    plans_[plan].described = nullptr;
  });
}

void RemoteRank::wait(uint8_t plan, std::function<void()> what) {
  waitsSince_ = std::chrono::steady_clock::now();
  waiting_ = plans_[plan].described; // null where it leaves
  fiber_.begin(std::move(what));
  noteWait(true);
}

std::optional<std::string> RemoteRank::failureOfAll() const {
  if (hasLeft())
    return std::nullopt;
  const std::optional<Fault> &fault = worker_->failureOfAll();
  return fault ? std::optional(fault->reason) : std::nullopt;
}

std::string RemoteRank::leftover() const {
  if (hasLeft())
    return "";
  if (worker_->numOpen() != 0)
    return "a message is left open";
  if (worker_->numIdsInUse() != 0)
    return "a rendezvous id is left in use";
  if (worker_->numRtrs() != 0)
    return "an RTR is left";
  if (network_.numRegistered(self_) != 0)
    return "memory stays registered";
  return worker_->numRefused() != 0 ? "a frame was refused" : "";
}

// Where in cancel() a rank waits follows from what it has not cancelled yet. How long it waits
// depends on what it knew when it began to wait for that peer.
void RemoteRank::noteWait(bool isNew) {
  Rank peer = isWaiting() && waiting_ ? awaitedBy(*worker_, *waiting_) : kNoRank;
  if (isWaiting() && framesDone_ != worker_->am().numDone())
    waitsSince_ = std::chrono::steady_clock::now(); // to leave
  framesDone_ = hasLeft() ? 0 : worker_->am().numDone();
  if (peer != waitsFor_ || isNew)
    wasLost_ = peer != kNoRank && worker_->peer(peer).isLost;
  waitsFor_ = peer;
}

void RemoteRank::describeWait(StateWords &words) const {
  words.add(isWaiting());
  if (!isWaiting())
    return;
  words.add(waitsSince_);
  words.add(worker_->am().numSent() - worker_->am().numDone());
  words.add(waitsFor_);
  words.add(wasLost_);
}

void RemoteRank::describe(StateWords &words, const WorkerOf &workerOf) const {
  for (const MessageEnd &end : ends) {
    words.add(end.isPosted);
    words.add(end.isOver);
    words.add(end.isDone);
    words.add(std::span(end.memory));
  }
  if (network_.isDead(self_))
    return;
  for (const Plan &plan : plans_) {
    words.add(plan.channels != nullptr);
    words.add(plan.run);
    words.add(plan.wasOpened);
    words.add(plan.isCancelled);
    words.add(plan.described != nullptr);
    if (plan.described)
      test::describe(words, *plan.described);
  }
  words.add(hasLeft());
  if (!hasLeft())
    test::describe(words, *worker_, workerOf);
  words.add(isDeaf_);
  describeWait(words);
}

} // namespace colldsl::test
