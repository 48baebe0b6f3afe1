#include "protocol/fake/FakeChannels.h"

namespace colldsl::fake {

Fault deathOf(Rank rank, OpId op) {
  return {rank, op, "rank " + std::to_string(index(rank)) + " died", ErrorKind::RankDied};
}

World::World(uint32_t numRanks, Options options)
    : numRanks_(numRanks), options_(options), generator_(options.seed), startedBy_(numRanks),
      dead_(numRanks), left_(numRanks) {}

std::unique_ptr<Endpoint> World::attach(Rank rank) {
  std::lock_guard lock(mutex_);
  left_[index(rank)].reset();
  return std::make_unique<FakeEndpoint>(*this, rank);
}

World::Edge &World::edge(uint32_t plan, Rank from, Rank to) {
  Edge &e = plans_[plan].edges[{from, to}];
  e.from = from;
  e.to = to;
  return e;
}

void World::join(uint32_t plan, Rank self, const EdgeSpec &spec, bool sends) {
  if (index(spec.peer) >= numRanks_)
    return failPlan(plan, {self, kNoOp, "there is no rank " + std::to_string(index(spec.peer))});
  Edge &e = sends ? edge(plan, self, spec.peer) : edge(plan, spec.peer, self);
  bool first = !e.hasSender && !e.hasReceiver;
  (sends ? e.hasSender : e.hasReceiver) = true;
  if (first)
    e.messages = spec.messages;
  else if (e.messages != spec.messages)
    failPlan(plan, {spec.peer, kNoOp,
                    "rank " + std::to_string(index(e.from)) + " and rank " +
                        std::to_string(index(e.to)) + " disagree on the messages between them"});
}

// Once all ranks are in, an edge that only one end knows is an error.
void World::checkPlan(uint32_t plan) {
  Plan &p = plans_[plan];
  if (p.opened < numRanks_)
    return;
  for (auto &[ends, e] : p.edges)
    if (e.hasSender != e.hasReceiver)
      failPlan(plan, {e.hasSender ? e.to : e.from, kNoOp,
                      "rank " + std::to_string(index(e.from)) + " and rank " +
                          std::to_string(index(e.to)) + " disagree: one of them has no edge"});
}

// Ranks open plans in the same order, so the first that a gone rank lacks is known.
void World::checkPresence(uint32_t plan) {
  for (uint32_t r = 0; r < numRanks_; ++r)
    if (left_[r] && *left_[r] <= plan)
      failPlan(plan,
               {Rank{r}, kNoOp, "rank " + std::to_string(r) + " ended without opening the plan"});
}

void World::failPlan(uint32_t plan, const Fault &fault) {
  Plan &p = plans_[plan];
  if (!p.failed)
    p.fault = {fault.peer, kNoOp, fault.reason, fault.kind};
  p.failed = true;
  changed_.notify_all();
}

// Counts a message that `self` starts; false if it must fail.
bool World::allowed(Rank self, uint32_t plan, Rank peer, OpId op, Fault &fault) {
  ++started_;
  if (self == options_.dropRank && ++startedBy_[index(self)] >= options_.dropAt)
    dead_[index(self)] = true;
  if (dead_[index(self)]) {
    fault = deathOf(self, op);
    changed_.notify_all();
    return false;
  }
  if (started_ == options_.failAt)
    fault = {peer, op, "injected fault"};
  return started_ != options_.failAt;
}

void World::launch(Edge &e, InFlight message) {
  bool room = options_.slotsPerEdge == 0 || e.inFlight.size() < options_.slotsPerEdge;
  (room && e.waiting.empty() ? e.inFlight : e.waiting).push_back(std::move(message));
  changed_.notify_all();
}

} // namespace colldsl::fake
