#include "protocol/remote/RemoteChannels.h"

#include "protocol/open/PlanTerms.h"

namespace colldsl::protocol {

using network::ProbeBody;
using network::Progress;

namespace {

// A put by a peer may be notified after the peer has closed the plan.
constexpr std::chrono::nanoseconds kGrace = std::chrono::milliseconds(10);
constexpr uint32_t kIdlePollsPerProgress = 16;
// Longer than another process keeps a shared core.
constexpr std::chrono::nanoseconds kProbeInterval = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kMaxProbeInterval = std::chrono::seconds(3);

} // namespace

Status RemoteChannels::connect(const OpenRequest &request) {
  if (Status s = PlanChannels::connect(request); !s)
    return s;
  auto held = endpoint_.hold();
  for (Rank peer : peers_)
    ranks_.push_back(endpoint_.group().rankAt(peer));
  if (endpoint_.worker().transport().capabilities().holdsFrames)
    for (Rank rank : ranks_)
      flushed_.push_back(&endpoint_.worker().peer(rank));
  fromDevice_.reserve(out_.ends.size());
  addMulticasts();
  if (!numbersRuns()) // else the stream is that of several plans
    terms_ = request.terms;
  for (Rank rank : ranks_)
    if (!terms_.empty() && rank != endpoint_.worker().rank())
      endpoint_.worker().sendTerms(rank, plan_, terms_);
  endpoint_.worker().addUser(plan_, *this);
  return {};
}

RemoteChannels::~RemoteChannels() {
  auto held = endpoint_.hold();
  cancelAll();
  for (size_t e = 0; e < in_.receives.size(); ++e)
    for (uint32_t m = 0; m < in_.numMessages(e); ++m)
      in_.receives[e]->wire().endStatic(in_.ends[in_.first[e] + m].payload);
  endpoint_.worker().removeUser(plan_, *this);
}

void RemoteChannels::cancel() {
  auto held = endpoint_.hold();
  cancelAll();
}

// The transport keeps copies of messages to several ranks, so that they may end here at once.
void RemoteChannels::cancelAll() {
  if (std::exchange(isCancelled_, true))
    return;
  cancelHeld();
  for (MulticastRequest &request : multicasts_) {
    if (request.state == MulticastRequest::State::ToSend)
      for (const End *end : request.ends)
        endpoint_.worker().am().leaveWindow(
            endpoint_.worker().peer(endpoint_.group().rankAt(end->peer)),
            request.first->payload.bytes);
    if (request.state == MulticastRequest::State::Sending ||
        request.state == MulticastRequest::State::Sent)
      multicast().release(request.group);
    request.state = MulticastRequest::State::Idle;
  }
  endpoint_.worker().moveMulticasts(*this, false);
  for (Side *side : {&out_, &in_})
    for (End &end : side->ends)
      endpoint_.expectNoMore(end);
}

// A new RTR would come in no order with the messages that announce the run.
Status RemoteChannels::mayReceive(MessageSlot slot, const Payload &payload) const {
  const End &end = in_.ends[in_.first[slot.edge] + slot.message];
  const network::RegisteredMemory &memory = end.state.memory;
  iovec given = spanOf(payload);
  bool isSame = payload.count == 1 && given.iov_base == memory.of.iov_base &&
                given.iov_len == memory.of.iov_len;
  if (!memory.stays || !memory.isAnnounced || isSame)
    return {};
  return Status::error("an announced message from rank " + std::to_string(index(end.peer)) +
                       " has " + std::to_string(memory.of.iov_len) +
                       " bytes at an address that its sender knows, and now would have " +
                       std::to_string(given.iov_len) + " bytes" +
                       (given.iov_base == memory.of.iov_base ? "" : " at another address") +
                       "; open another plan for other buffers");
}

void RemoteChannels::start() {
  PlanChannels::start();
  nextProbe_ = {};
  mayBeUnwanted_ = false;
  if (!numbersRuns()) { // a rank that only sends looks for failures nowhere else
    auto held = endpoint_.hold();
    takeReports();
  }
}

// If the receiver sent an early RTR for the last run, the one for this run may be here: progress()
// takes it.
Posted RemoteChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always) {
    endAt(out_, slot).state.skippedRun = run_;
    return Posted::Done;
  }
  auto held = endpoint_.hold();
  return post(slot, op, payload, nullptr);
}

Posted RemoteChannels::sendFromDevice(MessageSlot slot, OpId op, const Payload &payload,
                                      DevicePayload &device) {
  auto held = endpoint_.hold();
  Posted posted = post(slot, op, payload, &device);
  if (posted == Posted::Pending)
    fromDevice_.push_back(&endAt(out_, slot));
  return posted;
}

void RemoteChannels::sendFromHost(MessageSlot slot) {
  auto held = endpoint_.hold();
  End &end = endAt(out_, slot);
  end.payload.device = nullptr;
  out_.sends[slot.edge]->sendHeld(end);
}

