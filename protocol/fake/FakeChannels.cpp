#include "protocol/fake/FakeChannels.h"
#include "transports/Pieces.h"

#include <algorithm>
#include <numeric>

namespace colldsl::fake {

FakeEndpoint::FakeEndpoint(World &world, Rank self) : world_(world), self_(self) {
  const Options &options = world.options_;
  caps_.name = "fake";
  caps_.bufferedSendBytes = options.synchronous ? 0 : options.bufferedSendBytes;
  caps_.batches = options.batches;
}

FakeEndpoint::~FakeEndpoint() {
  std::lock_guard lock(world_.mutex_);
  world_.left_[index(self_)] = plans_;
  world_.changed_.notify_all();
}

Result<std::unique_ptr<Channels>> FakeEndpoint::open(const OpenRequest &request) {
  std::unique_lock lock(world_.mutex_);
  uint32_t plan = plans_++;
  for (const EdgeSpec &edge : request.out)
    world_.join(plan, self_, edge, true);
  for (const EdgeSpec &edge : request.in)
    world_.join(plan, self_, edge, false);
  ++world_.plans_[plan].opened;
  world_.checkPlan(plan);
  world_.checkPresence(plan);
  if (world_.plans_[plan].failed)
    return Status::error(world_.plans_[plan].fault.reason);
  auto channels = std::make_unique<FakeChannels>(world_, self_, plan, request.out, request.in);
  lock.unlock(); // which closing the channels takes, too
  if (Status own = request.ready ? request.ready(*channels) : Status(); !own) {
    channels->abort({self_, kNoOp, "rank " + std::to_string(index(self_)) + ": " + own.message()});
    return own;
  }
  return std::unique_ptr<Channels>(std::move(channels));
}

void FakeEndpoint::refuse(const std::string &reason) {
  std::lock_guard lock(world_.mutex_);
  uint32_t plan = plans_++;
  world_.failPlan(plan, {self_, kNoOp, "rank " + std::to_string(index(self_)) + ": " + reason});
  ++world_.plans_[plan].opened;
}

void FakeEndpoint::sleep(WakeupEpoch, std::chrono::nanoseconds atMost) {
  std::unique_lock lock(world_.mutex_);
  // Virtual time goes on with polls only, so no thread sleeps for long.
  world_.changed_.wait_for(
      lock, std::min<std::chrono::nanoseconds>(atMost, std::chrono::microseconds(50)));
}

FakeChannels::FakeChannels(World &world, Rank self, uint32_t plan, std::span<const EdgeSpec> out,
                           std::span<const EdgeSpec> in)
    : world_(world), self_(self), plan_(plan) {
  for (const EdgeSpec &edge : out)
    out_.push_back(&world.edge(plan, self, edge.peer));
  for (const EdgeSpec &edge : in) {
    in_.push_back(&world.edge(plan, edge.peer, self));
    wanted_.emplace_back(edge.messages.size());
  }
}

FakeChannels::~FakeChannels() {
  cancel();
  std::lock_guard lock(world_.mutex_);
  for (World::Edge *edge : out_)
    edge->senderClosed = true;
  for (World::Edge *edge : in_)
    edge->receiverClosed = true;
  world_.changed_.notify_all();
}

void FakeChannels::start() { ++run_; }

Posted FakeChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  std::lock_guard lock(world_.mutex_);
  World::Edge &edge = *out_[slot.edge];
  Fault fault;
  if (!world_.allowed(self_, plan_, edge.to, op, fault)) {
    fail(fault);
    return Posted::Failed;
  }
  const Options &options = world_.options_;
  unflushedPolls_ = options.flushPolls;
  World::InFlight message{run_, slot.message, op, world_.ticks_, true, payload, {}};
  message.dueTick += world_.random(options.maxDelayTicks + uint64_t{1});
  message.senderWaits = options.synchronous || payload.bytes > options.bufferedSendBytes;
  bool waits = message.senderWaits;
  if (!waits) {
    message.copy.resize(payload.bytes);
    gather(message.copy.data(), payload, 0, payload.bytes);
  }
  if (holds_)
    kept_.emplace_back(&edge, std::move(message));
  else
    world_.launch(edge, std::move(message));
  if (waits)
    return Posted::Pending;
  if (!options.reorder || world_.random(2) == 0)
    return Posted::Done;
  edge.sent.push_back({op, payload.bytes});
  return Posted::Pending;
}

void FakeChannels::push() {
  std::lock_guard lock(world_.mutex_);
  pushHeld();
}

void FakeChannels::pushHeld() {
  holds_ = false;
  for (auto &[edge, message] : kept_)
    world_.launch(*edge, std::move(message));
  kept_.clear();
}

Posted FakeChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  std::lock_guard lock(world_.mutex_);
  Fault fault;
  if (!world_.allowed(self_, plan_, in_[slot.edge]->from, op, fault)) {
    fail(fault);
    return Posted::Failed;
  }
  wanted_[slot.edge][slot.message] = {true, op, payload};
  return Posted::Pending;
}

void FakeChannels::sortOutFinished(World::Edge &edge) {
  done_.insert(done_.end(), edge.sent.begin(), edge.sent.end());
  edge.sent.clear();
}

