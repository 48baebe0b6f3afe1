/// Connects queue pairs by handshakes over datagrams: three for each pair.
#pragma once

#include "transports/verbs/Connector.h"
#include "transports/verbs/Lobby.h"

namespace colldsl::verbs {

class Shaker : public Connector {
public:
  /// `device` and `calls` outlive it.
  static Result<std::unique_ptr<Connector>> open(Device &device, Calls &calls);

  std::vector<std::byte> address() const override;
  Status start(network::Carrier &carrier, ConnectorHost &host,
               const network::Owner &owner) override;
  Result<std::unique_ptr<Link>> reach(network::Peer &peer,
                                      const network::RankAddress &rankAddress) override;
  Status begin(Link &link) override;
  bool take(const ibv_wc &completion) override;
  void heard(Link &) override {}
  bool poll() override;
  network::Carrier::Wait wait() override;
  void stop() override { lobby_.close(); }
  uint32_t completions() const override { return Lobby::kReceives + Lobby::kSends; }
  uint64_t numRefused() const override { return lobby_.numRefused(); }
  uint64_t bytes() const override { return lobby_.bytes(); }

private:
  struct Shaken;

  Shaker(Device &device, Calls &calls) : device_(device), lobby_(device, calls) {}
  Status makePair(Shaken &link);
  Status letReceive(Shaken &link, const QueueCard &there);
  Status letSend(Shaken &link, const QueueCard &there);
  Status say(Shaken &link, Shake shake);
  void hear(const Shake &shake);
  Status follow(Shaken &link, const Shake &shake);

  Device &device_;
  Lobby lobby_;
  ConnectorHost *host_ = nullptr;
  Rank self_ = kNoRank;
  std::vector<Shaken *> shaking_;
};

} // namespace colldsl::verbs