Posted RemoteChannels::post(MessageSlot slot, OpId op, const Payload &payload,
                            DevicePayload *device) {
  End &end = openEnd(out_, slot, op, payload);
  end.state.isProbed = false;
  end.payload.device = device;
  end.holdsFragments = device != nullptr;
  if (end.state.memory.usesEarlyRtr && !out_.sends[slot.edge]->wire().hasEarlyRtr(end.tag))
    endpoint_.worker().progress();
  if (end.state.multicast && gather(slot, end))
    return Posted::Pending;
  return PlanChannels::send(slot, end);
}

bool RemoteChannels::sendNow(MessageSlot slot, const Payload &payload) {
  bool isAlone = (payload.bytes != 0 || payload.always) && !endAt(out_, slot).state.multicast;
  return isAlone && PlanChannels::sendNow(slot, payload);
}

Posted RemoteChannels::recvIntoDevice(MessageSlot slot, OpId op, const Payload &payload,
                                      DevicePayload &device) {
  auto held = endpoint_.hold();
  End &end = openEnd(in_, slot, op, payload);
  end.state.isProbed = false;
  end.payload.device = &device;
  device.isUsed = false;
  return PlanChannels::recv(slot, end);
}

Posted RemoteChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  End &end = endAt(in_, slot);
  end.state.isProbed = false;
  if (payload.bytes == 0 && !payload.always) {
    end.state.skippedRun = run_;
    mayBeUnwanted_ = true;
  }
  return PlanChannels::recv(slot, op, payload);
}

void RemoteChannels::hold() {
  auto held = endpoint_.hold();
  endpoint_.worker().transport().hold();
}

void RemoteChannels::push() {
  auto held = endpoint_.hold();
  endpoint_.worker().transport().push();
}

// A look at a network is a system call. If a group numbers its runs, this plan is one of several,
// and others look too.
std::span<const Completion> RemoteChannels::poll() {
  auto held = endpoint_.hold();
  for (MulticastRequest &request : multicasts_)
    if (request.state == MulticastRequest::State::Gathering && request.gathered != 0)
      split(request);
  bool isIdle = numbersRuns() && counter_.outstanding == 0 && hasSentAll();
  PlanChannels::poll(!isIdle || ++idlePolls_ % kIdlePollsPerProgress == 0);
  if (!fromDevice_.empty())
    reportHeld();
  return done_;
}

// Reports each send once.
void RemoteChannels::reportHeld() {
  std::erase_if(fromDevice_, [&](const End *end) {
    if (end->isOpen && end->isHeld)
      done_.push_back({OpId{end->owner}, 0, true});
    return !end->isOpen || end->isHeld;
  });
}

bool RemoteChannels::isFlushed() const {
  if (flushed_.empty())
    return true;
  auto held = endpoint_.hold();
  return hasSentAll();
}

bool RemoteChannels::hasSentAll() const {
  const network::ActiveMessages &am = endpoint_.worker().am();
  return std::all_of(flushed_.begin(), flushed_.end(),
                     [&](const network::Peer *peer) { return am.hasSent(*peer); });
}

bool RemoteChannels::check() {
  if (failed())
    return false;
  auto held = endpoint_.hold();
  endpoint_.worker().checkPeers();
  if (std::optional<Fault> fault = findFailure()) {
    fail(std::move(*fault));
  } else if (std::optional<Fault> unwanted = findUnwanted()) {
    abortHeld(*unwanted);
  } else if (isDeserted()) {
    Rank peer = findDeserted();
    abortHeld({peer, openOp(peer), "rank " + std::to_string(index(peer)) + " has closed the plan"});
  }
  return !failed();
}

void RemoteChannels::abortHeld(const Fault &fault) {
  fail(fault);
  endpoint_.report(plan_, run_, fault);
}

// Terms come before all else that the peer sends in the stream, so that this rank receives no
// message of another plan.
void RemoteChannels::onTerms(Rank from, std::string_view terms) {
  Rank peer = endpoint_.group().placeOf(from);
  if (failed() || terms_.empty() || peer == kNoRank)
    return;
  Rank self = endpoint_.group().self;
  bool isFirst = index(self) < index(peer);
  Status s =
      isFirst ? compareTerms(self, terms_, peer, terms) : compareTerms(peer, terms, self, terms_);
  if (!s)
    abortHeld({peer, kNoOp, s.message()});
}

// Finds a message for an end that has no bytes. Its sender may be done with it, so that this rank
// alone can find it.
std::optional<Fault> RemoteChannels::findUnwanted() const {
  if (!mayBeUnwanted_)
    return std::nullopt;
  for (size_t e = 0; e < in_.receives.size(); ++e)
    for (uint32_t m = 0; m < in_.numMessages(e); ++m) {
      const End &end = in_.ends[in_.first[e] + m];
      if (end.state.skippedRun != run_)
        continue;
      Tag tag = end.tag;
      tag.run = run_;
      if (auto bytes = in_.receives[e]->findUnexpected(tag))
        return sizeMismatch(end.peer, OpId{end.owner}, end.payload, *bytes);
    }
  return std::nullopt;
}

