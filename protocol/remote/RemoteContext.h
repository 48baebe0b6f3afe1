/// State that the wires of one rank to ranks of any machine share.
#pragma once

#include "protocol/CancelledRuns.h"
#include "transports/network/RegisteredMemory.h"

#include <vector>

namespace colldsl::protocol {

class RemoteReceiver;

/// The owner of reads or writes of a peer's memory (RMA).
class RmaOwner {
public:
  virtual void onRmaDone(uint16_t id) = 0;
  /// Begins the operation, once all that came is taken. False: not now.
  virtual bool startRma(uint16_t id) = 0;

protected:
  ~RmaOwner() = default;
};

struct RemoteRma : network::RmaOperation {
  RmaOwner *owner = nullptr;
  uint16_t id = 0; ///< rendezvous
};

/// The RTRs that a peer may answer by a put. The id of an RTR comes as immediate data with the last
/// byte of the put. Not thread safe.
class RtrTable {
public:
  struct Entry {
    RemoteReceiver *receiver = nullptr; ///< null: no receive waits for the put
    Tag tag;
    uint16_t id = 0;      ///< rendezvous, after an RTS
    bool isEarly = false; ///< an early RTR, which has no `id`
    bool stays = false;   ///< after a put, too
    uint32_t use = 0;
  };

  /// True if there is room for one more RTR.
  bool hasRoom() const { return !free_.empty() || entries_.size() < (1u << kPlaceBits); }
  /// Adds an RTR; there is room. Returns its place. `key`: of the memory, if puts carry the key as
  /// their immediate data.
  uint32_t add(const Entry &rtr, std::optional<uint64_t> key);
  /// The id by which the peer names the RTR.
  uint32_t idOf(uint32_t place) const { return place | entries_[place].use << kPlaceBits; }
  /// Sets the message that is put next by an RTR that stays.
  void renew(uint32_t place, const Entry &rtr);
  void retire(uint32_t place);
  /// The RTR with an id from a peer, which may be anything; it is retired unless it stays. Its
  /// receiver is null if there is none.
  Entry take(uint32_t id);
  size_t numInUse() const;

private:
  static constexpr uint32_t kPlaceBits = 20;

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

/// A static message that ends without a notification, and whose last byte is polled.
struct CanaryWatch {
  RemoteReceiver *receiver = nullptr;
  Tag tag;
  const network::RegisteredMemory *memory = nullptr;
  const std::byte *last = nullptr;
  /// Its sender was asked to notify this rank: if it does, the last byte must not end the receive,
  /// too. Yes until it has answered that it does not.
  bool isSuspended = false;
  bool wasSuspended = false;
};

struct RemoteContext {
  RemoteContext(network::Transport &ofTransport, const network::Options &ofOptions)
      : transport(ofTransport), options(ofOptions) {}

  network::Transport &transport;
  const network::Options &options;
  network::ActiveMessages *am = nullptr;
  RtrTable rtrs;
  std::vector<RemoteRma *> rmaQueue; ///< they start when all that came is taken
  std::vector<CanaryWatch> watches;
  const CancelledRuns *discarded = nullptr;

  bool isDiscarded(const Tag &tag) const {
    return discarded->contains(streamOf(tag)) || discarded->containsRunOf(tag);
  }

  /// True if this end may read or write the peer's memory itself to move the payload.
  bool canUseRma(const network::Peer &peer, const RequestPayload &payload, uint64_t bytes) const;
  /// Variant of canUseRma() for a put by the other end into the payload's pieces, all at once.
  bool canBeWritten(const network::Peer &peer, const RequestPayload &payload, uint64_t bytes) const;
  /// True if all pieces of a payload that canUseRma() allows can be used at once. Registers them
  /// if the transport needs that.
  bool canGather(const RequestPayload &payload, network::Access access) const;
  /// Completes the receives whose last byte is here. True: there was one.
  bool takeWatched();
  /// Before a sleep, which no last byte ends: asks their senders for notifications. True if a
  /// sender has answered that it gives none, so that its last byte must be polled.
  bool suspendWatches();
  uint32_t mostRemoteIovs() const {
    return std::min(network::kMaxRemoteIovs, transport.capabilities().remoteIovs);
  }

private:
  // A message that needs no notice of its own is put however short it is.
  bool isLongEnough(const RequestPayload &payload, uint64_t bytes) const {
    return bytes > (payload.registered->isAnnounced ? 0 : options.rmaThresholdBytes);
  }
};

} // namespace colldsl::protocol
