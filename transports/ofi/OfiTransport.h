/// Frames, reads and writes over a reliable datagram endpoint of libfabric.
#pragma once

#include "transports/network/ActiveMessages.h"
#include "transports/network/Transport.h"
#include "transports/ofi/RdmEndpoint.h"

namespace colldsl::ofi {

class OfiTransport : public network::Transport {
public:
  /// `calls` outlives it.
  static Result<std::unique_ptr<network::Transport>> open(Options options,
                                                          Calls &calls = Calls::real());

  Result<std::vector<std::byte>> address() const override { return endpoint_->address(); }
  Status start(network::TransportHandler &handler, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  network::PostResult inject(network::Peer &to, std::span<const std::byte> frame) override;
  network::PostResult read(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  network::PostResult write(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  Result<network::Region> registerMemory(std::span<const iovec> pieces,
                                         network::Access access) override {
    return endpoint_->registerMemory(pieces, access);
  }
  Result<network::Region> registerDevice(const network::DeviceMemory &memory) override {
    return endpoint_->registerDevice(memory);
  }
  bool poll() override;
  std::optional<Wait> ifIdle() override { return endpoint_->ifIdle(); }
  void stop() override { endpoint_->stop(); }
  void stopUnconfirmed() override;
  uint64_t numRefused() const override { return refused_; }
  uint64_t bytes() const override { return received_ ? received_->bytes() : 0; }

private:
  OfiTransport(std::unique_ptr<RdmEndpoint> endpoint, Calls &calls, uint32_t postedReceives);
  network::PostResult offered(ssize_t code);
  void listen(network::Frame &frame);
  bool listenAgain();
  void take(const fi_cq_data_entry &entry);
  void takeError();
  bool takeReceive(network::Operation &operation);
  void breakDown(const std::string &what, ssize_t code);

  std::unique_ptr<RdmEndpoint> endpoint_;
  Calls &calls_;
  uint32_t postedReceives_;
  network::TransportHandler *handler_ = nullptr;
  std::optional<network::FramePool> received_;
  network::FrameQueue deaf_; ///< receives that the provider did not take
  uint64_t refused_ = 0;
  bool isBroken_ = false;
};

} // namespace colldsl::ofi
