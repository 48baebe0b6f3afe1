/// Connects queue pairs by handshakes over datagrams: three for each pair.
#pragma once

#include "transports/verbs/Connector.h"
#include "transports/verbs/UdQueuePair.h"

namespace colldsl::verbs {

class UdConnector : public Connector {
public:
  /// `device` and `calls` outlive it.
  static Result<std::unique_ptr<Connector>> open(Device &device, Calls &calls);

  std::vector<std::byte> address() const override;
  Status start(network::Transport &transport, ConnectorHost &host,
               const network::Owner &owner) override;
  Result<std::unique_ptr<Link>> reach(network::Peer &peer,
                                      const network::RankAddress &rankAddress) override;
  Status begin(Link &link) override;
  bool take(const ibv_wc &completion) override;
  void onFirstReceive(Link &) override {}
  bool poll() override;
  network::Transport::Wait wait() override;
  void stop() override { ud_.close(); }
  uint32_t completions() const override { return UdQueuePair::kReceives + UdQueuePair::kSends; }
  uint64_t numRefused() const override { return ud_.numRefused(); }
  uint64_t bytes() const override { return ud_.bytes(); }

private:
  struct UdLink;

  UdConnector(Device &device, Calls &calls) : device_(device), ud_(device, calls) {}
  Status makePair(UdLink &link);
  Status letReceive(UdLink &link, const QueuePairAddress &there);
  Status letSend(UdLink &link, const QueuePairAddress &there);
  Status send(UdLink &link, HandshakeMessage message);
  void receive(const HandshakeMessage &message);
  Status follow(UdLink &link, const HandshakeMessage &message);

  Device &device_;
  UdQueuePair ud_;
  ConnectorHost *host_ = nullptr;
  Rank self_ = kNoRank;
  std::vector<UdLink *> connecting_;
};

} // namespace colldsl::verbs
