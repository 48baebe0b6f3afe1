#include "protocol/PlanChannels.h"

#include <algorithm>

namespace colldsl::protocol {
namespace {

// Reading how far a peer is takes its cache line away from it.
constexpr uint32_t kChecksPerProbe = 16;
// Room is made for what peers send that are so many runs ahead, the run at hand included.
constexpr uint32_t kRunsAhead = 2;

} // namespace

PlanChannels::PlanChannels(PlanEndpoint &endpoint, uint32_t stream)
    : endpoint_(endpoint), stream_(stream), plan_(streamId(endpoint.group_.context, stream)),
      run_(endpoint.numbersRuns() ? *endpoint.group_.runs.next : 0) {
  counter_.collects = true;
}

PlanChannels::~PlanChannels() {
  auto held = endpoint_.hold();
  Worker &worker = endpoint_.worker_;
  cancelHeld();
  if (reservedBytes_)
    for (size_t e = 0; e < in_.receives.size(); ++e)
      in_.receives[e]->unreserve(kRunsAhead * in_.numMessages(e));
  endpoint_.closed(stream_);
  if (endpoint_.numbersRuns()) { // others may use the stream
    if (failed())
      worker.discard(RunId{plan_, run_});
    return;
  }
  for (Rank peer : peers_) {
    worker.receivesFrom(endpoint_.onMachine(peer)).closeStream(plan_);
    if (LocalSends *sends = worker.sendsTo(endpoint_.onMachine(peer)))
      sends->closeStream(endpoint_.group_.context, stream_);
  }
}

void PlanChannels::cancel() {
  auto held = endpoint_.hold();
  cancelHeld();
}

void PlanChannels::cancelHeld() {
  if (counter_.outstanding != 0)
    endpoint_.worker_.cancel(counter_);
  counter_.outstanding = 0;
}

void PlanChannels::addEdges(Side &side, std::span<const EdgeSpec> edges) {
  for (const EdgeSpec &edge : edges) {
    side.first.push_back(static_cast<uint32_t>(side.ends.size()));
    if (std::find(peers_.begin(), peers_.end(), edge.peer) == peers_.end())
      peers_.push_back(edge.peer);
    for (uint32_t m = 0; m < edge.messages.size(); ++m) {
      End end;
      end.tag = {endpoint_.group_.context, stream_, 0, m};
      end.counter = &counter_;
      if (!edge.ways.empty()) {
        end.mover = edge.ways[m].mover;
        end.protocol = edge.ways[m].protocol;
      }
      end.peer = edge.peer;
      side.ends.push_back(end);
    }
  }
}

Status PlanChannels::connect(const OpenRequest &request) {
  auto held = endpoint_.hold();
  addEdges(out_, request.out);
  addEdges(in_, request.in);
  done_.reserve(out_.ends.size() + in_.ends.size());
  for (Rank peer : peers_) // of all: check() allocates nothing
    endpoint_.worker_.receivesFrom(endpoint_.onMachine(peer)).openStream();
  for (const EdgeSpec &edge : request.in)
    in_.receives.push_back(&endpoint_.worker_.receivesFrom(endpoint_.onMachine(edge.peer)));
  for (const EdgeSpec &edge : request.out) {
    out_.sends.push_back(endpoint_.worker_.sendsTo(endpoint_.onMachine(edge.peer)));
    if (!out_.sends.back())
      return noMemoryFor(edge.peer);
  }
  return {};
}

Status PlanChannels::prepare(const Work &work) {
  counter_.loadKiB = static_cast<uint32_t>(std::min<uint64_t>(work.movedBytes >> 10, UINT32_MAX));
  // A group that numbers the runs of its plans has many, and lets what comes early allocate.
  if (endpoint_.numbersRuns() || (reservedBytes_ && work.maxBytes <= *reservedBytes_))
    return {};
  auto held = endpoint_.hold();
  for (size_t e = 0; e < in_.receives.size(); ++e)
    in_.receives[e]->reserve(reservedBytes_ ? 0 : kRunsAhead * in_.numMessages(e), work.maxBytes);
  if (work.maxBytes > endpoint_.worker_.options().eagerBytes)
    for (size_t e = 0; e < out_.sends.size(); ++e)
      out_.sends[e]->reserve(std::min(out_.numMessages(e), shm::kIdsAtOnce));
  reservedBytes_ = work.maxBytes;
  return {};
}

// Others may have reported that this run failed before this rank began it.
void PlanChannels::start() {
  run_ = endpoint_.numbersRuns() ? *endpoint_.group_.runs.next : run_ + 1;
  if (endpoint_.numbersRuns())
    reportsSeen_ = 0;
}

PlanChannels::End &PlanChannels::openEnd(Side &side, MessageSlot slot, OpId op,
                                         const Payload &payload) {
  End &end = endFor(side, slot, payload);
  end.owner = index(op);
  end.isOpen = true;
  return end;
}

Posted PlanChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  auto held = endpoint_.hold();
  End &end = openEnd(out_, slot, op, payload);
  LocalSends &sends = *out_.sends[slot.edge];
  if (sends.trySend(end)) {
    end.isOpen = false;
    return Posted::Done;
  }
  sends.send(end);
  return afterPost(end);
}

Posted PlanChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  return recv(slot, op, payload, nullptr);
}

Posted PlanChannels::recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                                   CombiningTarget &target) {
  return recv(slot, op, payload, &target);
}

