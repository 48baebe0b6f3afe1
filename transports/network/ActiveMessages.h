/// Frames between this rank and its peers: each arrives once, those of one peer in order. Reads
/// and writes of peers' memory go the same way, but keep no order.
///
/// No call waits: a frame that the transport does not take now is kept and posted again. A peer is
/// made with the first frame to it or from it, so memory follows the peers that plans name. A
/// frame without this rank's token is dropped.
///
/// Not thread safe.
#pragma once

#include "transports/Pieces.h"
#include "transports/network/Frames.h"

#include <functional>
#include <unordered_map>

namespace colldsl::network {

/// The handler's state of a peer.
struct PeerState {
  virtual ~PeerState() = default;
};

/// Another rank, or this one: a frame to itself comes back with the next poll.
struct Peer {
  Rank rank = kNoRank;
  uint64_t handle = 0; ///< the transport's
  uint64_t token = 0;
  uint32_t sent = 0;                ///< units of eager messages to it, ever
  uint32_t sentConsumed = 0;        ///< of these, those that it has consumed
  uint32_t consumed = 0;            ///< units of its eager messages, consumed by this rank
  uint32_t consumedReported = 0;    ///< of these, those that it was notified of
  uint8_t nextSent = 0;             ///< sequence numbers
  uint8_t nextExpected = 0;         ///< of its next frame
  uint32_t longInFlight = 0;        ///< long frames that the transport has
  uint32_t open = 0;                ///< frames and moves that the transport has
  uint32_t openFrames = 0;          ///< of these, frames
  FrameQueue waiting;               ///< frames that the transport has not taken yet
  std::unique_ptr<PeerState> state; ///< the handler's
  bool isSelf = false;
  bool isLost = false;                 ///< no frame reaches it any more
  bool isGone = false;                 ///< its process has ended
  bool wasSentDisconnect = false;      ///< by this rank
  bool hasDisconnected = false;        ///< it sends nothing any more
  bool acknowledgedDisconnect = false; ///< it has all that this rank sent
};

/// Receives the frames and events. May call everything of ActiveMessages but poll().
class ActiveMessageHandler {
public:
  virtual ~ActiveMessageHandler() = default;
  virtual void onFrame(Peer &from, const Header &header, std::span<const std::byte> body) = 0;
  virtual void onRmaDone(RmaOperation &rma) = 0;
  virtual void onRemoteWrite(uint32_t immediate) = 0; ///< the last byte of a peer's write is here
  virtual void onLost(Peer &peer, const std::string &reason) = 0;
  virtual void onBroken(const std::string &reason) = 0; ///< nothing moves any more
  virtual void onNeglected() = 0; ///< from any thread: the owner is to lock itself and poll
};

/// Returns the address of a rank; called once per peer.
using Directory = std::function<Result<RankAddress>(Rank)>;

class ActiveMessages : private TransportHandler {
public:
  /// `transport` and `handler` outlive it.
  ActiveMessages(Transport &transport, ActiveMessageHandler &handler, Rank self, uint64_t token,
                 const Options &options);

  /// Starts the transport, which posts the receives, before the first send.
  Status start(Directory directory);

  /// The peer for a rank, made with the first call. An error: it is not in the directory, or cannot
  /// be reached.
  Result<Peer *> peer(Rank rank);
  const std::unordered_map<Rank, std::unique_ptr<Peer>> &peers() const { return peers_; }

  /// Sends a frame, now or with a later poll. Fills in the header's token, sequence and credit.
  /// Drops all frames to a peer that has disconnected, except the acknowledgement.
  void send(Peer &to, Header header, std::span<const std::byte> body);
  template <typename Body> void send(Peer &to, Header header, const Body &body) {
    send(to, header, std::as_bytes(std::span(&body, 1)));
  }
  /// Sends bytes [offset, offset + bytes) of a message.
  void sendPart(Peer &to, Header header, const Payload &payload, uint64_t offset, uint32_t bytes);