bool RemoteChannels::isDeserted() {
  if (findDeserted() == kNoRank) {
    desertedAt_ = {};
    return false;
  }
  if (desertedAt_ == Clock::time_point())
    desertedAt_ = Clock::now();
  return Clock::now() - desertedAt_ > kGrace;
}

// Finds a peer that closed the plan while this rank still needs it. Its messages to several ranks
// at once may come later, and those of this rank need nothing of it.
Rank RemoteChannels::findDeserted() const {
  RemoteWorker &worker = endpoint_.worker();
  for (Rank peer : peers_) {
    Rank rank = endpoint_.group().rankAt(peer);
    if (!worker.receivesFrom(rank).hasClosed(plan_))
      continue;
    auto came = multicastsFrom_.find(rank);
    if (worker.numMulticastsBeforeClose(rank, plan_) >
        (came == multicastsFrom_.end() ? 0 : came->second))
      continue;
    for (const Side *side : {&in_, &out_})
      for (const End &end : side->ends) {
        bool isMulticast =
            end.state.multicast && end.state.multicast->state != MulticastRequest::State::Idle;
        if (end.isOpen && end.peer == peer && !isMulticast)
          return peer;
      }
  }
  return kNoRank;
}

// Null: there is no such message. Peers may name anything.
RemoteChannels::End *RemoteChannels::find(Side &side, Rank rank, uint32_t message) {
  const auto &wires = &side == &out_ ? side.sends.size() : side.receives.size();
  for (size_t e = 0; e < wires; ++e) {
    End *first = side.numMessages(e) != 0 ? &side.ends[side.first[e]] : nullptr;
    if (first && endpoint_.group().rankAt(first->peer) == rank)
      return message < side.numMessages(e) ? first + message : nullptr;
  }
  return nullptr;
}

Progress RemoteChannels::progressOf(Rank from, const Tag &tag, ProbeBody &body) {
  auto ahead = static_cast<int32_t>(tag.run - run_);
  if (End *end = find(body.sends ? in_ : out_, from, tag.message)) {
    body.multicasts = end->state.multicastFrames;
    if (end->state.skippedRun == tag.run && ahead == 0)
      return Progress::Skipped;
  }
  return !numbersRuns() && ahead < 0 ? Progress::Past : Progress::NotYet;
}

bool RemoteChannels::isUnmatched(const Side &side, size_t edge, const End &end) const {
  if (!end.isOpen)
    return false;
  return &side == &in_ ? side.receives[edge]->isUnmatched(end)
                       : side.sends[edge]->isUnanswered(end);
}

// Asks the peers about all messages of which nothing has come, ever more rarely.
void RemoteChannels::probe(Clock::time_point now) {
  if (counter_.outstanding == 0 || now < nextProbe_)
    return;
  if (nextProbe_ == Clock::time_point()) {
    probeInterval_ = kProbeInterval;
    nextProbe_ = now + probeInterval_;
    return;
  }
  probeInterval_ = std::min(2 * probeInterval_, kMaxProbeInterval);
  nextProbe_ = now + probeInterval_;
  for (Side *side : {&in_, &out_})
    for (size_t e = 0; e < side->first.size(); ++e)
      for (uint32_t m = 0; m < side->numMessages(e); ++m) {
        End &end = side->ends[side->first[e] + m];
        if (isUnmatched(*side, e, end) && !std::exchange(end.state.isProbed, true))
          endpoint_.worker().probe(endpoint_.group().rankAt(end.peer), end.tag, side == &out_);
      }
}

// The answer is behind all frames of that run. Puts come in no order with it: no later run has put
// this message, since this rank posts each receive once the one before is over. Messages to several
// ranks at once come in no order either, and their frames are counted.
void RemoteChannels::onProbeReply(Rank from, const Tag &tag, const ProbeBody &body) {
  Side &side = body.sends ? out_ : in_;
  End *end = find(side, from, tag.message);
  if (!end || tag.run != run_ || end->tag.run != run_ || !std::exchange(end->state.isProbed, false))
    return;
  size_t edge = static_cast<size_t>(
      std::upper_bound(side.first.begin(), side.first.end(), end - side.ends.data()) -
      side.first.begin() - 1);
  if (!isUnmatched(side, edge, *end))
    return;
  bool isHere = body.sends || ((body.isPut == 0 || !end->state.memory.mayBePut) &&
                               end->state.multicastFrames >= body.multicasts);
  if (body.progress == Progress::Skipped || (body.progress == Progress::Past && isHere))
    endWithout(side, edge, *end);
}

void RemoteChannels::endWithout(Side &side, size_t edge, End &end) {
  if (&side == &in_)
    side.receives[edge]->cancelUnmatched(end);
  else
    side.sends[edge]->cancelUnanswered(end);
  end.transferred = 0;
  if (!counter_.mismatched) { // one reports it for all
    counter_.mismatched = &end;
    ended_ = &end;
  }
  end.complete();
  endpoint_.wake();
}

} // namespace colldsl::protocol
