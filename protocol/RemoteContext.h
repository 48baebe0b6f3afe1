/// What the wires of one rank to ranks of any machine share.
#pragma once

#include "protocol/Discarded.h"
#include "transports/network/RegisteredMemory.h"

#include <vector>

namespace colldsl::protocol {

class RemoteReceiver;

/// What has reads or writes of a peer's memory under way.
class MoveOwner {
public:
  virtual void onMoved(uint16_t id) = 0;
  /// Once all that came is taken. False: not now.
  virtual bool startMove(uint16_t id) = 0;

protected:
  ~MoveOwner() = default;
};

struct RemoteMove : network::Move {
  MoveOwner *owner = nullptr;
  uint16_t id = 0; ///< rendezvous
};

/// The buffers that peers may put into: a peer names one by a ticket, which comes with the last
/// byte. Not thread safe.
class TicketTable {
public:
  struct Ticket {
    RemoteReceiver *receiver = nullptr; ///< null: no receive waits for the put
    Tag tag;
    uint16_t id = 0;      ///< rendezvous, if the sender asked
    bool isEarly = false; ///< no: of an early RTR
    uint32_t use = 0;
  };

  /// Whether there can be one more.
  bool hasRoom() const { return !free_.empty() || tickets_.size() < (1u << kPlaceBits); }
  /// The place of a new ticket; there is room. `key`: of the memory, where the carrier names puts
  /// by that.
  uint32_t add(const Ticket &ticket, std::optional<uint64_t> key);
  /// As the peer names it.
  uint32_t nameOf(uint32_t place) const { return place | tickets_[place].use << kPlaceBits; }
  void retire(uint32_t place);
  /// Of a name from a peer, which may be anything: the ticket, retired. Its receiver is null if
  /// there is none.
  Ticket take(uint32_t name);
  size_t numInUse() const;

private:
  static constexpr uint32_t kPlaceBits = 20;

  std::vector<Ticket> tickets_;
  std::vector<uint32_t> free_;
};

struct RemoteContext {
  RemoteContext(network::Carrier &ofCarrier, const network::Options &ofOptions)
      : carrier(ofCarrier), options(ofOptions) {}

  network::Carrier &carrier;
  const network::Options &options;
  network::ActiveMessages *am = nullptr;
  TicketTable tickets;
  std::vector<RemoteMove *> toMove; ///< when all that came is taken
  const Discarded *discarded = nullptr;

  bool isDiscarded(const Tag &tag) const {
    return discarded->contains(streamOf(tag)) || discarded->containsRunOf(tag);
  }

  /// Whether this end may read or write the payload itself.
  bool canMove(const network::Peer &peer, const RequestPayload &payload, uint64_t bytes) const;
  /// The same of the other end, into several pieces of its memory at once.
  bool canBeWritten(const network::Peer &peer, const RequestPayload &payload, uint64_t bytes) const;
  /// Of a payload that this end may move: whether it can from all of its pieces.
  bool canGather(const RequestPayload &payload, network::Access access) const;
  uint32_t mostRemoteIovs() const {
    return std::min(network::kMaxRemoteIovs, carrier.capabilities().remoteIovs);
  }
};

} // namespace colldsl::protocol
