// Compiled with -fno-access-control: what is described is private. A member that is added to the
// protocol is added here, too; StatesTest.cpp finds most that are missing.
#include "tests/explorer/WorkerState.h"

namespace colldsl::test {

using protocol::MulticastRequest;
using protocol::RemoteChannels;
using protocol::RemoteReceiver;
using protocol::RemoteReceives;
using protocol::RemoteRma;
using protocol::RemoteSender;
using protocol::RemoteSends;
using protocol::RemoteWorker;
using protocol::Request;
using protocol::RequestQueue;

namespace {

void add(StateWords &words, const Request &request) {
  words.add(request.tag);
  words.add(request.transferred);
  words.add(request.rendezvousId);
  words.add(request.isHeld);
  words.add(request.holdsFragments);
}

void add(StateWords &words, const RequestQueue &queue) {
  for (const Request *request = queue.front(); request; request = request->next)
    add(words, *request);
  words.add(UINT64_MAX);
}

void add(StateWords &words, const Fault &fault) {
  words.add(fault.peer);
  words.add(fault.op);
  words.add(fault.reason);
  words.add(fault.kind);
}

template <typename Record, typename Describe>
void add(StateWords &words, const protocol::TagTable<Record> &table, Describe describe) {
  std::vector<StateWords> parts;
  table.forEach([&](const Record &record) {
    parts.emplace_back().add(record.tag);
    describe(parts.back(), record);
  });
  words.addUnordered(std::move(parts));
}

// Runs have one place each, which mostly is empty.
void add(StateWords &words, const protocol::CancelledRuns &discarded) {
  std::vector<StateWords> streams;
  for (StreamId stream : discarded.streams_)
    streams.emplace_back().add(stream);
  words.addUnordered(std::move(streams));
  for (const protocol::RunId &run : discarded.runs_)
    if (run.stream != 0 || run.run != 0) {
      words.add(run.stream);
      words.add(run.run);
    }
  words.add(UINT64_MAX);
}

// Where its receiver's worker is at the other end.
void add(StateWords &words, const network::RtrBody &body, const RemoteWorker *receiver) {
  words.add(body.bytes);
  words.add(body.address);
  words.add(body.key);
  words.add(body.isWritable);
  words.add(body.stay);
  words.add(body.hasCanary);
  if (body.isWritable)
    describeRtrId(words, receiver, body.rtrId);
}

void add(StateWords &words, const RemoteSender::Buffer &buffer, const RemoteWorker *receiver) {
  add(words, buffer.body, receiver);
  words.add(buffer.remoteIovs.size());
  for (const network::RemoteIov &iov : buffer.remoteIovs) {
    words.add(iov.address);
    words.add(iov.bytes);
  }
}

// Only a put that is to begin looks at the buffer.
void add(StateWords &words, const RemoteSender::Id &id, const RemoteWorker *receiver) {
  words.add(id.state);
  words.add(id.use);
  words.add(id.isOpen);
  if (id.state == RemoteSender::State::Free)
    return;
  words.add(id.isReadable);
  words.add(id.tag);
  words.add(id.payload.registered != nullptr);
  words.add(id.payload.count);
  words.add(bool(id.kept));
  if (id.state == RemoteSender::State::Putting && !id.isOpen)
    add(words, id.buffer, receiver);
}

// Left out: spare records.
void add(StateWords &words, const RemoteSender &sender, const RemoteWorker *receiver) {
  words.add(sender.ids_.size());
  for (const RemoteSender::Id &id : sender.ids_)
    add(words, id, receiver);
  for (uint16_t id : sender.freeIds_)
    words.add(id);
  add(words, sender.requested_, [](StateWords &, const auto &) {});
  add(words, sender.earlyRtrs_, [&](StateWords &part, const RemoteSender::EarlyRtr &rtr) {
    add(part, rtr.buffer, receiver);
  });
  for (const auto &[message, rtr] : sender.staticRtrs_) {
    words.add(message.first);
    words.add(message.second);
    add(words, rtr.body, receiver);
    for (std::optional<uint32_t> run : {rtr.readyRun, rtr.putRun, rtr.noticeRun})
      words.add(run ? uint64_t{*run} : UINT64_MAX);
  }
  words.add(UINT64_MAX);
  add(words, sender.drained_);
  words.add(sender.lastCancel_);
  std::vector<StateWords> multicasts;
  for (auto [stream, count] : sender.multicasts_) {
    multicasts.emplace_back().add(stream);
    multicasts.back().add(count);
  }
  words.addUnordered(std::move(multicasts));
  words.add(sender.hasReplies_);
}

void add(StateWords &words, const RemoteSends &sends, const RemoteWorker *receiver) {
  add(words, sends.pending_);
  add(words, sends.requested_);
  add(words, sends.fragmented_);
  add(words, sends.held_);
  add(words, sends.flushing_);
  add(words, sends.wire_, receiver);
}

void add(StateWords &words, const RemoteReceiver::Rts &rts) {
  words.add(rts.bytes);
  words.add(rts.buffer.address);
  words.add(rts.buffer.key);
  words.add(rts.buffer.isReadable);
  words.add(rts.tag);
  words.add(rts.rendezvous);
  words.add(rts.remoteIovs);
}

void add(StateWords &words, const RemoteReceiver::Claim &claim) {
  words.add(claim.state);
  words.add(claim.isOpen);
  if (claim.state == RemoteReceiver::State::None && !claim.isOpen)
    return;
  words.add(claim.isCancelled);
  add(words, claim.rts);
  words.add(claim.payload.registered != nullptr);
  words.add(claim.payload.count);
  words.add(claim.received);
  words.add(claim.began);
}

void add(StateWords &words, const RemoteReceiver &receiver) {
  words.add(receiver.claims_.size());
  for (const RemoteReceiver::Claim &claim : receiver.claims_)
    add(words, claim);
  words.add(receiver.deferred_.size());
  for (const RemoteReceiver::Rts &rts : receiver.deferred_)
    add(words, rts);
}

// What a request asked for matters until the claim of its id has ended.
void addIncoming(StateWords &words, const RemoteReceives &receives) {
  const auto &claims = receives.wire_.claims_;
  for (size_t id = 0; id < receives.incoming_.size(); ++id) {
    const auto &incoming = receives.incoming_[id];
    words.add(incoming.request != nullptr);
    if (incoming.request)
      add(words, *incoming.request);
    bool isClaimed = id < claims.size() &&
                     (claims[id].isOpen || claims[id].state != RemoteReceiver::State::None);
    if (incoming.request || isClaimed)
      add(words, incoming.rts);
  }
  words.add(UINT64_MAX);
}

void addStreams(StateWords &words, const std::vector<StreamId> &streams) {
  std::vector<StateWords> parts;
  for (StreamId stream : streams)
    parts.emplace_back().add(stream);
  words.addUnordered(std::move(parts));
}

// Left out: memory that is reserved.
void add(StateWords &words, const RemoteReceives &receives) {
  add(words, receives.posted_,
      [](StateWords &part, const Request &request) { add(part, request); });
  add(words, receives.unexpected_.messages_, [](StateWords &part, const auto &message) {
    part.add(message.rts.has_value());
    if (message.rts)
      add(part, *message.rts);
    else
      part.add(std::span(message.bytes));
  });
  addIncoming(words, receives);
  for (uint16_t id : receives.rtrSent_)
    words.add(id);
  words.add(UINT64_MAX);
  words.add(receives.idlePolls_);
  words.add(receives.isThrottling_);
  words.add(receives.postsLate_);
  words.add(receives.lateReceives_);
  words.add(receives.sweepAt_);
  words.add(receives.numOpen_);
  addStreams(words, receives.closedThere_);
  addStreams(words, receives.closedHere_);
  add(words, receives.wire_);
}

// Left out: sequence numbers, and what waits for the transport, which takes all.
void add(StateWords &words, const network::Peer &peer) {
  words.add(peer.sent);
  words.add(peer.sentConsumed);
  words.add(peer.consumed);
  words.add(peer.consumedReported);
  words.add(peer.longInFlight);
  words.add(peer.open);
  words.add(peer.isLost);
  words.add(peer.isGone);
  words.add(peer.wasSentDisconnect);
  words.add(peer.hasDisconnected);
  words.add(peer.acknowledgedDisconnect);
}

void addConnections(StateWords &words, const RemoteWorker &worker, const WorkerOf &workerOf) {
  for (const RemoteWorker::Connection *at : worker.connections_) {
    const RemoteWorker *other = workerOf(at->peer.rank);
    words.add(at->peer.rank);
    add(words, at->peer);
    add(words, at->sends, other);
    add(words, at->receives);
    for (auto [stream, count] : at->multicastsBeforeClose) {
      words.add(stream);
      words.add(count);
    }
  }
  words.add(UINT64_MAX);
}

// Of runs none is kept where plans number their own.
void addFailures(StateWords &words, const RemoteWorker &worker) {
  for (const auto &[stream, fault] : worker.failedStreams_) {
    words.add(stream);
    add(words, fault);
  }
  for (const auto &[run, fault] : worker.failedRuns_) {
    words.add(run.first);
    words.add(run.second);
    add(words, fault);
  }
  words.add(worker.allFailed_.has_value());
  if (worker.allFailed_)
    add(words, *worker.allFailed_);
  for (const auto &drain : worker.draining_) {
    words.add(drain.peer);
    words.add(drain.scope);
  }
  words.add(worker.events_.size());
  for (const auto &lost : worker.lost_) {
    words.add(lost.rank);
    words.add(lost.reason);
  }
  words.add(worker.nextPeerCheck_);
}

void addRtrs(StateWords &words, const protocol::RtrTable &table) {
  std::vector<StateWords> parts;
  for (const auto &rtr : table.entries_)
    if (rtr.receiver) {
      parts.emplace_back().add(rtr.receiver->peer());
      parts.back().add(rtr.tag);
      parts.back().add(rtr.id);
      parts.back().add(rtr.isEarly);
      parts.back().add(rtr.stays);
    }
  words.addUnordered(std::move(parts));
}

void addMulticasts(StateWords &words, const RemoteWorker &worker) {
  words.add(worker.multicasting_.size());
  for (const protocol::StreamUser *user : worker.multicasting_)
    words.add(((const RemoteChannels *)user)->plan_); // a private base
  for (const auto &[stream, frames] : worker.early_)
    for (const auto &frame : frames) {
      words.add(stream);
      words.add(frame.root);
      words.add(frame.run);
      words.add(frame.multicast.message);
      words.add(frame.multicast.kind);
      words.add(std::span(frame.bytes));
    }
  words.add(worker.groups_.size());
}

void add(StateWords &words, const network::RegisteredMemory &memory) {
  words.add(bool(memory.region));
  if (memory.region) {
    words.add(memory.region.key());
    words.add(memory.access);
  }
  words.add(memory.rtr != network::RegisteredMemory::kNoRtr);
  words.add(memory.stays);
  words.add(memory.mayBePut);
  words.add(memory.usesEarlyRtr);
}

void add(StateWords &words, const RemoteChannels::End &end) {
  add(words, static_cast<const Request &>(end));
  add(words, end.state.memory);
  words.add(end.isOpen);
  words.add(end.state.skippedRun);
  words.add(end.state.multicastFrames);
  words.add(end.state.isExpected);
  words.add(end.state.isProbed);
}

void add(StateWords &words, const MulticastRequest &request) {
  words.add(request.state);
  words.add(request.run);
  words.add(request.gathered);
  words.add(request.first ? request.first->tag.message : UINT32_MAX);
  words.add(request.sentBytes);
  words.add(request.until);
  words.add(request.number);
}

} // namespace

void describe(StateWords &words, const RemoteWorker &worker, const WorkerOf &workerOf) {
  addConnections(words, worker, workerOf);
  addFailures(words, worker);
  addRtrs(words, worker.context_.rtrs);
  for (const protocol::CanaryWatch &watch : worker.context_.watches) {
    words.add(watch.tag);
    words.add(watch.isSuspended);
    words.add(watch.wasSuspended);
  }
  words.add(UINT64_MAX);
  for (const RemoteRma *rma : worker.context_.rmaQueue)
    describeRma(words, *rma);
  add(words, worker.discarded_);
  words.add(worker.isFrozen_);
  words.add(worker.isLeaving_);
  words.add(worker.users_.size());
  for (auto [context, streams] : worker.opened_) {
    words.add(context);
    words.add(streams);
  }
  addMulticasts(words, worker);
}

void describe(StateWords &words, const RemoteChannels &channels) {
  words.add(channels.run_);
  words.add(channels.reportsSeen_ == channels.endpoint_.numReports());
  words.add(channels.counter_.outstanding);
  for (const Request *at = channels.counter_.completed; at; at = at->next)
    words.add(at->owner);
  words.add(channels.counter_.mismatched ? channels.counter_.mismatched->owner : UINT32_MAX);
  for (const auto *side : {&channels.out_, &channels.in_})
    for (const RemoteChannels::End &end : side->ends)
      add(words, end);
  words.add(channels.reported_);
  words.add(channels.ended_ != nullptr);
  words.add(channels.failed());
  if (channels.failed())
    add(words, channels.fault());
  for (const MulticastRequest &request : channels.multicasts_)
    add(words, request);
  words.add(channels.numActive_);
  for (auto [rank, count] : channels.multicastsFrom_) {
    words.add(rank);
    words.add(count);
  }
  words.add(channels.mayBeUnwanted_);
  words.add(channels.isCancelled_);
  words.add(channels.desertedAt_);
  words.add(channels.nextProbe_);
  words.add(channels.probeInterval_.count());
}

bool hasRmas(const RemoteWorker &worker) { return !worker.context_.rmaQueue.empty(); }

Rank awaitedBy(const RemoteWorker &worker, const RemoteChannels &channels) {
  auto isOurs = [&](const Request *request) {
    return request && request->counter == &channels.counter_;
  };
  for (const RemoteWorker::Connection *at : worker.connections_) {
    bool isAwaited = false;
    for (const RequestQueue *queue :
         {&at->sends.pending_, &at->sends.requested_, &at->sends.fragmented_, &at->sends.held_,
          &at->sends.flushing_})
      for (const Request *request = queue->front(); request; request = request->next)
        isAwaited |= isOurs(request);
    at->receives.posted_.forEach([&](const Request &request) { isAwaited |= isOurs(&request); });
    for (const auto &incoming : at->receives.incoming_)
      isAwaited |= isOurs(incoming.request);
    if (isAwaited)
      return at->peer.rank;
  }
  return kNoRank;
}

void describeRtrId(StateWords &words, const RemoteWorker *worker, uint32_t rtrId) {
  if (!worker)
    return words.add(false);
  const protocol::RtrTable &table = worker->context_.rtrs;
  uint32_t place = rtrId & ((1u << protocol::RtrTable::kPlaceBits) - 1);
  bool isKnown =
      place < table.entries_.size() && table.entries_[place].receiver && table.idOf(place) == rtrId;
  words.add(isKnown);
  if (!isKnown)
    return;
  words.add(table.entries_[place].receiver->peer());
  words.add(table.entries_[place].tag);
  words.add(table.entries_[place].id);
}

void describeFrame(StateWords &words, std::span<const std::byte> frame, const RemoteWorker *from) {
  network::Header header;
  std::memcpy(&header, frame.data(), sizeof header);
  words.add(header.tag);
  words.add(header.kind);
  words.add(header.consumed);
  words.add(header.rendezvous);
  std::vector<std::byte> body(frame.begin() + sizeof header, frame.end());
  if (header.kind == network::Kind::Rtr) {
    network::RtrBody rtr;
    std::memcpy(&rtr, body.data(), sizeof rtr);
    if (rtr.isWritable)
      describeRtrId(words, from, rtr.rtrId);
    rtr.rtrId = 0;
    std::memcpy(body.data(), &rtr, sizeof rtr);
  }
  words.add(std::span<const std::byte>(body));
}

void describeRma(StateWords &words, const network::RmaOperation &rma) {
  words.add(rma.peer->rank);
  words.add(static_cast<const RemoteRma &>(rma).id);
}

} // namespace colldsl::test
