/// The receives of this rank from one peer, over a wire.
///
/// Messages are taken from the wire in their order, whether their receives are posted or not: a
/// message without a posted receive goes to the unexpected queue. So no message stands in the way
/// of another.
///
/// A request to send (RTS) is answered in one of four ways. This end gets the payload itself; or
/// it replies that it is ready to receive (RTR), and the sender puts the payload into the receive's
/// buffer; or both ends copy parts of it; or the payload comes in fragments. The copying end is the
/// one that the schedule names, else the one that has less to move. An RTR is withdrawn if nothing
/// comes while nothing else moves, and this end copies after all, so that it does not wait for a
/// sender that computes.
#pragma once

#include "protocol/CancelledRuns.h"
#include "protocol/Limits.h"
#include "protocol/Request.h"
#include "protocol/RunStatus.h"
#include "protocol/UnexpectedQueue.h"
#include "transports/Pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace colldsl::protocol {

/// State that all receive sides of one rank share.
struct ReceiverContext {
  const Limits &limits;
  const CancelledRuns &discarded;
  const RunStatus &runs;
  std::vector<std::byte> part; ///< buffer for a part of a message that is combined
};

/// Wire: as shm::FifoReceiver. Not thread safe.
template <typename Wire> class ReceiveSide {
public:
  using Rts = typename Wire::Rts;
  using RemoteBuffer = typename Wire::RemoteBuffer;

  template <typename... Args>
  explicit ReceiveSide(ReceiverContext &context, Args &&...wire)
      : context_(context), wire_(std::forward<Args>(wire)...) {}

  Rank peer() const { return wire_.peer(); }
  Wire &wire() { return wire_; }

  /// Receives the message if it is the next one here, and eager. True: the receive is completed;
  /// the request was not kept, and its counter not touched.
  bool tryRecv(const Request &request) {
    return wire_.tryTake(request.tag, request.payload, [&](const auto &message) {
      bool isWhole = storeParts(request, message);
      if (isWhole)
        noteArrival(message.bytes(), !wire_.lookedInVain());
      return isWhole;
    });
  }

  /// Makes room for so many more unexpected messages of at most so many bytes, as far as
  /// Limits::unexpectedBytes allow, and for sixteen: to keep those then allocates nothing.
  void reserve(uint32_t messages, uint64_t bytes);
  /// Takes back a reserve() of so many messages, which do not come any more.
  void unreserve(uint32_t messages);

  /// True if no message is here, so that tryRecv() may take the next one.
  bool isIdle() const { return unexpected_.empty() && wire_.isEmpty(); }

  /// True if Request::combining may be set: the wire then hands over whole elements.
  bool mayCombine(const Payload &payload, const CombiningTarget &target) const {
    return wire_.handsElements(payload.bytes, target.elementBytes) && !payload.upTo &&
           context_.limits.fragmentBytes % target.elementBytes == 0;
  }

  /// Variant of tryRecv() for a static message.
  bool tryRecvStatic(const Request &request);

  /// The RTRs by which the peer receives static messages of a stream; null: it has not named them.
  const typename Wire::StaticRtrs *staticRtrsOf(StreamId stream) const {
    auto found = std::find_if(named_.begin(), named_.end(),
                              [&](const auto &named) { return named.first == stream; });
    return found == named_.end() ? nullptr : &found->second;
  }

  /// Receives it, now or later; counts it in its counter until it is completed.
  void recv(Request &request);

  /// Takes the messages that are here. True: something moved.
  bool progress();

  /// Before cancel(): cancels the RTRs of an operation. False: the peer writes just now.
  bool cancelRtrs(const CompletionCounter &counter);

  /// Cancels the receives of an operation. Returns their number.
  uint32_t cancel(const CompletionCounter &counter);

  /// True if the peer has closed the stream and this rank has not.
  bool hasClosed(StreamId stream) const { return contains(closedThere_, stream); }

  /// This rank opens a stream that it closes later. Room is reserved, so that a close by the peer
  /// allocates nothing.
  void openStream() { closedThere_.reserve(++numOpen_); }
  /// This rank has closed the stream. Once both have closed it, nothing of it is kept.
  void closeStream(StreamId stream);

  /// Releases the unexpected messages of a run, or a stream, that this rank does not take part in
  /// any more.
  void discard(const Tag &scope);

  /// Releases a message that no receive is ever posted for, if it is here.
  void refuse(const Tag &tag);

  /// True if no message has come for a posted receive.
  bool isUnmatched(const Request &request) const { return posted_.find(request.tag) == &request; }
  /// Cancels a receive whose message never comes.
  void cancelUnmatched(Request &request) {
    posted_.take(request.tag);
    wire_.retireRtr(request.payload);
  }
  /// Receives and messages that wait for each other.
  size_t numOpen() const;
  /// Bytes of a message with this tag that no receive was posted for. Nothing: there is none.
  std::optional<uint64_t> findUnexpected(const Tag &tag) const;

private:
  static constexpr uint32_t kPollsBeforeWithdrawing = 16;
  static constexpr uint32_t kMaxLateReceives = 8;
  static constexpr uint32_t kRtrCostKiB = 64;       ///< copying them takes as long as an RTR
  static constexpr uint64_t kPartBytes = 512 << 10; ///< at most, of a message that is combined
  static constexpr size_t kSweepAtLeast = 64;
  static constexpr uint64_t kLeastReserved = 16; ///< messages, however long they are

  /// A payload that the sender moves.
  struct Incoming {
    Request *request = nullptr; ///< null: no receive waits for it
    Rts rts;
  };

  static bool contains(const std::vector<StreamId> &streams, StreamId stream) {
    return std::find(streams.begin(), streams.end(), stream) != streams.end();
  }

  // Messages that the wire hands over.
  friend Wire;
  void onEager(const Tag &tag, const std::byte *bytes, uint64_t count);
  template <typename Message> bool onLongerEager(const Tag &tag, const Message &message);
  void onRts(const Tag &tag, uint16_t id, const Rts &rts);
  void onFragment(uint16_t id, const std::byte *bytes, uint64_t count);
  void onPut(uint16_t id);
  void onEarlyRtrPut(const Tag &tag);
  void onGetDone(uint16_t id);
  void onRtsCancelled(uint16_t id);
  bool takeUnexpectedEager(const Tag &tag, const Payload &payload);
  void dropRts(const Tag &scope);
  void onStaticRts(const Tag &tag, const Rts &rts);
  void onStaticRtrs(StreamId stream, const typename Wire::StaticRtrs &rtrs);
  void onStreamClosed(StreamId stream);

  void sendEarlyRtr(const Request &request);
  void releaseStream(StreamId stream);
  bool takeUnexpected(Request &request);
  void keepEager(const Tag &tag, const std::byte *bytes, uint64_t count);
  void keepRts(const Tag &tag, uint16_t id, const Rts &rts);
  void deliver(Request &request, const std::byte *bytes, uint64_t count);
  static void store(const Request &request, uint64_t offset, const std::byte *bytes,
                    uint64_t count);
  template <typename Message>
  static bool storeParts(const Request &request, const Message &message) {
    return message.storeParts([&](uint64_t offset, const std::byte *bytes, uint64_t count) {
      store(request, offset, bytes, count);
    });
  }
  bool matchLength(Request &request, uint64_t bytes);
  bool answer(Request &request, uint16_t id, const Rts &rts);
  bool shouldPut(const Request &request, const Rts &rts, const RemoteBuffer &buffer) const;
  GetResult get(const Request &request, const Rts &rts);
  GetResult getAndCombine(const Request &request, const Rts &rts);
  void expect(uint16_t id, Request &request, const Rts &rts);
  bool mayReach(uint64_t bytes, uint32_t pieces) const {
    return wire_.canReach() && context_.limits.isWorthSingleCopy(bytes, pieces);
  }
  std::optional<RemoteBuffer>
  bufferOfCooperation(const Request &request, const Rts &rts,
                      const RemoteBuffer &buffer) const requires Wire::kCooperates;
  bool copyNextParts(uint16_t id) requires Wire::kCooperates;
  bool copyPart(const Request &request, const Rts &rts, uint64_t offset,
                uint64_t bytes) requires Wire::kCooperates;
  bool helpSender();
  void finishPut(uint16_t id);
  bool withdrawRtr();
  bool withdrawRtr(uint16_t id);
  void finish(uint16_t id);
  template <typename IsGone> void releaseUnexpected(IsGone isGone);
  void sweep();
  void updateThrottle();
  size_t numReserved() const;
  void noteArrival(uint64_t bytes, bool wasLate);

  ReceiverContext &context_;
  Wire wire_;
  TagTable<Request> posted_;
  UnexpectedQueue<Rts> unexpected_;
  std::vector<Incoming> incoming_; ///< by rendezvous id
  std::vector<uint16_t> rtrSent_;  ///< ids whose RTR was sent, oldest first
  uint32_t idlePolls_ = 0;         ///< since something moved
  bool isThrottling_ = false;
  bool postsLate_ = false;
  uint32_t lateReceives_ = 0;         ///< +1 per unexpected message, -1 per expected one
  size_t sweepAt_ = kSweepAtLeast;    ///< unexpected messages
  uint32_t reserved_ = 0;             ///< unexpected messages
  size_t numOpen_ = 0;                ///< streams that were opened here
  std::vector<StreamId> closedThere_; ///< by the peer, and not here
  std::vector<StreamId> closedHere_;  ///< and not by the peer
  std::vector<std::pair<StreamId, typename Wire::StaticRtrs>> named_;
};

