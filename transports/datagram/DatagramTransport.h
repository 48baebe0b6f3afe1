/// Frames in datagrams, which the network may lose, repeat and reorder.
///
/// A frame is parted into packets, which are sent from where it lies; it is done when the peer has
/// all of them. The receiver requests missing packets (Flow.h). Packets without this rank's token,
/// with a wrong checksum, or with impossible content are dropped.
///
/// A peer that is probed and sends nothing for Options::silence, neither its rank nor its process
/// (Keepalive.h), is lost. Memory follows the peers.
#pragma once

#include "transports/datagram/DatagramMulticast.h"
#include "transports/datagram/Keepalive.h"
#include "transports/network/Transport.h"
#include "wireup/NetworkSettings.h"

#include <array>

namespace colldsl::datagram {

/// Counters of packets, since the start.
struct Counts {
  uint64_t packets = 0;  ///< packets of frames sent for the first time
  uint64_t repeated = 0; ///< sent again
  uint64_t reports = 0;  ///< sent without a part of a frame
  uint64_t probes = 0;   ///< of these, because an expected packet did not come
  uint64_t useless = 0;  ///< came, and were there before
  uint64_t refused = 0;  ///< came from a stranger, or broken
};

/// From the options bind and multicast; defaults for those that are not set.
Result<Options> readOptions(NetworkSettings &settings);

/// Opens the transport of frames for one rank. `calls` outlives it.
Result<std::unique_ptr<network::Transport>> open(Rank self, const Options &options,
                                                 Calls &calls = Calls::real());

class DatagramTransport : public network::Transport {
public:
  /// Opens sockets that are bound to options.bind. `calls` outlives the transport.
  static Result<std::unique_ptr<DatagramTransport>> open(Rank self, const Options &options,
                                                         Calls &calls = Calls::real());
  ~DatagramTransport() override;

  Result<std::vector<std::byte>> address() const override;
  Status start(network::TransportHandler &handler, const network::Owner &owner) override;
  Status reach(network::Peer &peer, const network::RankAddress &rankAddress) override;
  network::PostResult send(network::Peer &to, network::Frame &frame) override;
  void expect(network::Peer &from) override;
  void expectLess(network::Peer &from) override;
  bool poll() override;
  std::optional<Wait> ifIdle() override;
  void stop() override;
  network::Multicast *multicast() override { return &multicast_; }
  uint64_t numRefused() const override { return counts_.refused + multicast_.counts().refused; }
  uint64_t bytes() const override;

  const Counts &counts() const { return counts_; }
  const MulticastCounts &multicastCounts() const { return multicast_.counts(); }
  /// The round trip time of a peer that was reached.
  const Pace &paceOf(const network::Peer &peer) const { return flowOf(peer)->pace; }

private:
  friend class DatagramMulticast;
  static constexpr uint32_t kBatch = 16;

  /// The contents of a rank's address.
  struct Place {
    uint64_t token = 0;
    in_addr_t address = 0;
    in_port_t port = 0;
    in_port_t keepalivePort = 0;
    uint32_t packetBytes = 0;
  };

  DatagramTransport(Rank self, const Options &options, Calls &calls);
  Status openSockets();
  Flow *flowOf(const network::Peer &peer) const;

  // Sending.
  bool pump(Flow &flow);
  uint32_t sendPackets(Flow &flow, std::span<OutPacket *const> packets);
  int sendAll(std::span<mmsghdr> messages);
  void sendOne(Flow &flow, PacketKind kind, uint8_t flags = 0, std::span<const iovec> body = {});
  void repeat(Flow &flow, std::span<OutPacket *const> packets);

  // Receiving.
  bool receive();
  template <typename Take> bool receiveOn(int file, Take takeOne);
  bool isTimeToMeasure();
  void take(std::span<const std::byte> datagram);
  Flow *senderOf(const PacketHeader &header);
  void takeReport(Flow &flow, const PacketHeader &header);
  void takeData(Flow &flow, const PacketView &packet);
  bool deliver(Flow &flow, uint8_t flags, std::span<const std::byte> body);
  void touch(Flow &flow);
  void reportAll();

  // Waiting.
  void readClock();
  bool isNow() const { return blindPolls_ == 0; }
  void letTimePass() { blindPolls_ += blindPolls_ == 0; }
  void timeLater(Flow &flow);
  void remindAt(TimeNs time) { nextTimer_ = std::min(nextTimer_, time); }
  void remind(const Flow &flow) { remindAt(flow.probeAt()); }
  void sendProbes();
  void probe(Flow &flow);
  void lose(Flow &flow, const std::string &reason);
  void finishFrames();
  void breakDown(const std::string &what, int error);

  Rank self_;
  Options options_;
  Calls &calls_;
  network::TransportHandler *handler_ = nullptr;
  uint32_t frameBytes_ = 0;
  Place place_;
  int socket_ = -1;
  std::unique_ptr<Keepalive> keepalive_;
  TimeNs now_ = 0;          ///< the last reading of the clock
  uint32_t blindPolls_ = 0; ///< since then
  uint32_t chance_ = 1;     ///< random, for the choice of packets that measure
  TimeNs measureUntil_ = 0; ///< until then every packet measures the round trip
  TimeNs nextTimer_ = 0;
  std::vector<std::unique_ptr<Flow>> flows_; ///< by Peer::handle - 1
  std::unordered_map<Rank, Flow *> flowByRank_;
  Flow *lastSender_ = nullptr;
  std::vector<Flow *> stuck_;   ///< flows of which the kernel did not take all packets
  std::vector<Flow *> touched_; ///< flows that received a packet
  std::vector<Flow *> untimed_; ///< their waits begin when the clock is read
  OutPackets packets_;
  std::vector<std::vector<std::byte>> spare_; ///< memory of packets that came early
  Flow::ReportResult result_;
  std::array<PacketHeader, kBatch> headers_;
  std::array<std::array<iovec, 2>, kBatch> pieces_ = {};
  std::array<mmsghdr, kBatch> messages_ = {};
  std::vector<std::byte> received_;
  std::array<mmsghdr, kBatch> slots_ = {};
  std::array<iovec, kBatch> slotMemory_ = {};
  Counts counts_;
  DatagramMulticast multicast_{*this};
  bool isBroken_ = false;
};

} // namespace colldsl::datagram
