/// The sending end of the wire to a rank of any machine. Active messages are frames; where the
/// transport reads and writes memory of peers, payloads move between registered memory.
///
/// A rendezvous id is used again when the receiver knows nothing of it any more: it has sent Fin,
/// or CancelAck, or has closed the stream. It is also used again when the payload is put; the
/// notification of a put reaches the receiver in no order with frames.
#pragma once

#include "ir/Transfer.h"
#include "protocol/TagTable.h"
#include "protocol/remote/RemoteContext.h"
#include "transports/Rendezvous.h"

#include <deque>
#include <map>
#include <optional>

namespace colldsl::protocol {

/// Not thread safe.
class RemoteSender final : public RmaOwner {
public:
  static constexpr uint64_t kInlineBytes = 0;
  static constexpr bool kHasStaticRtrs = false; ///< early RTRs are frames

  RemoteSender(RemoteContext &context, network::Peer &peer) : context_(context), peer_(peer) {}
  RemoteSender(const RemoteSender &) = delete;

  Rank peer() const { return peer_.rank; }
  void reserve(uint32_t) {}

  // Eager messages. False: the window has no room.

  bool trySendInline(const Tag &tag, const RequestPayload &payload) {
    return trySendLonger(tag, payload);
  }
  bool trySendLonger(const Tag &tag, const RequestPayload &payload);
  uint64_t longestEagerBytes() const { return context_.options.longestEagerBytes; }
  /// True if a send whose frames were handed over is done: the options ask for no flush, or the
  /// transport has finished all frames to the peer.
  bool isFlushed() const {
    return !context_.options.flushes || (peer_.open == 0 && peer_.waiting.empty());
  }
  bool flushes() const { return context_.options.flushes; }
  bool isThrottled(uint64_t bytes) const {
    return !context_.am->hasWindow(peer_, bytes) || !context_.am->hasFrame(bytes);
  }
  bool receiverPostsLate() const { return false; }
  bool canReach() const { return true; }

  // Rendezvous. Ids: as the receiver gives them back.

  /// False: all ids are in use.
  bool trySendRts(const Tag &tag, const RequestPayload &payload, Mover mover,
                  rendezvous::SenderLoad, uint16_t &id);

  enum class Replied : uint8_t { Nothing, Fin, Fragments, Rtr };
  Replied replyTo(uint16_t id) const;
  bool mayHaveReplies() { return std::exchange(hasReplies_, false); }
  bool isUnanswered(uint16_t id, const Tag &tag) const {
    return id < ids_.size() && ids_[id].state == State::Requested && ids_[id].tag == tag;
  }

  enum class PutResult : uint8_t { Done, NotNow, Refused };
  PutResult put(const Tag &, const RequestPayload &, uint16_t id) const {
    return ids_[id].state == State::Put ? PutResult::Done : PutResult::NotNow;
  }

  bool trySendFragment(const Tag &tag, const RequestPayload &payload, uint64_t offset,
                       uint64_t bytes, uint16_t id);

  void release(uint16_t id);
  /// False: the receiver may read the payload, until it has drained.
  bool cancelRts(uint16_t id);
  /// In place of a cancelRts() that has no end. Memory that the receiver may read stays registered,
  /// if it reads there no more unless it has begun: a read that fails would cost the connection.
  /// True: this end still reads the payload.
  bool cancelRtsUnconfirmed(uint16_t id);

  /// True if the receiver has sent an early RTR for a message.
  bool hasEarlyRtr(const Tag &tag) const {
    return (!earlyRtrs_.empty() && earlyRtrs_.find(tag)) || findReady(tag);
  }
  /// True if this end may have put the message. Asked of a run that is over here, or in which the
  /// message has no bytes.
  bool hasPut(const Tag &tag) const;
  /// Takes an early RTR and begins the put; `id` is its rendezvous. False: there is none that fits.
  bool takeEarlyRtr(const Tag &tag, const RequestPayload &payload, uint16_t &id);

  void closeStream(uint32_t context, uint32_t stream);
  bool isBusy() const { return false; }
  bool progress() { return false; }
  size_t numIdsInUse() const { return ids_.size() - freeIds_.size(); }