template <typename Wire> size_t ReceiveSide<Wire>::numReserved() const {
  uint64_t most = context_.limits.unexpectedBytes / unexpected_.bytesOfReserved();
  return std::min<size_t>(reserved_, std::max(most, kLeastReserved));
}

// A late receiver's messages come through half of the ring at most.
template <typename Wire> void ReceiveSide<Wire>::reserve(uint32_t messages, uint64_t bytes) {
  reserved_ += messages;
  uint64_t longest =
      std::max<uint64_t>(context_.limits.rendezvousThresholdBytes, wire_.longestEagerBytes());
  unexpected_.growReservedBytes(std::min(bytes, longest));
  unexpected_.reserve(numReserved());
  posted_.reserve(reserved_);
  incoming_.reserve(Wire::kIdsAtOnce);
  rtrSent_.reserve(Wire::kIdsAtOnce);
}

template <typename Wire> void ReceiveSide<Wire>::unreserve(uint32_t messages) {
  reserved_ -= messages;
  if (reserved_ == 0)
    unexpected_.resetReservedBytes();
  unexpected_.shrinkTo(numReserved());
}

template <typename Wire> void ReceiveSide<Wire>::recv(Request &request) {
  request.transferred = 0;
  ++request.counter->outstanding;
  if (!unexpected_.empty() && takeUnexpected(request))
    return;
  posted_.add(request);
  sendEarlyRtr(request);
}