  /// True if the window has room for an eager message.
  bool hasWindow(const Peer &to, uint64_t bytes) const {
    return to.sent - to.sentConsumed + unitsOf(bytes) <= options_.windowBytes;
  }
  /// True if there is memory for a frame of `bytes` bytes, besides its header.
  bool hasFrame(uint64_t bytes) { return poolFor(sizeof(Header) + bytes).hasMore(); }
  /// True if there will be such memory once the frames under way are done.
  bool willHaveFrame(uint64_t bytes) { return poolFor(sizeof(Header) + bytes).bytes() != 0; }
  /// Takes window room for a message on its way of `bytes` bytes; the window has the room.
  void useWindow(Peer &to, uint64_t bytes) { to.sent += unitsOf(bytes); }
  /// Gives back the window room of a message that is not sent after all.
  void leaveWindow(Peer &to, uint64_t bytes) { to.sent -= unitsOf(bytes); }
  /// Sends a whole message; the window has room.
  void sendEager(Peer &to, Header header, const Payload &payload);
  /// Counts an eager message of a peer as out of the way.
  void consume(Peer &from, uint64_t bytes);

  /// Starts a read or a write. False: the transport does not take it now.
  bool startRma(RmaOperation &rma, const RmaSpec &spec, bool writes);

  /// Takes the frames that came, and offers those that wait. True: something moved.
  bool poll();

  /// True if the transport is done with all messages to reachable peers.
  bool isIdle() const;
  /// True if all messages to this peer are there, taken or not.
  bool hasAll(const Peer &peer) const {
    return peer.open == 0 && peer.waiting.empty() && transport_.isIdle(peer);
  }
  /// True if the transport is done with all frames to this peer, or it is lost.
  bool hasSent(const Peer &peer) const {
    return (peer.openFrames == 0 && peer.waiting.empty()) || peer.isLost;
  }
  void lose(Peer &peer, const std::string &reason);

  /// The number of frames for others, ever, and of those that the transport is done with.
  uint64_t numSent() const { return sent_; }
  uint64_t numDone() const { return done_; }
  /// The number of frames that were refused as a stranger's, or as broken.
  uint64_t numRefused() const { return refused_ + transport_.numRefused(); }
  /// Bytes of memory for frames.
  uint64_t bytes() const {
    return short_.bytes() + middle_.bytes() + long_.bytes() + transport_.bytes();
  }

private:
  static constexpr uint32_t kShortFrame =
      320; ///< holds the longest body that is no payload, but for Group
  static constexpr uint32_t kMiddleFrame = 8 << 10; ///< besides its header
  static uint32_t unitsOf(uint64_t bytes) {
    return static_cast<uint32_t>(bytes) + kUnitsPerMessage;
  }
  FramePool &poolFor(uint64_t frameBytes) {
    return frameBytes <= kShortFrame            ? short_
           : frameBytes <= middle_.frameBytes() ? middle_
                                                : long_;
  }
  bool accepts(const Peer &to, Kind kind) const {
    return !to.isLost && (!to.hasDisconnected || kind == Kind::DisconnectAck);
  }
  void complete(Peer &to, Header &header, uint64_t bodyBytes);
  Frame *fresh(Peer &to, const Header &header, uint64_t bodyBytes);
  bool injects(const Peer &to, uint64_t bodyBytes) const;
  bool inject(Peer &to, const Header &header, std::span<const std::byte> body);
  void hand(Peer &to, Frame &frame);
  bool offer(Peer &to, Frame &frame);
  bool deliverLocal();
  bool offerStuck();
  bool close(Operation &operation);
  void onBytes(std::span<const std::byte> bytes) override;
  void onDone(Operation &operation) override;
  void onFailed(Operation &operation, const std::string &reason) override;
  void onRemoteWrite(uint32_t immediate) override { handler_.onRemoteWrite(immediate); }
  void onLost(Peer &peer, const std::string &reason) override { lose(peer, reason); }
  void onBroken(const std::string &reason) override { handler_.onBroken(reason); }
  Peer *onConnectRequest(Rank from) override;
  void onNeglected() override { handler_.onNeglected(); }
  bool isNext(Peer &from, uint8_t sequence);
  void takeBroken(const Header &header, size_t bytes);

  Transport &transport_;
  ActiveMessageHandler &handler_;
  Rank self_;
  uint64_t token_;
  Options options_;
  Directory directory_;
  FramePool short_, middle_, long_;
  std::unordered_map<Rank, std::unique_ptr<Peer>> peers_;
  std::vector<Peer *> stuck_; ///< peers with frames that wait
  FrameQueue local_;          ///< from this rank to itself
  uint64_t sent_ = 0, done_ = 0;
  uint64_t refused_ = 0;
};

} // namespace colldsl::network
