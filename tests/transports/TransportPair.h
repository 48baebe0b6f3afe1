/// Two transports over datagrams in one process, moved by one thread, and what comes of them.
#pragma once

#include "transports/datagram/DatagramTransport.h"

#include <array>
#include <deque>

namespace colldsl::test {

/// What one rank says and hears.
class TransportEnd : public network::TransportHandler {
public:
  std::unique_ptr<datagram::DatagramTransport> transport;
  network::Peer peer;
  std::vector<std::vector<std::byte>> received;
  std::string trouble; ///< why the peer is lost

  void sendOne(std::vector<std::byte> bytes);
  bool isDone() const { return open_ == 0; }

  void onBytes(std::span<const std::byte> bytes) override {
    received.emplace_back(bytes.begin(), bytes.end());
  }
  void onDone(network::Operation &) override { --open_; }
  void onFailed(network::Operation &, const std::string &reason) override { trouble = reason; }
  void onRemoteWrite(uint32_t) override {}
  void onLost(network::Peer &lost, const std::string &reason) override {
    lost.isLost = true;
    trouble = reason;
  }
  void onBroken(const std::string &reason) override { trouble = reason; }
  network::Peer *onConnectRequest(Rank) override { return nullptr; }
  void onNeglected() override {}

private:
  std::deque<std::pair<network::Frame, std::vector<std::byte>>> frames_; ///< all, to the end
  uint64_t open_ = 0;
};

class TransportPair {
public:
  TransportPair(const datagram::Options &options, datagram::Calls &calls);
  std::array<TransportEnd, 2> ends;
  std::string trouble; ///< why there are none

  /// Both look once.
  void poll() {
    for (TransportEnd &end : ends)
      if (end.transport)
        end.transport->poll();
  }
};

/// Of these bytes, all different.
std::vector<std::byte> makeFrame(uint32_t seed, size_t bytes);

} // namespace colldsl::test