// A sender never puts a static message that its receiver combines as it arrives: the receive
// declines it.
template <typename Wire> void ReceiveSide<Wire>::sendEarlyRtr(const Request &request) {
  const RequestPayload &payload = request.payload;
  if constexpr (!Wire::kHasStaticRtrs)
    wire_.sendEarlyRtr(request.tag, payload, request.mover);
  else if (payload.fixed && wire_.isPut(payload) && request.combining)
    wire_.declineStatic(payload);
  else if (payload.fixed)
    wire_.expectStatic(request.tag, payload, mayReach(payload.bytes, payload.count));
}

template <typename Wire> bool ReceiveSide<Wire>::tryRecvStatic(const Request &request) {
  if constexpr (Wire::kHasStaticRtrs)
    if (std::optional<Rts> rts = wire_.claimStatic(request.tag, request.payload)) {
      if (rts->bytes == request.payload.bytes && get(request, *rts) == GetResult::Done)
        return true;
      wire_.declineStatic(request.payload);
      wire_.requestFragments(*rts);
    }
  return false;
}

// If this end cannot get the payload, the sender sends it as a message that is not static, and the
// receive waits for that.
template <typename Wire> void ReceiveSide<Wire>::onStaticRts(const Tag &tag, const Rts &rts) {
  if constexpr (Wire::kHasStaticRtrs) {
    Request &request = *posted_.take(tag);
    if (!matchLength(request, rts.bytes))
      return wire_.sendFin(rts);
    if (get(request, rts) == GetResult::Done)
      return request.complete();
    request.transferred = 0;
    wire_.declineStatic(request.payload);
    wire_.requestFragments(rts);
    posted_.add(request);
  }
}

