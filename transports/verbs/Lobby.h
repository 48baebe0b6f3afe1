/// Where ranks that are not connected yet meet: a queue pair for datagrams, over which they shake
/// hands.
///
/// Not thread safe.
#pragma once

#include "transports/network/ActiveMessages.h"
#include "transports/verbs/Calls.h"
#include "transports/verbs/Device.h"
#include "transports/verbs/Handshake.h"

#include <array>

namespace colldsl::verbs {

/// Where a rank's lobby is; travels in its rankAddress.
struct LobbyAddress {
  std::array<uint8_t, 16> gid = {};
  uint32_t pair = 0;
  uint32_t key = 0; ///< without which the device drops a datagram
  uint16_t lid = 0;
  uint16_t unused = 0;
};
static_assert(sizeof(LobbyAddress) <= network::RankAddress::kMostAddressBytes);

class Lobby {
public:
  static constexpr uint32_t kReceives = 64, kSends = 64;

  /// `device` and `calls` outlive it.
  Lobby(Device &device, Calls &calls) : device_(device), calls_(calls) {}

  Status open();
  /// `carrier` registers memory, and outlives it.
  Status start(network::Carrier &carrier);
  void close() { pair_.reset(); }

  const LobbyAddress &address() const { return address_; }
  Result<AddressHandle> pathTo(const LobbyAddress &address) const;
  /// Perhaps: what finds no room is lost, as others may be. An error: nothing can be said.
  Status say(ibv_ah *path, const LobbyAddress &to, const Shake &shake);

  bool owns(const ibv_wc &completion) const { return pair_ && completion.qp_num == pair_->qp_num; }
  /// What was heard, if that is what the completion says.
  std::optional<Shake> take(const ibv_wc &completion);

  uint64_t numRefused() const { return refused_; }
  uint64_t bytes() const { return heard_ ? heard_->bytes() + said_->bytes() : 0; }

private:
  void listen(network::Frame &frame);

  Device &device_;
  Calls &calls_;
  LobbyAddress address_;
  std::optional<network::FramePool> heard_, said_;
  uint32_t numSaid_ = 0; ///< that the device has
  uint64_t refused_ = 0;
  QueuePair pair_;
};

/// How packets go to a port.
ibv_ah_attr routeTo(const Device &device, const LobbyAddress &address);

} // namespace colldsl::verbs