  /// Counts a frame of the stream that went to this receiver and others at once.
  void countMulticast(StreamId stream) { ++multicasts_[stream]; }

  // Frames of the receiver.

  void onRtr(const network::Header &header, std::span<const std::byte> body);
  void onReady(const Tag &tag);
  /// False: it was put without a notification.
  bool onNotify(const Tag &tag);
  void onFin(uint32_t rendezvous);
  void onCancelAck(const Tag &scope);
  void onStreamClosed(StreamId stream);
  bool isCancelAcked(const Tag &tag) const {
    return drained_.contains(streamOf(tag)) || drained_.containsRunOf(tag);
  }

  /// Drops an early RTR that this end will never use.
  void dropEarlyRtr(const Tag &tag);
  /// Drops the puts of a run, or a stream, that is cancelled: none begins any more.
  void dropPuts(const Tag &scope);
  /// True if a put of the run, or the stream, is on its way.
  bool hasOpenRma(const Tag &scope) const;
  /// Asks the receiver to answer CancelAck, once per run.
  void cancelRun(const Tag &tag);

  void onRmaDone(uint16_t id) override;
  bool startRma(uint16_t id) override;

private:
  enum class State : uint8_t { Free, Requested, Done, Fragments, Putting, Put, Cancelled };
  /// The buffer into which a receiver wants a message.
  struct Buffer {
    network::RtrBody body = {};
    std::vector<network::RemoteIov> remoteIovs;
  };
  struct Id : RemoteRma {
    State state = State::Free;
    bool isReadable = false;
    uint16_t use = 0;
    Tag tag;
    Id *next = nullptr; ///< among those that wait for a reply
    RequestPayload payload;
    Buffer buffer;
    network::Region kept; ///< of memory that the receiver may have begun to read
  };
  struct EarlyRtr {
    Tag tag;
    EarlyRtr *next = nullptr;
    Buffer buffer;
  };
  /// An RTR for all runs of a static message.
  struct StaticRtr {
    network::RtrBody body = {};
    std::optional<uint32_t> readyRun;  ///< UntilReady: the run that the receiver is ready for
    std::optional<uint32_t> putRun;    ///< the last run that was put
    std::optional<uint32_t> noticeRun; ///< the last run in which the receiver wants a notification
  };

  Id *fresh(const Tag &tag, const RequestPayload &payload);
  Id *find(uint32_t rendezvous);
  uint32_t rendezvousOf(const Id &id) const { return id.id | uint32_t{id.use} << 16; }
  void free(Id &id);
  bool canPut(const Buffer &buffer, const RequestPayload &payload) const;
  bool beginPut(Id &id);
  void sendRtsForFragments(Id &id);
  bool read(Buffer &buffer, std::span<const std::byte> bytes) const;
  void onEarlyRtr(const Tag &tag, std::span<const std::byte> body);
  StaticRtr *findStatic(const Tag &tag);
  const StaticRtr *findReady(const Tag &tag) const;
  void onStaticRtr(const Tag &tag, const network::RtrBody &body);
  bool putInto(Buffer &buffer, const Tag &tag, const RequestPayload &payload, uint16_t &id);
  bool putStatic(const Tag &tag, const RequestPayload &payload, uint16_t &id);
  void putRequested(const Tag &tag, StaticRtr &rtr);
  static Buffer bufferOf(const StaticRtr &rtr, const Tag &tag);
  static bool endsInCanary(const Payload &payload);
  void dropStatic(StreamId stream);

  RemoteContext &context_;
  network::Peer &peer_;
  std::deque<Id> ids_; ///< ids stay where they are
  std::vector<uint16_t> freeIds_;
  TagTable<Id> requested_;
  TagTable<EarlyRtr> earlyRtrs_;
  std::deque<EarlyRtr> memory_;
  std::vector<EarlyRtr *> spare_;
  std::map<std::pair<StreamId, uint32_t>, StaticRtr> staticRtrs_; ///< by stream and message
  CancelledRuns drained_;                                         ///< by the receiver
  Tag lastCancel_;                                                ///< the last that was sent
  std::unordered_map<StreamId, uint64_t> multicasts_;
  bool hasReplies_ = false;
};

} // namespace colldsl::protocol