template <typename Wire> bool ReceiveSide<Wire>::progress() {
  bool moved = wire_.progress(*this);
  if (moved || rtrSent_.empty()) {
    idlePolls_ = moved ? 0 : idlePolls_;
    return moved;
  }
  if (helpSender())
    return true;
  if (++idlePolls_ < kPollsBeforeWithdrawing)
    return false;
  idlePolls_ = 0;
  return withdrawRtr();
}

template <typename Wire>
void ReceiveSide<Wire>::onEager(const Tag &tag, const std::byte *bytes, uint64_t count) {
  if (Request *request = posted_.take(tag)) {
    wire_.retireRtr(request->payload);
    deliver(*request, bytes, count);
    wire_.releaseCredit(count);
  } else {
    keepEager(tag, bytes, count);
  }
}

// False: the message is not whole yet, and nothing was taken.
template <typename Wire>
template <typename Message>
bool ReceiveSide<Wire>::onLongerEager(const Tag &tag, const Message &message) {
  Request *request = posted_.take(tag);
  bool isStored = request && accepts(request->payload, message.bytes());
  if (!(isStored ? storeParts(*request, message) : message.isWhole())) {
    if (request)
      posted_.add(*request);
    return false;
  }
  noteArrival(message.bytes(), !request);
  if (!request) {
    keepEager(tag, message.begin(), message.bytes());
    return true;
  }
  wire_.retireRtr(request->payload);
  if (matchLength(*request, message.bytes()))
    request->complete();
  return true;
}

template <typename Wire>
void ReceiveSide<Wire>::onRts(const Tag &tag, uint16_t id, const Rts &rts) {
  Request *request = posted_.take(tag);
  noteArrival(rts.bytes, !request);
  if (!request)
    keepRts(tag, id, rts);
  else if (wire_.hasEarlyRtr(request->payload, rts) || !answer(*request, id, rts))
    posted_.add(*request);
}

template <typename Wire>
void ReceiveSide<Wire>::keepEager(const Tag &tag, const std::byte *bytes, uint64_t count) {
  if (context_.discarded.containsRunOf(tag))
    return wire_.releaseCredit(count);
  if (unexpected_.size() >= sweepAt_)
    sweep();
  unexpected_.addEager(tag, bytes, count);
  if (!isThrottling_ && unexpected_.bytes() >= context_.limits.unexpectedBytes)
    sweep();
}

template <typename Wire>
void ReceiveSide<Wire>::keepRts(const Tag &tag, uint16_t id, const Rts &rts) {
  if (context_.discarded.containsRunOf(tag))
    return wire_.refuse(rts); // its sender need not wait
  if (unexpected_.size() >= sweepAt_)
    sweep();
  unexpected_.addRts(tag, id, rts);
}

