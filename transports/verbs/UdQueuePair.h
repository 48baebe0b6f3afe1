/// The queue pair for datagrams over which ranks that are not connected yet shake hands.
///
/// Not thread safe.
#pragma once

#include "transports/network/ActiveMessages.h"
#include "transports/verbs/Device.h"
#include "transports/verbs/Handshake.h"
#include "transports/verbs/VerbsCalls.h"

#include <array>

namespace colldsl::verbs {

/// The address where datagrams reach a rank; the transport's part of its address.
struct UdAddress {
  std::array<uint8_t, 16> gid = {};
  uint32_t pair = 0;
  uint32_t key = 0; ///< without which the device drops a datagram
  uint16_t lid = 0;
  uint16_t unused = 0;
};
static_assert(sizeof(UdAddress) <= network::RankAddress::kMaxAddressBytes);

class UdQueuePair {
public:
  static constexpr uint32_t kReceives = 64, kSends = 64;

  /// `device` and `calls` outlive it.
  UdQueuePair(Device &device, Calls &calls) : device_(device), calls_(calls) {}

  Status open();
  /// `transport` registers memory, and outlives it.
  Status start(network::Transport &transport);
  void close() { pair_.reset(); }

  const UdAddress &address() const { return address_; }
  Result<AddressHandle> pathTo(const UdAddress &address) const;
  /// Sends a message if there is room; else it is lost, as others may be. An error: nothing can be
  /// sent.
  Status send(ibv_ah *path, const UdAddress &to, const HandshakeMessage &message);

  bool owns(const ibv_wc &completion) const { return pair_ && completion.qp_num == pair_->qp_num; }
  /// The received datagram, if the completion is of a receive.
  std::optional<HandshakeMessage> take(const ibv_wc &completion);

  uint64_t numRefused() const { return refused_; }
  uint64_t bytes() const { return received_ ? received_->bytes() + sent_->bytes() : 0; }

private:
  void listen(network::Frame &frame);

  Device &device_;
  Calls &calls_;
  UdAddress address_;
  std::optional<network::FramePool> received_, sent_;
  uint32_t numSent_ = 0; ///< messages that the device has
  uint64_t refused_ = 0;
  QueuePair pair_;
};

/// The route of packets to a port.
ibv_ah_attr routeTo(const Device &device, const UdAddress &address);

} // namespace colldsl::verbs