Posted PlanChannels::recv(MessageSlot slot, OpId op, const Payload &payload,
                          CombiningTarget *target) {
  auto held = endpoint_.hold();
  End &end = openEnd(in_, slot, op, payload);
  LocalReceives &receives = *in_.receives[slot.edge];
  end.combining = target && receives.mayCombine(payload, *target) ? target : nullptr;
  if (payload.bytes == 0 && !payload.always) {
    ++counter_.outstanding;
    end.transferred = 0;
    end.complete();
  } else if (!payload.upTo && receives.tryRecv(end)) {
    end.isOpen = false;
    return Posted::Done;
  } else {
    receives.recv(end);
  }
  return afterPost(end);
}

bool PlanChannels::sendNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  auto held = endpoint_.hold();
  return out_.sends[slot.edge]->trySend(endFor(out_, slot, payload));
}

bool PlanChannels::recvNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  auto held = endpoint_.hold();
  return in_.receives[slot.edge]->tryRecv(endFor(in_, slot, payload));
}

// A request that was completed at once is the newest of those that are.
Posted PlanChannels::afterPost(End &end) {
  if (counter_.mismatched) {
    failOf(static_cast<End &>(*counter_.mismatched));
    return Posted::Failed;
  }
  if (counter_.completed != &end || end.payload.upTo)
    return Posted::Pending;
  counter_.completed = end.next;
  end.isOpen = false;
  return Posted::Done;
}

void PlanChannels::takeCompleted() {
  if (told_)
    done_.clear();
  told_ = false;
  for (Request *m = counter_.completed; m; m = m->next) {
    static_cast<End &>(*m).isOpen = false;
    if (m != counter_.mismatched)
      done_.push_back({OpId{m->owner}, m->transferred});
  }
  counter_.completed = nullptr;
  if (counter_.mismatched)
    failOf(static_cast<End &>(*counter_.mismatched));
}

std::span<const Completion> PlanChannels::poll() {
  auto held = endpoint_.hold();
  endpoint_.worker_.progress();
  takeCompleted();
  told_ = true;
  if (counter_.outstanding != 0)
    takeReports();
  return done_;
}

// A rank that reports a failure wakes all others.
void PlanChannels::takeReports() {
  uint32_t reports = endpoint_.worker_.world().numReports();
  if (reports == reportsSeen_)
    return;
  reportsSeen_ = reports;
  if (std::optional<Fault> fault = findFailure())
    fail(std::move(*fault));
}

// If the plan failed elsewhere before, that is the reason for what happens here.
void PlanChannels::failOf(const End &end) {
  std::optional<Fault> earlier = findFailure();
  fail(earlier ? std::move(*earlier)
               : sizeMismatch(end.peer, OpId{end.owner}, end.payload, end.transferred));
}

// Ranks of the world are those of the machine. Who is none of the group may die.
std::optional<Fault> PlanChannels::findFailure() const {
  const shm::World &world = endpoint_.worker_.world();
  auto isOurs = [this](Rank rank) { return endpoint_.inGroup(rank) != kNoRank; };
  std::optional<Fault> fault =
      endpoint_.numbersRuns() ? world.findRunFailure(plan_, run_) : world.findFailure(plan_);
  if (!fault)
    fault = world.findDeath(isOurs);
  if (!fault)
    fault = world.findFailureOfAll();
  if (!fault || fault->peer == kNoRank)
    return fault;
  if (!isOurs(fault->peer))
    return std::nullopt;
  Rank place = endpoint_.inGroup(fault->peer);
  if (fault->reason == shm::reasonOfDeath(fault->peer))
    fault->reason = shm::reasonOfDeath(place);
  fault->peer = place;
  return fault;
}

bool PlanChannels::check() {
  if (failed())
    return false;
  endpoint_.worker_.health().look();
  std::optional<Fault> fault = findFailure();
  std::optional<Fault> deserted = fault ? std::nullopt : findDeserted();
  if (deserted)
    fault = findFailure(); // why it left is told before
  if (fault)
    fail(std::move(*fault));
  else if (deserted) // others wait for us who do not know that peer
    abort(*deserted);
  return !failed();
}

// A peer that closed the plan, left, or is over with the run, while this rank still needs it. What
// it had to say it said before: so look once more.
std::optional<Fault> PlanChannels::findDeserted() {
  auto held = endpoint_.hold();
  Worker &worker = endpoint_.worker_;
  bool probes = endpoint_.numbersRuns() && ++checks_ % kChecksPerProbe == 0;
  for (Rank peer : peers_) {
    Rank rank = endpoint_.onMachine(peer);
    bool isOver =
        probes && findOpen(peer) &&
        worker.progressTable()->isOver(rank, {endpoint_.group_.context, stream_, run_, 0});
    bool isGone = worker.receivesFrom(rank).hasClosed(plan_) || worker.world().hasLeft(rank);
    if (!(isOver || isGone) || !findOpen(peer))
      continue;
    worker.progress();
    takeCompleted();
    const End *end = findOpen(peer);
    if (end && isOver)
      return endedWithout(peer, OpId{end->owner}, end->payload);
    if (end)
      return Fault{peer, OpId{end->owner},
                   "rank " + std::to_string(index(peer)) + " has closed the plan"};
  }
  return std::nullopt;
}

const PlanChannels::End *PlanChannels::findOpen(Rank peer) const {
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.isOpen && (peer == kNoRank || peer == end.peer))
        return &end;
  return nullptr;
}

OpId PlanChannels::openOp(Rank peer) const {
  const End *end = findOpen(peer);
  return end ? OpId{end->owner} : kNoOp;
}

void PlanChannels::abort(const Fault &fault) {
  fail(fault);
  if (findFailure())
    return; // all know already
  endpoint_.report(plan_, run_, fault);
}

} // namespace colldsl::protocol