// Releases the messages of runs that are over here, which nothing receives, and cancelled RTSs. The
// longer the queue is, the rarer it is looked through. Throttles the sender if the queue is still
// full then.
template <typename Wire> void ReceiveSide<Wire>::sweep() {
  releaseUnexpected([&](const auto &message) {
    return (message.rts && wire_.isCancelled(*message.rts)) ||
           context_.runs.isOverHere(message.tag);
  });
  sweepAt_ = std::max(kSweepAtLeast, 2 * unexpected_.size());
}

template <typename Wire> void ReceiveSide<Wire>::updateThrottle() {
  uint64_t most = context_.limits.unexpectedBytes;
  bool isThrottling = unexpected_.bytes() >= (isThrottling_ ? most / 2 : most);
  if (isThrottling != isThrottling_)
    wire_.setThrottled(isThrottling_ = isThrottling);
}

// Counts late receives. Only messages of a middle length count: those that begin with an RTS if the
// receiver mostly posts in time, and are eager if it does not.
template <typename Wire> void ReceiveSide<Wire>::noteArrival(uint64_t bytes, bool wasLate) {
  if (bytes <= context_.limits.rendezvousThresholdBytes || bytes > wire_.longestEagerBytes())
    return;
  lateReceives_ = wasLate ? std::min(lateReceives_ + 1, kMaxLateReceives)
                          : lateReceives_ - std::min(lateReceives_, 1u);
  if (lateReceives_ == (postsLate_ ? 0 : kMaxLateReceives))
    wire_.setPostsLate(postsLate_ = !postsLate_);
}

template <typename Wire> bool ReceiveSide<Wire>::takeUnexpected(Request &request) {
  const auto *message = unexpected_.find(request.tag);
  if (!message)
    return false;
  bool isTaken = true;
  if (message->rts) {
    isTaken = answer(request, message->rendezvousId, *message->rts);
  } else {
    deliver(request, message->bytes.data(), message->bytes.size());
    wire_.releaseCredit(message->bytes.size());
  }
  unexpected_.release(*message);
  updateThrottle();
  return isTaken;
}

template <typename Wire>
bool ReceiveSide<Wire>::takeUnexpectedEager(const Tag &tag, const Payload &payload) {
  const auto *message = unexpected_.empty() ? nullptr : unexpected_.find(tag);
  if (!message || message->rts || message->bytes.size() != payload.bytes)
    return false;
  scatter(payload, 0, message->bytes.data(), payload.bytes);
  wire_.releaseCredit(payload.bytes);
  unexpected_.release(*message);
  return true;
}

template <typename Wire> bool ReceiveSide<Wire>::matchLength(Request &request, uint64_t bytes) {
  request.transferred = bytes;
  if (accepts(request.payload, bytes))
    return true;
  request.counter->mismatched = &request;
  request.complete();
  return false;
}

// Stores bytes, or combines those that are not combined yet: a message whose parts could not all be
// read comes once more, from its beginning.
template <typename Wire>
void ReceiveSide<Wire>::store(const Request &request, uint64_t offset, const std::byte *bytes,
                              uint64_t count) {
  if (!request.combining)
    return scatter(request.payload, offset, bytes, count);
  CombiningTarget &target = *request.combining;
  uint64_t known = std::min(count, target.combinedBytes - std::min(target.combinedBytes, offset));
  if (known < count)
    target.combine(offset + known, bytes + known, count - known);
  target.combinedBytes = std::max(target.combinedBytes, offset + count);
}

template <typename Wire>
void ReceiveSide<Wire>::deliver(Request &request, const std::byte *bytes, uint64_t count) {
  if (!matchLength(request, count))
    return;
  store(request, 0, bytes, count);
  request.complete();
}