// False: this message cannot be received yet.
bool FakeChannels::deliver(World::Edge &edge, size_t position, std::vector<Wanted> &wanted) {
  World::InFlight &message = edge.inFlight[position];
  Wanted &want = wanted[message.message];
  if (message.run != run_ || message.dueTick > world_.ticks_ || !want.posted)
    return false;
  if (!accepts(want.payload, message.source.bytes)) {
    fail(sizeMismatch(edge.from, want.op, want.payload, message.source.bytes));
    return false;
  }
  if (message.senderWaits) {
    copyPieces(want.payload, message.source, message.source.bytes);
    edge.sent.push_back({message.sendOp, message.source.bytes});
  } else {
    scatter(want.payload, 0, message.copy.data(), message.copy.size());
  }
  done_.push_back({want.op, message.source.bytes});
  want.posted = false;
  edge.inFlight.erase(edge.inFlight.begin() + static_cast<std::ptrdiff_t>(position));
  if (!edge.waiting.empty()) {
    edge.inFlight.push_back(std::move(edge.waiting.front()));
    edge.waiting.pop_front();
  }
  world_.changed_.notify_all();
  return true;
}

void FakeChannels::receive(World::Edge &edge, std::vector<Wanted> &wanted) {
  const Options &options = world_.options_;
  if (options.slotsPerEdge != 0 || !options.reorder) {
    for (size_t i = 0; i < edge.inFlight.size();)
      if (!deliver(edge, i, wanted)) {
        if (options.slotsPerEdge != 0)
          return; // the oldest blocks the edge
        ++i;
      }
    return;
  }
  // A random one now and then, so that messages overtake each other.
  for (size_t tries = edge.inFlight.size(); tries > 0 && !edge.inFlight.empty(); --tries)
    deliver(edge, world_.random(edge.inFlight.size()), wanted);
}

std::span<const Completion> FakeChannels::poll() {
  std::lock_guard lock(world_.mutex_);
  done_.clear();
  pushHeld();
  ++world_.ticks_;
  unflushedPolls_ -= unflushedPolls_ > 0;
  if (world_.dead_[index(self_)]) {
    fail(deathOf(self_));
    return done_;
  }
  for (size_t i = 0; i < in_.size(); ++i)
    receive(*in_[i], wanted_[i]);
  for (World::Edge *edge : out_)
    sortOutFinished(*edge);
  if (world_.options_.reorder)
    std::shuffle(done_.begin(), done_.end(), world_.generator_);
  return done_;
}

// A receive is posted whose sender has closed the plan and left nothing behind, or a
// send waits for a receiver that has.
bool FakeChannels::deserted() const {
  for (size_t i = 0; i < in_.size(); ++i)
    for (uint32_t m = 0; m < wanted_[i].size(); ++m) {
      auto isIt = [&](const World::InFlight &f) { return f.run == run_ && f.message == m; };
      if (wanted_[i][m].posted && in_[i]->senderClosed &&
          std::none_of(in_[i]->inFlight.begin(), in_[i]->inFlight.end(), isIt) &&
          std::none_of(in_[i]->waiting.begin(), in_[i]->waiting.end(), isIt))
        return true;
    }
  return std::any_of(out_.begin(), out_.end(), [](const World::Edge *edge) {
    return edge->receiverClosed && std::any_of(edge->inFlight.begin(), edge->inFlight.end(),
                                               [](const auto &f) { return f.senderWaits; });
  });
}

bool FakeChannels::check() {
  std::lock_guard lock(world_.mutex_);
  for (uint32_t r = 0; r < world_.numRanks_; ++r)
    if (world_.dead_[r])
      fail(deathOf(Rank{r}));
  if (!failed() && deserted())
    world_.failPlan(plan_, {kNoRank, kNoOp, "a peer has closed the plan"});
  world_.checkPresence(plan_);
  if (world_.plans_[plan_].failed)
    fail(world_.plans_[plan_].fault);
  return !failed();
}

Rank FakeChannels::findGone() {
  std::lock_guard lock(world_.mutex_);
  for (const World::Edge *edge : out_)
    if (edge->receiverClosed)
      return edge->to;
  for (const World::Edge *edge : in_)
    if (edge->senderClosed)
      return edge->from;
  return kNoRank;
}

void FakeChannels::abort(const Fault &fault) {
  std::lock_guard lock(world_.mutex_);
  fail(fault);
  world_.failPlan(plan_, fault);
}

void FakeChannels::cancel() {
  std::lock_guard lock(world_.mutex_);
  for (World::Edge *edge : out_) {
    std::erase_if(edge->inFlight, [](const auto &m) { return m.senderWaits; });
    std::erase_if(edge->waiting, [](const auto &m) { return m.senderWaits; });
  }
}

OpId FakeChannels::openOp(Rank peer) const {
  std::lock_guard lock(world_.mutex_);
  for (size_t i = 0; i < in_.size(); ++i)
    for (const Wanted &want : wanted_[i])
      if (want.posted && (peer == kNoRank || peer == in_[i]->from))
        return want.op;
  for (const World::Edge *edge : out_)
    for (const World::InFlight &message : edge->inFlight)
      if (message.senderWaits && (peer == kNoRank || peer == edge->to))
        return message.sendOp;
  return kNoOp;
}

} // namespace colldsl::fake
