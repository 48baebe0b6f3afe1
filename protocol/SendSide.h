/// The sends of this rank to one peer, over a wire.
///
/// The wire copies an eager message, and the send is completed. For any other message a request to
/// send (RTS) goes out. The receiver gets the payload itself; or it replies with a buffer (ready to
/// receive, RTR), into which this end puts the payload, or those parts of it that the receiver does
/// not get; or it waits for fragments. A receiver whose unexpected queue is full throttles its
/// sender, which then sends an RTS for each message. Any number of requests to send may wait for
/// replies, so that none stands in the way of another message. Without room on the wire sends wait
/// here in their order.
///
/// A static message (Request::payload has `fixed`) goes without an RTS: this end puts it as soon as
/// the receiver's RTR for the run is there, or the receiver gets it.
///
/// A send that is not completed is in one queue. "Sent" stands for flushing_ if the wire needs more
/// progress, else for the completion.
///
///   state                              queue        what moves it on
///   ---------------------------------  -----------  ----------------------------------------------
///   waits for room, or for its turn    pending_     early RTR taken, or RTS sent: requested_;
///                                                   copied as an eager message: sent
///   static; this end puts it, and      unready_     put: sent; refused, or no RTR for a while:
///   waits for the RTR                               pending_
///   static; the receiver gets it       offered_     FIN: sent; declined: pending_
///   RTS sent, or early RTR taken       requested_   FIN, or put done: sent; put refused:
///                                                   fragmented_; receiver wants fragments:
///                                                   fragmented_, or held_ if holdsFragments
///   the receiver waits for fragments   fragmented_  last fragment on the wire: sent
///   as before; its owner sends them    held_        sendHeld(): fragmented_; completeHeld(): sent
///   sent; the wire needs progress      flushing_    wire flushed: completed
///
/// send() puts a static message into unready_ or offered_, if the wire takes it, and tries for any
/// other what moves on a pending one. cancel() takes sends out of every queue.
#pragma once

#include "ir/Ids.h"
#include "protocol/Limits.h"
#include "protocol/Request.h"

#include <algorithm>

