/// The receiving end of the wire to a rank of any machine: see RemoteSender.
///
/// The receiver replies to an RTS, or sends an early RTR, before there is one, where the receive is
/// mostly posted in time. An early RTR is void on both sides as soon as the sender sends the
/// message in another way.
#pragma once

#include "protocol/ReceiveSide.h"
#include "protocol/remote/RemoteSender.h"

namespace colldsl::protocol {

/// Not thread safe.
class RemoteReceiver final : public RmaOwner {
public:
  static constexpr uint32_t kIdsAtOnce = 8;
  static constexpr bool kPrefersPut = true; ///< a get needs a FIN afterwards
  static constexpr bool kSendsEarlyRtr = true;
  static constexpr bool kCooperates = false;
  static constexpr bool kHasStaticRtrs = false;
  struct StaticRtrs {};

  /// The buffer of the sender; or that of the receive, whose payload it names.
  struct RemoteBuffer {
    uint64_t address = 0, key = 0;
    bool isReadable = false;
    static constexpr bool isShared = false;
    uint32_t pieces = 1;
    const RequestPayload *payload = nullptr;
    uint16_t id = 0;
  };
  struct Rts {
    uint64_t bytes = 0;
    RemoteBuffer buffer;
    Tag tag;
    uint32_t rendezvous = 0;
    uint32_t remoteIovs = 0; ///< that the sender can put into at once
    rendezvous::SenderLoad sender = {};
  };

  /// `sender`: to the same peer.
  RemoteReceiver(RemoteContext &context, network::Peer &peer, RemoteSender &sender)
      : context_(context), peer_(peer), sender_(sender) {}
  RemoteReceiver(const RemoteReceiver &) = delete;
  /// Sets the side that takes the messages, before any comes.
  void deliverTo(ReceiveSide<RemoteReceiver> &side) { side_ = &side; }

  Rank peer() const { return peer_.rank; }

  // Frames come to ReceiveSide at once.
  template <typename Store> bool tryTake(const Tag &tag, const RequestPayload &payload, Store) {
    return side_->takeUnexpectedEager(tag, payload);
  }
  template <typename Handler> bool progress(Handler &) { return false; }
  bool isEmpty() const { return false; }
  bool lookedInVain() const { return false; }
  uint64_t longestEagerBytes() const { return context_.options.longestEagerBytes; }
  bool handsElements(uint64_t, uint32_t) const { return false; }

  // The window throttles the sender.
  void setThrottled(bool) {}
  void setPostsLate(bool) {}
  void releaseCredit(uint64_t bytes) { context_.am->consume(peer_, bytes); }

  // Replies.

  bool isCancelled(const Rts &) const { return false; } // a cancelled RTS is removed at once
  bool claim(const Rts &rts);
  void sendFin(const Rts &rts);
  void requestFragments(const Rts &rts);
  void sendRtr(const Rts &rts, const RemoteBuffer &buffer);
  bool withdrawRtr(const Rts &) { return false; }
  bool cancelRtr(const Rts &rts);
  /// Ends an answered request whose receive was cancelled: bytes that still come are dropped.
  void cancelReceive(const Rts &rts);
  void refuse(const Rts &rts) { sendFinFrame(rts.rendezvous, rts.tag); }

  RemoteBuffer remoteBufferOf(const RequestPayload &payload) const {
    RemoteBuffer buffer;
    buffer.pieces = payload.count;
    buffer.payload = &payload;
    return buffer;
  }
  const std::byte *map(const RemoteBuffer &) const { return nullptr; }
  bool isSelf() const { return false; }
  bool canReach() const { return true; }
  bool canPut(const Rts &rts, const RemoteBuffer &buffer) const {
    return rts.remoteIovs >= buffer.pieces &&
           context_.canBeWritten(peer_, *buffer.payload, rts.bytes);
  }
  GetResult get(const RemoteBuffer &from, uint64_t offset, const RequestPayload &to);

