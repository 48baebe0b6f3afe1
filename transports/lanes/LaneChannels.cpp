#include "transports/lanes/LaneChannels.h"

#include <algorithm>

namespace colldsl::lanes {
namespace {

// Looking how far a peer is takes its line away from it.
constexpr uint32_t kChecksPerDoubt = 16;
// Room is made for what peers send that are so many runs ahead, the run at hand included.
constexpr uint32_t kRunsAhead = 2;

} // namespace

LaneChannels::LaneChannels(LaneEndpoint &endpoint, uint32_t stream)
    : endpoint_(endpoint), stream_(stream), plan_(streamId(endpoint.group_.context, stream)),
      run_(endpoint.numbersRuns() ? *endpoint.group_.runs.next : 0) {
  tally_.collects = true;
}

LaneChannels::~LaneChannels() {
  auto held = endpoint_.hold();
  Lanes &lanes = endpoint_.lanes_;
  cancelHeld();
  if (reservedBytes_)
    for (size_t e = 0; e < in_.receivers.size(); ++e)
      in_.receivers[e]->unreserve(kRunsAhead * in_.numMessages(e));
  endpoint_.closed(stream_);
  if (endpoint_.numbersRuns()) { // others may use the stream
    if (failed())
      lanes.refuseRun(plan_, run_);
    return;
  }
  for (Rank peer : peers_) {
    lanes.receiver(endpoint_.onMachine(peer)).close(plan_);
    if (LaneSender *sender = lanes.sender(endpoint_.onMachine(peer)))
      sender->close(endpoint_.group_.context, stream_);
  }
}

void LaneChannels::cancel() {
  auto held = endpoint_.hold();
  cancelHeld();
}

void LaneChannels::cancelHeld() {
  if (tally_.open != 0)
    endpoint_.lanes_.forget(tally_);
  tally_.open = 0;
}

void LaneChannels::addEdges(Side &side, std::span<const EdgeSpec> edges) {
  for (const EdgeSpec &edge : edges) {
    side.first.push_back(static_cast<uint32_t>(side.ends.size()));
    if (std::find(peers_.begin(), peers_.end(), edge.peer) == peers_.end())
      peers_.push_back(edge.peer);
    for (uint32_t m = 0; m < edge.messages.size(); ++m) {
      End end;
      end.key = {endpoint_.group_.context, stream_, 0, m};
      end.tally = &tally_;
      if (!edge.ways.empty()) {
        end.mover = edge.ways[m].mover;
        end.protocol = edge.ways[m].protocol;
      }
      end.peer = edge.peer;
      side.ends.push_back(end);
    }
  }
}

Status LaneChannels::connect(const OpenRequest &request) {
  auto held = endpoint_.hold();
  addEdges(out_, request.out);
  addEdges(in_, request.in);
  done_.reserve(out_.ends.size() + in_.ends.size());
  for (Rank peer : peers_) // of all: check() allocates nothing
    endpoint_.lanes_.receiver(endpoint_.onMachine(peer)).open();
  for (const EdgeSpec &edge : request.in)
    in_.receivers.push_back(&endpoint_.lanes_.receiver(endpoint_.onMachine(edge.peer)));
  for (const EdgeSpec &edge : request.out) {
    out_.senders.push_back(endpoint_.lanes_.sender(endpoint_.onMachine(edge.peer)));
    if (!out_.senders.back())
      return noRoomFor(edge.peer);
  }
  return {};
}

Status LaneChannels::prepare(const Work &work) {
  tally_.loadKiB = static_cast<uint32_t>(std::min<uint64_t>(work.movedBytes >> 10, UINT32_MAX));
  // A group that numbers the runs of its plans has many, and lets what comes early allocate.
  if (endpoint_.numbersRuns() || (reservedBytes_ && work.maxBytes <= *reservedBytes_))
    return {};
  auto held = endpoint_.hold();
  for (size_t e = 0; e < in_.receivers.size(); ++e)
    in_.receivers[e]->reserve(reservedBytes_ ? 0 : kRunsAhead * in_.numMessages(e), work.maxBytes);
  if (work.maxBytes > endpoint_.lanes_.options().eagerBytes)
    for (size_t e = 0; e < out_.senders.size(); ++e)
      out_.senders[e]->reserve(std::min(out_.numMessages(e), kTicketsAtOnce));
  reservedBytes_ = work.maxBytes;
  return {};
}

// Others may have told of this run before this rank was there.
void LaneChannels::start() {
  run_ = endpoint_.numbersRuns() ? *endpoint_.group_.runs.next : run_ + 1;
  if (endpoint_.numbersRuns())
    reportsSeen_ = 0;
}

LaneChannels::End &LaneChannels::openEnd(Side &side, MessageSlot slot, OpId op,
                                         const Payload &payload) {
  End &end = endFor(side, slot, payload);
  end.tag = index(op);
  end.isOpen = true;
  return end;
}

Posted LaneChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  auto held = endpoint_.hold();
  End &end = openEnd(out_, slot, op, payload);
  LaneSender &sender = *out_.senders[slot.edge];
  if (sender.sendNow(end)) {
    end.isOpen = false;
    return Posted::Done;
  }
  sender.post(end);
  return afterPost(end);
}

