/// The messages of one plan over the connections of a worker: the part that all endpoints share.
/// Internal to endpoints.
#pragma once

#include "protocol/RankGroup.h"
#include "protocol/Request.h"
#include "transports/Pieces.h"

#include <algorithm>
#include <new>
#include <optional>

namespace colldsl::protocol {

/// E: an endpoint, as LocalEndpoint: its worker, group, guard, and reports of failures. Its Sends
/// and Receives are SendSide and ReceiveSide over its wire; EndState is the state that it keeps
/// with each end of a message.
template <typename E> class PlanChannels : public Channels {
public:
  PlanChannels(E &endpoint, uint32_t stream)
      : endpoint_(endpoint), stream_(stream), plan_(streamId(endpoint.group().context, stream)),
        run_(numbersRuns() ? *endpoint.group().runs.next : 0) {
    counter_.collects = true;
  }
  ~PlanChannels() override;

  /// Connects the edges; the endpoint's open() calls it. An error: this rank cannot open the plan,
  /// and all ranks were notified.
  Status open(const OpenRequest &request);

  Status prepare(const Work &) override { return {}; }
  void start() override;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override {
    return recv(slot, op, payload, nullptr);
  }
  Posted recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                       CombiningTarget &target) override {
    return recv(slot, op, payload, &target);
  }
  bool sendNow(MessageSlot slot, const Payload &payload) override;
  bool recvNow(MessageSlot slot, const Payload &payload) override;
  std::span<const Completion> poll() override;
  void abort(const Fault &fault) override;
  void cancel() override;
  OpId openOp(Rank peer) const override;

protected:
  /// An error: a peer cannot be reached, or no memory is left for it.
  virtual Status connect(const OpenRequest &request);

  /// One end of a message; its owner is the op.
  struct End : Request {
    Rank peer; ///< in the group
    bool isOpen = false;
    [[no_unique_address]] typename E::EndState state;
  };
  /// The ends of all edges of one direction.
  struct Side {
    std::vector<uint32_t> first;                  ///< by edge: its first end
    std::vector<End> ends;                        ///< they stay where they are
    std::vector<typename E::Sends *> sends;       ///< by edge; for edges out
    std::vector<typename E::Receives *> receives; ///< by edge; for edges in

    uint32_t numMessages(size_t edge) const {
      size_t end = edge + 1 < first.size() ? first[edge + 1] : ends.size();
      return static_cast<uint32_t>(end) - first[edge];
    }
  };

  bool numbersRuns() const { return endpoint_.group().numbersRuns(); }
  void addEdges(Side &side, std::span<const EdgeSpec> edges);
  End &endAt(Side &side, MessageSlot slot) const {
    return side.ends[side.first[slot.edge] + slot.message];
  }
  End &endFor(Side &side, MessageSlot slot, const Payload &payload) const {
    End &end = endAt(side, slot);
    end.tag.run = run_;
    end.payload = payload;
    end.payload.device = nullptr; // its state belongs to a binding, which may have ended
    end.combining = nullptr;
    return end;
  }
  Posted recv(MessageSlot slot, OpId op, const Payload &payload, CombiningTarget *target);
  End &openEnd(Side &side, MessageSlot slot, OpId op, const Payload &payload);
  Posted send(MessageSlot slot, End &end);
  Posted recv(MessageSlot slot, End &end);
  Posted afterPost(End &end);
  /// Held.
  std::span<const Completion> poll(bool progresses);
  void cancelHeld();
  void takeCompleted();
  void takeReports();
  std::optional<Fault> findFailure() const { return endpoint_.findFailure(plan_, run_); }
  void failOf(const End &end);
  const End *findOpen(Rank peer) const;

  E &endpoint_;
  uint32_t stream_;
  StreamId plan_;
  uint32_t run_; ///< the last that was started here, or the next
  uint32_t reportsSeen_ = 0;
  CompletionCounter counter_;
  Side out_, in_;
  std::vector<Rank> peers_; ///< in the group, each once
  std::vector<Completion> done_;
  bool isConnected_ = false;
  bool isIndependent_ = false; ///< a message of the wrong length waits for the others
  bool reported_ = false;      ///< the caller has seen what is in done_
  const End *ended_ = nullptr; ///< whose other end has no bytes
};