template <typename Wire> bool ReceiveSide<Wire>::cancelRtrs(const CompletionCounter &counter) {
  bool isOver = std::all_of(incoming_.begin(), incoming_.end(), [&](const Incoming &incoming) {
    bool isOurs = incoming.request && incoming.request->counter == &counter;
    return !isOurs || wire_.cancelRtr(incoming.rts);
  });
  if constexpr (Wire::kSendsEarlyRtr)
    posted_.forEach([&](const Request &request) {
      isOver &= request.counter != &counter || wire_.cancelEarlyRtr(request.tag, request.payload);
    });
  return isOver;
}

template <typename Wire> uint32_t ReceiveSide<Wire>::cancel(const CompletionCounter &counter) {
  auto isOurs = [&](const Request &request) { return request.counter == &counter; };
  uint32_t cancelled = posted_.removeIf([&](const Request &request) {
    if (!isOurs(request))
      return false;
    if constexpr (Wire::kSendsEarlyRtr)
      wire_.cancelReceive(request.tag, request.payload);
    return true;
  });
  std::erase_if(rtrSent_, [&](uint16_t id) { return isOurs(*incoming_[id].request); });
  for (Incoming &incoming : incoming_)
    if (incoming.request && isOurs(*incoming.request)) {
      wire_.cancelReceive(incoming.rts);
      incoming.request = nullptr;
      ++cancelled;
    }
  return cancelled;
}

template <typename Wire> size_t ReceiveSide<Wire>::numOpen() const {
  auto isOpen = [](const Incoming &incoming) { return incoming.request != nullptr; };
  return posted_.size() + unexpected_.size() +
         static_cast<size_t>(std::count_if(incoming_.begin(), incoming_.end(), isOpen));
}

template <typename Wire>
std::optional<uint64_t> ReceiveSide<Wire>::findUnexpected(const Tag &tag) const {
  if (unexpected_.empty())
    return std::nullopt;
  const auto *message = unexpected_.find(tag);
  if (!message)
    return std::nullopt;
  return message->rts ? message->rts->bytes : message->bytes.size();
}

// A wire keeps its order: no message comes any more in a stream that both ends have closed.
template <typename Wire> void ReceiveSide<Wire>::onStreamClosed(StreamId stream) {
  if (std::erase(closedHere_, stream) != 0 || context_.discarded.contains(stream))
    releaseStream(stream);
  else
    closedThere_.push_back(stream);
}

template <typename Wire> void ReceiveSide<Wire>::releaseStream(StreamId stream) {
  releaseUnexpected([&](const auto &message) { return streamOf(message.tag) == stream; });
  std::erase_if(named_, [&](const auto &named) { return named.first == stream; });
  wire_.releaseStream(stream);
}

template <typename Wire>
void ReceiveSide<Wire>::onStaticRtrs(StreamId stream, const typename Wire::StaticRtrs &rtrs) {
  if (!contains(closedHere_, stream) && !context_.discarded.contains(stream))
    named_.push_back({stream, rtrs});
}

template <typename Wire> void ReceiveSide<Wire>::closeStream(StreamId stream) {
  numOpen_ -= numOpen_ > 0;
  if (std::erase(closedThere_, stream) != 0)
    releaseStream(stream);
  else
    closedHere_.push_back(stream);
}

template <typename Wire> void ReceiveSide<Wire>::discard(const Tag &scope) {
  releaseUnexpected([&](const auto &message) { return isOf(message.tag, scope); });
}

template <typename Wire> void ReceiveSide<Wire>::refuse(const Tag &tag) {
  releaseUnexpected([&](const auto &message) { return message.tag == tag; });
}

// The sender of a request need not wait.
template <typename Wire>
template <typename IsGone>
void ReceiveSide<Wire>::releaseUnexpected(IsGone isGone) {
  unexpected_.releaseIf([&](const auto &message) {
    bool isReleased = isGone(message);
    if (isReleased && message.rts)
      wire_.refuse(*message.rts);
    else if (isReleased)
      wire_.releaseCredit(message.bytes.size());
    return isReleased;
  });
  updateThrottle();
}

} // namespace colldsl::protocol

#include "protocol/ReceiveRendezvous.h"