namespace colldsl::protocol {

/// Wire: as shm::FifoSender. Not thread safe.
template <typename Wire> class SendSide {
public:
  template <typename... Args>
  explicit SendSide(const Limits &limits, Args &&...wire)
      : limits_(limits), wire_(std::forward<Args>(wire)...) {}

  Rank peer() const { return wire_.peer(); }
  Wire &wire() { return wire_; }

  /// Makes room for so many requests to send, if there is memory left.
  void reserve(uint32_t requests) { wire_.reserve(requests); }

  /// Sends what can be sent without waiting for the receiver. True: the send is completed; the
  /// request was not kept, and its counter not touched.
  bool trySend(const Request &request) {
    return pending_.empty() && !wire_.flushes() && !wire_.hasEarlyRtr(request.tag) &&
           sendEager(request);
  }

  /// Variant of trySend() for a static message that this end puts.
  bool trySendStatic(const Request &request) {
    if constexpr (Wire::kHasStaticRtrs)
      return wire_.isPut(request.payload) &&
             wire_.putStatic(request.tag, request.payload) == Wire::StaticPut::Done;
    return false;
  }

  /// Sends it, now or later; counts it in its counter until it is completed.
  void send(Request &request);

  /// Notifies the peer that this rank neither sends nor receives in the stream any more.
  void closeStream(uint32_t context, uint32_t stream) { wire_.closeStream(context, stream); }

  bool isBusy() const {
    return !(pending_.empty() && requested_.empty() && fragmented_.empty() && flushing_.empty() &&
             unready_.empty() && offered_.empty()) ||
           wire_.isBusy();
  }

  /// True: something moved.
  bool progress();

  /// Cancels the sends of an operation: no byte of them leaves this rank any more. Adds their
  /// number to `cancelled`. False: the peer copies one of them just now, which stays.
  bool cancel(const CompletionCounter &counter, uint32_t &cancelled);
  /// Cancels without waiting for the receivers any longer. True: this end still reads a payload.
  bool cancelUnconfirmed(const CompletionCounter &counter);

  // Sends whose fragments their owner holds (Request::isHeld).

  /// The fragments go to this receiver alone.
  void sendHeld(Request &request) {
    takeHeld(request);
    fragmented_.push(request);
  }
  /// The fragments were sent to several receivers at once.
  void completeHeld(Request &request) {
    takeHeld(request);
    complete(request);
  }

  /// True if the RTS of a send waits for the receiver's reply.
  bool isUnanswered(const Request &request) const {
    return wire_.isUnanswered(request.rendezvousId, request.tag);
  }
  /// Cancels a send whose RTS the receiver never answers.
  void cancelUnanswered(Request &request) {
    requested_.removeIf([&](const Request &requested) { return &requested == &request; });
    wire_.cancelRtsUnconfirmed(request.rendezvousId);
  }

private:
  static constexpr uint32_t kPollsForRtr = 64;

  bool sendEager(const Request &request) {
    if (request.payload.bytes <= Wire::kInlineBytes)
      return wire_.trySendInline(request.tag, request.payload);
    return mayBeEager(request) && wire_.trySendLonger(request.tag, request.payload);
  }
  bool mayBeEager(const Request &request) const;
  bool publish(Request &request);
  bool sendRts(Request &request);
  bool takeReply(Request &request);
  bool takeReplies();
  bool sendFragments();
  bool sendPending();
  bool sendStatic(Request &request);
  bool cooperates(const Request &request) const;
  bool putUnready();
  bool takeStaticReplies();
  void complete(Request &request);
  void completeOnceFlushed(Request &request);
  bool flush();
  void takeHeld(Request &request) {
    request.isHeld = false;
    held_.removeIf([&](const Request &held) { return &held == &request; });
  }

  const Limits &limits_;
  Wire wire_;
  // A request is in one of these at most: see the table above.
  RequestQueue pending_;      ///< wait for room
  RequestQueue unready_;      ///< static: wait for the receiver's RTR, for a while
  RequestQueue offered_;      ///< static: the receiver gets them
  RequestQueue requested_;    ///< RTS sent, no reply yet
  RequestQueue fragmented_;   ///< the receiver waits for fragments
  RequestQueue held_;         ///< the receiver waits for fragments that their owner sends
  RequestQueue flushing_;     ///< sent, but the wire still needs progress
  uint32_t unreadyPolls_ = 0; ///< since one of them was put, or came
};

// Ranks that exchange copy all the time, so one copy less is worth more than a sender that
// continues at once. Other sends do not await receivers that post late, because their payload is
// copied twice anyway.
template <typename Wire> bool SendSide<Wire>::mayBeEager(const Request &request) const {
  uint64_t bytes = request.payload.bytes;
  if (request.protocol == Protocol::Rendezvous || wire_.isThrottled(bytes) ||
      bytes > std::max<uint64_t>(limits_.rendezvousThresholdBytes, wire_.longestEagerBytes()))
    return false;
  if (request.protocol == Protocol::Eager)
    return true;
  bool isSingleCopy = wire_.canReach() && limits_.isWorthSingleCopy(bytes, request.payload.count);
  return bytes <= limits_.rendezvousThresholdBytes ? !(isSingleCopy && request.counter->exchanges)
                                                   : wire_.receiverPostsLate() && !isSingleCopy;
}

template <typename Wire> void SendSide<Wire>::send(Request &request) {
  request.transferred = 0;
  ++request.counter->outstanding;
  if (request.payload.fixed && sendStatic(request))
    return;
  if (!pending_.empty() || !publish(request))
    pending_.push(request);
}

// True if both ends are to copy the message, which saves more time than a static RTR does.
template <typename Wire> bool SendSide<Wire>::cooperates(const Request &request) const {
  return request.mover == Mover::Either && request.counter->sendsOnly &&
         request.payload.count == 1 &&
         limits_.isWorthCooperation(request.payload.bytes, request.counter->copyKiB, false);
}

// False: the message travels like one that is not static.
template <typename Wire> bool SendSide<Wire>::sendStatic(Request &request) {
  if constexpr (Wire::kHasStaticRtrs) {
    const RequestPayload &payload = request.payload;
    if (!wire_.isStaticNow(payload))
      return false;
    bool mayReach = wire_.canReach() && limits_.isWorthSingleCopy(payload.bytes, payload.count);
    bool isPut = wire_.isPut(payload);
    if (!isPut && mayReach && cooperates(request))
      return false;
    if (!isPut && !wire_.sendStaticRts(request.tag, payload, mayReach))
      return false;
    unreadyPolls_ = 0;
    (isPut ? unready_ : offered_).push(request);
    return true;
  }
  return false;
}

template <typename Wire> bool SendSide<Wire>::takeStaticReplies() {
  if constexpr (Wire::kHasStaticRtrs)
    return offered_.removeIf([this](Request &request) {
      auto reply = wire_.replyToStatic(request.tag, request.payload);
      if (reply == Wire::Replied::Fin)
        completeOnceFlushed(request);
      else if (reply == Wire::Replied::Fragments)
        pending_.push(request);
      return reply != Wire::Replied::Nothing;
    }) != 0;
  return false;
}

// Puts the static messages whose RTRs are here. If none comes for kPollsForRtr polls, the messages
// travel like others, and a receiver that is late, or computes, finds them there.
template <typename Wire> bool SendSide<Wire>::putUnready() {
  if constexpr (Wire::kHasStaticRtrs) {
    bool waits = ++unreadyPolls_ < kPollsForRtr;
    bool moved = unready_.removeIf([&](Request &request) {
      auto put = wire_.putStatic(request.tag, request.payload);
      if (put == Wire::StaticPut::NotReady && waits)
        return false;
      if (put == Wire::StaticPut::Done)
        completeOnceFlushed(request);
      else
        pending_.push(request);
      return true;
    }) != 0;
    unreadyPolls_ = moved ? 0 : unreadyPolls_;
    return moved;
  }
  return false;
}

template <typename Wire> bool SendSide<Wire>::publish(Request &request) {
  if (wire_.takeEarlyRtr(request.tag, request.payload, request.rendezvousId)) {
    requested_.push(request);
    return true;
  }
  if (!sendEager(request))
    return !mayBeEager(request) && sendRts(request);
  completeOnceFlushed(request);
  return true;
}

template <typename Wire> bool SendSide<Wire>::sendRts(Request &request) {
  if (!wire_.trySendRts(request.tag, request.payload, request.mover, request.counter->load(),
                        request.rendezvousId))
    return false;
  requested_.push(request);
  return true;
}

template <typename Wire> bool SendSide<Wire>::takeReply(Request &request) {
  switch (wire_.replyTo(request.rendezvousId)) {
  case Wire::Replied::Nothing:
    return false;
  case Wire::Replied::Fin:
    complete(request);
    return true;
  case Wire::Replied::Fragments:
    request.isHeld = request.holdsFragments;
    (request.isHeld ? held_ : fragmented_).push(request);
    return true;
  case Wire::Replied::Rtr:
    break;
  }
  auto put = wire_.put(request.tag, request.payload, request.rendezvousId);
  if (put == Wire::PutResult::Done)
    complete(request);
  else if (put == Wire::PutResult::Refused)
    fragmented_.push(request);
  return put != Wire::PutResult::NotNow;
}

template <typename Wire> bool SendSide<Wire>::takeReplies() {
  return requested_.removeIf([this](Request &request) { return takeReply(request); }) != 0;
}

template <typename Wire> void SendSide<Wire>::complete(Request &request) {
  wire_.release(request.rendezvousId);
  completeOnceFlushed(request);
}

template <typename Wire> void SendSide<Wire>::completeOnceFlushed(Request &request) {
  request.transferred = request.payload.bytes;
  if (wire_.isFlushed())
    request.complete();
  else
    flushing_.push(request);
}

template <typename Wire> bool SendSide<Wire>::flush() {
  return wire_.isFlushed() && flushing_.removeIf([](Request &request) {
    request.complete();
    return true;
  }) != 0;
}

// Sends one message after the other: if several shared a ring of bytes, all would complete late.
template <typename Wire> bool SendSide<Wire>::sendFragments() {
  bool moved = false;
  while (Request *request = fragmented_.front()) {
    uint64_t offset = request->transferred, left = request->payload.bytes - offset;
    uint64_t bytes = std::min<uint64_t>(left, limits_.fragmentBytes);
    if (!wire_.trySendFragment(request->tag, request->payload, offset, bytes,
                               request->rendezvousId))
      return moved;
    moved = true;
    request->transferred += bytes;
    if (bytes < left)
      continue;
    fragmented_.pop();
    complete(*request);
  }
  return moved;
}

template <typename Wire> bool SendSide<Wire>::sendPending() {
  bool moved = false;
  while (Request *request = pending_.front()) {
    pending_.pop();
    if (!publish(*request)) {
      pending_.pushFront(*request);
      return moved;
    }
    moved = true;
  }
  return moved;
}

template <typename Wire> bool SendSide<Wire>::progress() {
  bool moved = !requested_.empty() && wire_.mayHaveReplies() && takeReplies();
  moved |= sendFragments();
  moved |= !unready_.empty() && putUnready();
  moved |= !offered_.empty() && takeStaticReplies();
  moved |= sendPending();
  moved |= !flushing_.empty() && flush();
  return wire_.progress() || moved;
}

template <typename Wire>
bool SendSide<Wire>::cancel(const CompletionCounter &counter, uint32_t &cancelled) {
  auto isOurs = [&](const Request &request) { return request.counter == &counter; };
  bool isOver = true;
  auto cancelRts = [&](const Request &request) {
    bool isCancelled = isOurs(request) && wire_.cancelRts(request.rendezvousId);
    isOver = isOver && (isCancelled || !isOurs(request));
    return isCancelled;
  };
  cancelled += requested_.removeIf(cancelRts);
  cancelled += fragmented_.removeIf(cancelRts);
  cancelled += held_.removeIf(cancelRts);
  cancelled += pending_.removeIf(isOurs);
  cancelled += unready_.removeIf(isOurs);
  if constexpr (Wire::kHasStaticRtrs)
    cancelled += offered_.removeIf([&](const Request &request) {
      bool isCancelled = isOurs(request) && wire_.cancelStaticRts(request.tag, request.payload);
      isOver = isOver && (isCancelled || !isOurs(request));
      return isCancelled;
    });
  cancelled += flushing_.removeIf(isOurs);
  return isOver;
}

template <typename Wire> bool SendSide<Wire>::cancelUnconfirmed(const CompletionCounter &counter) {
  bool isRead = false;
  auto cancelOurs = [&](const Request &request) {
    bool isOurs = request.counter == &counter;
    if (isOurs)
      isRead |= wire_.cancelRtsUnconfirmed(request.rendezvousId);
    return isOurs;
  };
  requested_.removeIf(cancelOurs);
  fragmented_.removeIf(cancelOurs);
  held_.removeIf(cancelOurs);
  return isRead;
}

} // namespace colldsl::protocol