template <typename E> PlanChannels<E>::~PlanChannels() {
  auto held = endpoint_.hold();
  cancelHeld();
  endpoint_.closed(stream_);
  if (numbersRuns()) { // others may use the stream
    if (failed())
      endpoint_.worker().discard(tagOf(plan_, run_));
    return;
  }
  if (!isConnected_)
    return;
  for (Rank peer : peers_) {
    Rank rank = endpoint_.group().rankAt(peer);
    endpoint_.worker().receivesFrom(rank).closeStream(plan_);
    if (auto *sends = endpoint_.worker().sendsTo(rank))
      sends->closeStream(endpoint_.group().context, stream_);
  }
}

template <typename E> void PlanChannels<E>::cancel() {
  auto held = endpoint_.hold();
  cancelHeld();
}

template <typename E> void PlanChannels<E>::cancelHeld() {
  if (counter_.outstanding != 0)
    endpoint_.worker().cancel(counter_);
  counter_.outstanding = 0;
}

template <typename E> void PlanChannels<E>::addEdges(Side &side, std::span<const EdgeSpec> edges) {
  size_t count = 0;
  for (const EdgeSpec &edge : edges)
    count += edge.messages.size();
  side.ends = std::vector<End>(count);
  uint32_t next = 0;
  for (const EdgeSpec &edge : edges) {
    side.first.push_back(next);
    if (std::find(peers_.begin(), peers_.end(), edge.peer) == peers_.end())
      peers_.push_back(edge.peer);
    for (uint32_t m = 0; m < edge.messages.size(); ++m) {
      End &end = side.ends[next++];
      end.tag = {endpoint_.group().context, stream_, 0, m};
      end.counter = &counter_;
      end.peer = edge.peer;
      Transfer way = edge.ways.empty() ? Transfer() : edge.ways[m];
      end.mover = way.mover;
      end.protocol = way.protocol;
      endpoint_.describe(end, edge.messages[m], way);
    }
  }
}

/// The reason that a rank reports to all others, with its number in front.
inline std::string prefixed(Rank rank, const std::string &what) {
  return "rank " + std::to_string(index(rank)) + ": " + what;
}

template <typename E> Status PlanChannels<E>::open(const OpenRequest &request) {
  Status own = endpoint_.group().check(request);
  try {
    if (own)
      own = connect(request);
    if (own && request.ready)
      own = request.ready(*this);
  } catch (const std::bad_alloc &) {
    own = Status::error(ErrorKind::NoMemory, "no memory is left for the messages of a plan");
  }
  Rank self = endpoint_.group().self;
  if (!own)
    abort({self, kNoOp, prefixed(self, own.message()), own.kind()});
  return own;
}

template <typename E> Status PlanChannels<E>::connect(const OpenRequest &request) {
  auto held = endpoint_.hold();
  isIndependent_ = request.isIndependent;
  addEdges(out_, request.out);
  addEdges(in_, request.in);
  done_.reserve(out_.ends.size() + in_.ends.size());
  const RankGroup &group = endpoint_.group();
  for (const EdgeSpec &edge : request.out) {
    if (Status s = endpoint_.connect(group.rankAt(edge.peer)); !s)
      return s;
    out_.sends.push_back(endpoint_.worker().sendsTo(group.rankAt(edge.peer)));
  }
  for (const EdgeSpec &edge : request.in) {
    if (Status s = endpoint_.connectFrom(group.rankAt(edge.peer)); !s)
      return s;
    in_.receives.push_back(&endpoint_.worker().receivesFrom(group.rankAt(edge.peer)));
  }
  for (Rank peer : peers_) // of all: check() allocates nothing
    endpoint_.worker().receivesFrom(group.rankAt(peer)).openStream();
  isConnected_ = true;
  return {};
}

// Others may have reported that this run failed before this rank began it.
template <typename E> void PlanChannels<E>::start() {
  run_ = numbersRuns() ? *endpoint_.group().runs.next : run_ + 1;
  if (numbersRuns())
    reportsSeen_ = 0;
}

template <typename E>
typename PlanChannels<E>::End &PlanChannels<E>::openEnd(Side &side, MessageSlot slot, OpId op,
                                                        const Payload &payload) {
  End &end = endFor(side, slot, payload);
  end.owner = index(op);
  end.isOpen = true;
  return end;
}

template <typename E>
Posted PlanChannels<E>::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  auto held = endpoint_.hold();
  return send(slot, openEnd(out_, slot, op, payload));
}

template <typename E> Posted PlanChannels<E>::send(MessageSlot slot, End &end) {
  typename E::Sends &sends = *out_.sends[slot.edge];
  if (end.payload.fixed ? sends.trySendStatic(end) : sends.trySend(end)) {
    end.isOpen = false;
    return Posted::Done;
  }
  sends.send(end);
  return afterPost(end);
}