  void sendEarlyRtr(const Tag &tag, const RequestPayload &payload, Mover mover);
  void retireRtr(const RequestPayload &payload);
  /// Ends an RTR that stays.
  void endStatic(const RequestPayload &payload);
  void releaseStream(StreamId) {}
  bool hasEarlyRtr(const RequestPayload &payload, const Rts &rts);
  bool cancelEarlyRtr(const Tag &tag, const RequestPayload &payload);
  /// As cancelReceive(rts), for a receive with an early RTR.
  void cancelReceive(const Tag &tag, const RequestPayload &payload);

  // Frames and puts of the sender, which may name anything.

  void onEager(const Tag &tag, std::span<const std::byte> bytes) {
    side_->onEager(tag, bytes.data(), bytes.size());
  }
  void onStreamClosed(StreamId stream);
  void onRts(const network::Header &header, std::span<const std::byte> body);
  void onFragment(uint32_t rendezvous, std::span<const std::byte> bytes);
  /// Variant of onFragment() for a message that goes to several receivers at once.
  void onFragmentFor(const Request &request, std::span<const std::byte> bytes);
  void onPut(const RtrTable::Entry &rtr);
  void onWatched(const Tag &tag) { side_->onEarlyRtrPut(tag); }
  void askForNotice(const Tag &tag);
  void onNoNotice(const Tag &tag);
  void onConfirmed(uint32_t rendezvous);
  /// The sender cancels a run.
  void onCancel(const Tag &scope);
  void onCancelAck(const Tag &scope);
  /// Answers the deferred requests whose ids no longer name another message.
  void takeDeferred();
  size_t numDeferred() const { return deferred_.size(); }

  /// Drops the gets of a run, or a stream, that this rank cancels: none begins any more.
  void dropGets(const Tag &scope);
  bool hasOpenRma(const Tag &scope) const;

  void onRmaDone(uint16_t id) override;
  bool startRma(uint16_t id) override;

private:
  enum class State : uint8_t {
    None,
    Claimed,
    Getting,
    ToConfirm, ///< read, but so slowly that the sender may have cancelled the message
    RtrSent,
    Fragments,
  };
  /// A request to send that was answered.
  struct Claim : RemoteRma {
    State state = State::None;
    bool isCancelled = false; ///< while the sender's memory is read, or the sender may put
    Rts rts;
    RequestPayload payload;
    uint64_t received = 0;                            ///< Fragments
    std::chrono::steady_clock::time_point began = {}; ///< Getting
  };

  Claim &claimOf(const Rts &rts) { return claims_[rts.rendezvous & 0xffff]; }
  /// True if the sender puts nothing any more.
  bool isCancelAcked(const Tag &tag) const {
    return sender_.isCancelAcked(tag) || peer_.isGone || peer_.hasDisconnected;
  }
  bool mayBePut(const Claim &claim) const {
    return claim.state == State::RtrSent && !isCancelAcked(claim.rts.tag);
  }
  bool isAwaitingPut(const Rts &rts) const {
    uint16_t id = rts.buffer.id;
    return id < claims_.size() && claims_[id].state == State::RtrSent;
  }
  void endUse(network::RegisteredMemory &registered);
  void releaseRtr(network::RegisteredMemory &registered);
  void endOtherRtr(const RequestPayload &payload);
  void sendReady(const Tag &tag, const RequestPayload &payload);
  bool watch(const Tag &tag, const RequestPayload &payload);
  bool prepareRtr(const RequestPayload &payload);
  Claim *find(uint32_t rendezvous);
  void sendFinFrame(uint32_t rendezvous, const Tag &tag);
  void sendRtrFrame(const RequestPayload &payload, uint64_t bytes, const Tag &tag,
                    uint32_t rendezvous);
  void finishGet(Claim &claim);
  void releaseClaim(Claim &claim);
  void fragment(Claim &claim, std::span<const std::byte> bytes);

  RemoteContext &context_;
  network::Peer &peer_;
  RemoteSender &sender_;
  ReceiveSide<RemoteReceiver> *side_ = nullptr;
  std::deque<Claim> claims_; ///< by rendezvous id; claims stay where they are
  /// Requests that overtook the end of a put: the sender is done with it, and has used its id
  /// again.
  std::vector<Rts> deferred_;
};

} // namespace colldsl::protocol