Posted LaneChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  return recv(slot, op, payload, nullptr);
}

Posted LaneChannels::recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                                   CombiningTarget &target) {
  return recv(slot, op, payload, &target);
}

Posted LaneChannels::recv(MessageSlot slot, OpId op, const Payload &payload,
                          CombiningTarget *target) {
  auto held = endpoint_.hold();
  End &end = openEnd(in_, slot, op, payload);
  LaneReceiver &receiver = *in_.receivers[slot.edge];
  end.combining = target && receiver.mayCombine(payload, *target) ? target : nullptr;
  if (payload.bytes == 0 && !payload.always) {
    ++tally_.open;
    end.moved = 0;
    end.finish();
  } else if (!payload.upTo && receiver.recvNow(end)) {
    end.isOpen = false;
    return Posted::Done;
  } else {
    receiver.post(end);
  }
  return afterPost(end);
}

bool LaneChannels::sendNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  auto held = endpoint_.hold();
  return out_.senders[slot.edge]->sendNow(endFor(out_, slot, payload));
}

bool LaneChannels::recvNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  auto held = endpoint_.hold();
  return in_.receivers[slot.edge]->recvNow(endFor(in_, slot, payload));
}

// What was done at once is the newest of those that are finished.
Posted LaneChannels::afterPost(End &end) {
  if (tally_.mismatched) {
    failOf(static_cast<End &>(*tally_.mismatched));
    return Posted::Failed;
  }
  if (tally_.finished != &end || end.payload.upTo)
    return Posted::Pending;
  tally_.finished = end.next;
  end.isOpen = false;
  return Posted::Done;
}

void LaneChannels::takeFinished() {
  if (told_)
    done_.clear();
  told_ = false;
  for (Message *m = tally_.finished; m; m = m->next) {
    static_cast<End &>(*m).isOpen = false;
    if (m != tally_.mismatched)
      done_.push_back({OpId{m->tag}, m->moved});
  }
  tally_.finished = nullptr;
  if (tally_.mismatched)
    failOf(static_cast<End &>(*tally_.mismatched));
}

std::span<const Completion> LaneChannels::poll() {
  auto held = endpoint_.hold();
  endpoint_.lanes_.poll();
  takeFinished();
  told_ = true;
  if (tally_.open != 0)
    hearNews();
  return done_;
}

// Whoever reports something wakes all, but wants no answer: what it was is seen at once.
void LaneChannels::hearNews() {
  uint32_t reports = endpoint_.lanes_.world().numReports();
  if (reports == reportsSeen_)
    return;
  reportsSeen_ = reports;
  if (std::optional<Fault> fault = findFailure())
    fail(std::move(*fault));
}

// If the plan failed elsewhere before, that is the reason for what happens here.
void LaneChannels::failOf(const End &end) {
  std::optional<Fault> earlier = findFailure();
  fail(earlier ? std::move(*earlier)
               : sizeMismatch(end.peer, OpId{end.tag}, end.payload, end.moved));
}

// Ranks of the world are those of the machine. Who is none of the group may die.
std::optional<Fault> LaneChannels::findFailure() const {
  const shm::World &world = endpoint_.lanes_.world();
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

bool LaneChannels::check() {
  if (failed())
    return false;
  endpoint_.lanes_.health().look();
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
std::optional<Fault> LaneChannels::findDeserted() {
  auto held = endpoint_.hold();
  Lanes &lanes = endpoint_.lanes_;
  bool doubts = endpoint_.numbersRuns() && ++checks_ % kChecksPerDoubt == 0;
  for (Rank peer : peers_) {
    Rank rank = endpoint_.onMachine(peer);
    bool isOver = doubts && findOpen(peer) &&
                  lanes.book()->isOver(rank, {endpoint_.group_.context, stream_, run_, 0});
    bool isGone = lanes.receiver(rank).hasClosed(plan_) || lanes.world().hasLeft(rank);
    if (!(isOver || isGone) || !findOpen(peer))
      continue;
    lanes.poll();
    takeFinished();
    const End *end = findOpen(peer);
    if (end && isOver)
      return endedWithout(peer, OpId{end->tag}, end->payload);
    if (end)
      return Fault{peer, OpId{end->tag},
                   "rank " + std::to_string(index(peer)) + " has closed the plan"};
  }
  return std::nullopt;
}

const LaneChannels::End *LaneChannels::findOpen(Rank peer) const {
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.isOpen && (peer == kNoRank || peer == end.peer))
        return &end;
  return nullptr;
}

OpId LaneChannels::openOp(Rank peer) const {
  const End *end = findOpen(peer);
  return end ? OpId{end->tag} : kNoOp;
}

void LaneChannels::abort(const Fault &fault) {
  fail(fault);
  if (findFailure())
    return; // all know already
  endpoint_.report(plan_, run_, fault);
}

} // namespace colldsl::lanes