template <typename E>
Posted PlanChannels<E>::recv(MessageSlot slot, OpId op, const Payload &payload,
                             CombiningTarget *target) {
  auto held = endpoint_.hold();
  End &end = openEnd(in_, slot, op, payload);
  bool combines = target && in_.receives[slot.edge]->mayCombine(payload, *target);
  end.combining = combines ? target : nullptr;
  return recv(slot, end);
}

template <typename E> Posted PlanChannels<E>::recv(MessageSlot slot, End &end) {
  typename E::Receives &receives = *in_.receives[slot.edge];
  if (end.payload.bytes == 0 && !end.payload.always) {
    ++counter_.outstanding;
    end.transferred = 0;
    end.complete();
  } else if (!end.payload.upTo &&
             ((end.payload.fixed && receives.tryRecvStatic(end)) || receives.tryRecv(end))) {
    end.isOpen = false;
    return Posted::Done;
  } else {
    receives.recv(end);
  }
  return afterPost(end);
}

template <typename E> bool PlanChannels<E>::sendNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  auto held = endpoint_.hold();
  return out_.sends[slot.edge]->trySend(endFor(out_, slot, payload));
}

template <typename E> bool PlanChannels<E>::recvNow(MessageSlot slot, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return true;
  auto held = endpoint_.hold();
  return in_.receives[slot.edge]->tryRecv(endFor(in_, slot, payload));
}

// A request that was completed at once is the newest completed one.
template <typename E> Posted PlanChannels<E>::afterPost(End &end) {
  if (counter_.mismatched && !isIndependent_) {
    failOf(static_cast<End &>(*counter_.mismatched));
    return Posted::Failed;
  }
  if (counter_.completed != &end || end.payload.upTo || counter_.mismatched == &end) {
    endpoint_.expect(end);
    return Posted::Pending;
  }
  counter_.completed = end.next;
  end.isOpen = false;
  return Posted::Done;
}

template <typename E> void PlanChannels<E>::takeCompleted() {
  if (reported_)
    done_.clear();
  reported_ = false;
  for (Request *m = counter_.completed; m; m = m->next) {
    End &end = static_cast<End &>(*m);
    end.isOpen = false;
    endpoint_.expectNoMore(end);
    if (m != counter_.mismatched)
      done_.push_back({OpId{m->owner}, m->transferred});
  }
  counter_.completed = nullptr;
  if (counter_.mismatched && !(isIndependent_ && counter_.outstanding != 0))
    failOf(static_cast<End &>(*counter_.mismatched));
}

template <typename E> std::span<const Completion> PlanChannels<E>::poll() {
  auto held = endpoint_.hold();
  return poll(true);
}

template <typename E> std::span<const Completion> PlanChannels<E>::poll(bool progresses) {
  if (progresses)
    endpoint_.worker().progress();
  takeCompleted();
  reported_ = true;
  if (counter_.outstanding != 0)
    takeReports();
  return done_;
}

// A rank that reports a failure wakes all others.
template <typename E> void PlanChannels<E>::takeReports() {
  uint32_t reports = endpoint_.numReports();
  if (reports == reportsSeen_)
    return;
  reportsSeen_ = reports;
  if (std::optional<Fault> fault = findFailure())
    fail(std::move(*fault));
}

// A failure of the plan on another rank before is the reason for what happens here.
template <typename E> void PlanChannels<E>::failOf(const End &end) {
  std::optional<Fault> earlier = findFailure();
  OpId op{end.owner};
  fail(earlier          ? std::move(*earlier)
       : &end == ended_ ? endedWithout(end.peer, op, end.payload)
                        : sizeMismatch(end.peer, op, end.payload, end.transferred));
}

template <typename E>
const typename PlanChannels<E>::End *PlanChannels<E>::findOpen(Rank peer) const {
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.isOpen && (peer == kNoRank || peer == end.peer))
        return &end;
  return nullptr;
}

template <typename E> OpId PlanChannels<E>::openOp(Rank peer) const {
  const End *end = findOpen(peer);
  return end ? OpId{end->owner} : kNoOp;
}

template <typename E> void PlanChannels<E>::abort(const Fault &fault) {
  auto held = endpoint_.holdToReport();
  fail(fault);
  if (!findFailure()) // else all know already
    endpoint_.report(plan_, run_, fault);
}

} // namespace colldsl::protocol
