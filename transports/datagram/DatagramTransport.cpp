#include "transports/datagram/DatagramTransport.h"

#include "transports/datagram/Sockets.h"
#include "wireup/Interfaces.h"

#include <arpa/inet.h>
#include <cstring>
#include <sys/random.h>
#include <unistd.h>

namespace colldsl::datagram {
namespace {

constexpr uint32_t kIpAndUdpBytes = 28;
constexpr uint32_t kMaxBlindPolls = 8;
// The time in which every packet measures the round trip, after a peer was reached: it may be far
// or near.
constexpr TimeNs kMeasuring = 100'000'000;
// The shortest packet whose part of a frame is worth sending.
constexpr uint32_t kLeastPacketBytes = sizeof(PacketHeader) + 64;

sockaddr_in nameOf(in_addr_t address, in_port_t port) {
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = address;
  name.sin_port = port;
  return name;
}

} // namespace

Result<Options> readOptions(NetworkSettings &settings) {
  Options options;
  if (Status s = settings.readBind("COLLDSL_DATAGRAM_BIND", options.bind); !s)
    return s;
  if (Status s = settings.readFlag("COLLDSL_DATAGRAM_MULTICAST", options.multicast); !s)
    return s;
  return options;
}

Result<std::unique_ptr<network::Transport>> open(Rank self, const Options &options, Calls &calls) {
  Result<std::unique_ptr<DatagramTransport>> transport =
      DatagramTransport::open(self, options, calls);
  if (!transport)
    return transport.status();
  return std::unique_ptr<network::Transport>(transport.take());
}

DatagramTransport::DatagramTransport(Rank self, const Options &options, Calls &calls)
    : self_(self), options_(options), calls_(calls), received_(size_t{kBatch} * kMaxPacketBytes) {
  capabilities_.name = "datagram";
  capabilities_.multicast = options.multicast;
  for (uint32_t i = 0; i < kBatch; ++i) {
    slotMemory_[i] = {received_.data() + size_t{i} * kMaxPacketBytes, kMaxPacketBytes};
    slots_[i].msg_hdr.msg_iov = &slotMemory_[i];
    slots_[i].msg_hdr.msg_iovlen = 1;
    pieces_[i][0] = {&headers_[i], sizeof headers_[i]};
    messages_[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
    messages_[i].msg_hdr.msg_iov = pieces_[i].data();
    messages_[i].msg_hdr.msg_iovlen = 2;
  }
}

Result<std::unique_ptr<DatagramTransport>>
DatagramTransport::open(Rank self, const Options &options, Calls &calls) {
  std::unique_ptr<DatagramTransport> transport(new DatagramTransport(self, options, calls));
  if (Status s = transport->openSockets(); !s)
    return s;
  return transport;
}

Status DatagramTransport::openSockets() {
  Result<std::string> words = addressAt(options_.bind);
  if (!words)
    return words.status();
  in_addr address;
  if (inet_pton(AF_INET, words->c_str(), &address) != 1)
    return Status::error("'" + *words + "' is not an IPv4 address");
  if (getrandom(&place_.token, sizeof place_.token, 0) != sizeof place_.token)
    return Status::error("the kernel has no random numbers");
  Result<Socket> socket = openSocket(address);
  if (!socket)
    return socket.status();
  socket_ = socket->file;
  Result<std::unique_ptr<Keepalive>> keepalive = Keepalive::start(address, self_, place_.token);
  if (!keepalive)
    return keepalive.status();
  keepalive_ = keepalive.take();
  uint32_t most = std::min(mtuOf(address) - kIpAndUdpBytes, kMaxPacketBytes);
  chance_ = static_cast<uint32_t>(place_.token);
  place_.address = address.s_addr;
  place_.port = socket->name.sin_port;
  place_.keepalivePort = keepalive_->port();
  place_.packetBytes = options_.packetBytes == 0 ? most : std::min(options_.packetBytes, most);
  return place_.packetBytes >= kLeastPacketBytes
             ? Status()
             : Status::error("packets of " + std::to_string(place_.packetBytes) +
                             " bytes are too short");
}

DatagramTransport::~DatagramTransport() { stop(); }

// Acknowledges the packets that came: peers wait for that before they end.
void DatagramTransport::stop() {
  if (socket_ < 0)
    return;
  keepalive_.reset(); // ends its thread first
  for (const auto &flow : flows_)
    if (flow->owesAnything() && !flow->peer.isLost)
      sendOne(*flow, PacketKind::Status);
  multicast_.stop();
  close(socket_);
  socket_ = -1;
}

Result<std::vector<std::byte>> DatagramTransport::address() const {
  auto bytes = std::as_bytes(std::span(&place_, 1));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Status DatagramTransport::start(network::TransportHandler &handler, const network::Owner &owner) {
  handler_ = &handler;
  frameBytes_ = owner.frameBytes;
  multicast_.start(frameBytes_ - static_cast<uint32_t>(sizeof(network::Header)));
  now_ = calls_.now();
  nextTimer_ = now_ + options_.longestPause.count();
  keepalive_->attendBy([&handler] { handler.onNeglected(); });
  return {};
}

Status DatagramTransport::reach(network::Peer &peer, const network::RankAddress &rankAddress) {
  Place there;
  if (rankAddress.addressBytes != sizeof there)
    return Status::error("it has no address for datagrams");
  std::memcpy(&there, rankAddress.address.data(), sizeof there);
  if (there.packetBytes < kLeastPacketBytes || there.packetBytes > kMaxPacketBytes)
    return Status::error("it takes no packets of " + std::to_string(there.packetBytes) + " bytes");
  flows_.push_back(
      std::make_unique<Flow>(peer, options_, std::min(there.packetBytes, place_.packetBytes)));
  Flow &flow = *flows_.back();
  flow.token = there.token;
  flow.address = nameOf(there.address, there.port);
  flow.keepalive = nameOf(there.address, there.keepalivePort);
  flowByRank_.emplace(peer.rank, &flow);
  measureUntil_ = now_ + kMeasuring;
  peer.handle = flows_.size();
  return {};
}

Flow *DatagramTransport::flowOf(const network::Peer &peer) const {
  return peer.handle == 0 ? nullptr : flows_[peer.handle - 1].get();
}

uint64_t DatagramTransport::bytes() const {
  uint64_t sum = received_.size() + packets_.bytes() + multicast_.bytes();
  for (const std::vector<std::byte> &memory : spare_)
    sum += memory.capacity();
  for (const auto &flow : flows_)
    sum += flow->bytes();
  return sum;
}

std::optional<network::Transport::Wait> DatagramTransport::ifIdle() {
  readClock();
  blindPolls_ = kMaxBlindPolls; // after a sleep the clock is read first
  return Wait{multicast_.waitFile(socket_),
              std::chrono::nanoseconds(std::max<TimeNs>(nextTimer_ - now_, 0))};
}

// Reading the clock costs as much as a good part of a packet. So the transport reads it when
// nothing came and in one of some other polls, and all events in between have one time. A rank that
// was away for long must not take its peers for silent.
void DatagramTransport::readClock() {
  TimeNs before = std::exchange(now_, calls_.now());
  blindPolls_ = 0;
  if (now_ - before > std::chrono::nanoseconds(options_.silence).count() / 4)
    for (const auto &flow : flows_)
      flow->clearSilence();
  for (Flow *flow : untimed_) {
    flow->beginWait(now_);
    remind(*flow);
  }
  untimed_.clear();
  multicast_.beginWaits();
}

bool DatagramTransport::poll() {
  if (++blindPolls_ > kMaxBlindPolls)
    readClock();
  bool moved = receive();
  if (!stuck_.empty())
    for (Flow *flow : std::exchange(stuck_, {}))
      moved |= pump(*flow);
  if (!moved && !isNow())
    readClock();
  if (now_ >= nextTimer_)
    sendProbes();
  letTimePass();
  return moved;
}

} // namespace colldsl::datagram
