/// Frames and writes over TCP connections of the kernel, without a library below.
///
/// A connection is made with the first frame to a peer. This rank sends on the first connection
/// with that peer, whichever end made it, and reads all. If both ends connect at once there are
/// two, and each end sends on its own. An operation is done when the kernel has all of its bytes.
///
/// A connection that the other end closes between two items is no failure by itself: ranks leave at
/// different times, and a ProcessMonitor watches their processes. Any other end loses the peer.
#pragma once

#include "transports/network/Transport.h"
#include "transports/tcp/TcpConnection.h"
#include "transports/tcp/TcpOptions.h"
#include "wireup/NetworkSettings.h"

namespace colldsl::tcp {

/// From the option bind; its default if that is not set.
Result<Options> readOptions(NetworkSettings &settings);

/// Opens the transport of frames for one rank. `calls` outlives it.
Result<std::unique_ptr<network::Transport>> open(const Options &options,
                                                 Calls &calls = Calls::real());

class TcpTransport : public network::Transport {
public:
  /// Opens a socket that is bound to options.bind. `calls` outlives the transport.
  static Result<std::unique_ptr<TcpTransport>> open(const Options &options,
                                                    Calls &calls = Calls::real());
  ~TcpTransport() override;

  Result<std::vector<std::byte>> address() const override;
  Status start(network::TransportHandler &handler, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  network::PostResult read(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  network::PostResult write(network::RmaOperation &rma, const network::RmaSpec &spec) override;
  Result<network::Region> registerMemory(std::span<const iovec> pieces,
                                         network::Access access) override;
  bool poll() override;
  std::optional<Wait> ifIdle() override;
  void stop() override;
  uint64_t numRefused() const override { return refused_; }
  uint64_t bytes() const override;

  /// Connections that are open now.
  size_t numConnections() const { return connections_.size(); }

private:
  class Incoming;
  struct Link;
  struct Connection;

  TcpTransport(const Options &options, Calls &calls);
  Status openSockets();
  Link &linkOf(const network::Peer &peer) const { return *links_[peer.handle - 1]; }
  network::PostResult refuse(std::string reason);

  // Sending.
  network::PostResult post(network::Peer &to, network::Operation &operation,
                           std::span<const std::byte> head, std::span<const iovec> pieces);
  Status connect(Link &link);
  bool flush(Connection &connection);
  bool reportDone();

  // Connections.
  Connection &add(int file, Link *link);
  void watch(Connection &connection, bool writable);
  bool acceptAll();
  void attend(Connection &connection, uint32_t events, bool &moved);
  void receive(Connection &connection, bool &moved);
  void close(Connection &connection, const std::string &reason);
  void lose(Connection &connection, const std::string &reason);

  Options options_;
  Calls &calls_;
  network::TransportHandler *handler_ = nullptr;
  network::Owner owner_;
  Address address_;
  uint16_t port_ = 0; ///< in network order
  int listener_ = -1, epoll_ = -1;
  std::vector<std::unique_ptr<Link>> links_; ///< by Peer::handle - 1
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<network::Operation *> done_; ///< that are not reported yet
  std::shared_ptr<Regions> regions_ = std::make_shared<Regions>();
  uint64_t nextKey_ = 0;
  std::unique_ptr<std::byte[]> received_;
  uint64_t refused_ = 0;
  bool hasClosed_ = false; ///< some connection is closed and to be removed
};

} // namespace colldsl::tcp
