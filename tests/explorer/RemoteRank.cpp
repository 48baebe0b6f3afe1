#include "tests/explorer/RemoteRank.h"

#include <algorithm>
#include <cstring>

namespace colldsl::test {
namespace {

constexpr uint32_t kEagerBytes = 8; ///< of a message, or of a fragment

network::Options makeOptions() {
  network::Options options;
  options.eagerBytes = options.directBytes = kEagerBytes;
  options.linger = options.lingerAfterFailure = RemoteRank::kLinger;
  return options;
}

Transfer transferOf(Way way) {
  switch (way) {
  case Way::Read:
    return {.protocol = Protocol::Rendezvous, .mover = Mover::Reader};
  case Way::Written:
    return {.protocol = Protocol::Rendezvous, .mover = Mover::Writer};
  case Way::Announced:
    return {.protocol = Protocol::Static};
  case Way::Eager:
  case Way::Fragments:
    break;
  }
  return {};
}

uint64_t bytesOf(Way way) { return way == Way::Eager ? kEagerBytes / 2 : MessageEnd::kMaxBytes; }

/// What is sent.
std::byte byteOf(uint8_t message, uint64_t at) {
  return static_cast<std::byte>(16 * (message + 1) + at);
}
/// What the owner puts into memory that is its own again.
constexpr std::byte kOwn{0xee};

} // namespace

RemoteRank::RemoteRank(const Scenario &scenario, uint8_t self, ScriptedNetwork &network)
    : scenario_(scenario), self_(self), network_(network) {
  auto made =
      protocol::RemoteWorker::make(Rank{self}, scenario.ranks, makeOptions(),
                                   std::make_unique<ScriptedCarrier>(network, self), nullptr);
  worker_ = made.take();
  worker_->whileWaiting([this] {
    if (!isEnded_ && fiber_.isUnderWay())
      fiber_.leave();
  });
  (void)worker_->meet([](Rank) -> Result<network::RankAddress> { return network::RankAddress(); });
  endpoint_ = std::make_unique<protocol::RemoteEndpoint>(
      *worker_, protocol::RankGroup::ofAll(scenario.ranks, Rank{self}), nullptr);
  ends.reserve(scenario.messages.size());
  for (uint8_t plan = 0; plan < kPlans; ++plan)
    open(plan);
}

RemoteRank::~RemoteRank() {
  end();
  for (Plan &plan : plans_)
    plan.channels.reset();
}

void RemoteRank::end() {
  isEnded_ = true;
  while (fiber_.isUnderWay())
    fiber_.resume();
}

void RemoteRank::open(uint8_t plan) {
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
  if (out.empty() && in.empty())
    plans_[plan].channels.reset();
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
  for (uint64_t i = 0; i < MessageEnd::kMaxBytes; ++i)
    end.memory[i] = end.sends ? byteOf(message, i) : kOwn;
  uint64_t bytes = bytesOf(spec.way), first = spec.way == Way::Fragments ? bytes / 2 : bytes;
  end.pieces = {iovec{end.memory.data(), first}, iovec{end.memory.data() + first, bytes - first}};
}

bool RemoteRank::mayPost(const MessageEnd &end) const {
  return isOpen(end.plan) && !isWaiting() && !end.isPosted &&
         !plans_[end.plan].channels->failed() && !plans_[end.plan].isCanceled;
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
  uint64_t bytes = bytesOf(scenario_.messages[end.message].way);
  for (uint64_t i = 0; i < bytes && !end.sends; ++i)
    if (end.memory[i] != byteOf(end.message, i))
      wrong = "bytes are received that were not sent";
  giveBack(end);
}

void RemoteRank::giveBack(MessageEnd &end) {
  end.isOver = true;
  end.memory.fill(kOwn);
}

// A rank whose worker has ended all takes nothing any more.
void RemoteRank::poll() {
  size_t news = network_.numNews(self_);
  if (isWaiting())
    fiber_.resume();
  else
    pollAll();
  isDeaf_ = news != 0 && network_.numNews(self_) == news;
}

void RemoteRank::pollAll() {
  if (isClosed()) {
    worker_->progress();
    worker_->look();
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
  channels.check();
}

void RemoteRank::fail() {
  network_.note(self_, 64);
  plans_[0].channels->abort({Rank{self_}, kNoOp, "it fails"});
}

bool RemoteRank::mayCancel(uint8_t plan) const {
  return isOpen(plan) && !isWaiting() && plans_[plan].channels->failed() &&
         !plans_[plan].isCanceled;
}

void RemoteRank::cancel(uint8_t plan) {
  network_.note(self_, 65 + plan);
  wait([this, plan] {
    plans_[plan].channels->cancel();
    plans_[plan].isCanceled = true;
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
  return isOpen(plan) && !isWaiting() && (plans_[plan].isCanceled || isOver(plan));
}

void RemoteRank::close(uint8_t plan) {
  network_.note(self_, 67 + plan);
  wait([this, plan] { plans_[plan].channels.reset(); });
}

void RemoteRank::wait(std::function<void()> what) { fiber_.begin(std::move(what)); }

std::optional<std::string> RemoteRank::failureOfAll() const {
  const std::optional<Fault> &fault = worker_->failureOfAll();
  return fault ? std::optional(fault->reason) : std::nullopt;
}

std::string RemoteRank::leftover() const {
  if (worker_->numOpen() != 0)
    return "a message is left open";
  if (worker_->numIdsInUse() != 0)
    return "a rendezvous id is left in use";
  if (worker_->numTickets() != 0)
    return "a ticket is left";
  if (network_.numRegistered(self_) != 0)
    return "memory stays registered";
  return worker_->numRefused() != 0 ? "a frame was refused" : "";
}

void RemoteRank::describe(Digest &digest) const {
  for (const MessageEnd &end : ends) {
    uint8_t flags[] = {end.isPosted, end.isOver, end.isDone};
    digest.addValue(flags);
    digest.addValue(end.memory);
  }
  for (const Plan &plan : plans_) {
    uint8_t flags[] = {plan.channels != nullptr, plan.isCanceled,
                       plan.channels && plan.channels->failed()};
    digest.addValue(flags);
  }
  uint8_t flags[] = {isDeaf_, isWaiting()};
  digest.addValue(flags);
}

} // namespace colldsl::test
