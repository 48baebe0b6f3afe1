#include "transports/verbs/UdConnector.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

namespace colldsl::verbs {
namespace {

// Codes of the standard: a sender waits for an acknowledgement for 67 ms, 8 times; it sends a
// request again after 0.08 ms to a receiver without receives, for as long as that lives.
constexpr uint8_t kTimeout = 14, kRetries = 7, kForEver = 7, kNotReadyPause = 6;

template <typename T> Status randomize(T &value) {
  return getrandom(&value, sizeof value, 0) == sizeof value
             ? Status()
             : Status::error("the kernel has no random numbers");
}

} // namespace

struct UdConnector::UdLink : Link {
  UdLink(network::Peer &peer, const Handshake &handshake) : Link(peer), handshake(handshake) {}
  Handshake handshake;
  UdAddress address;
  QueuePairAddress queue; ///< of this end
  AddressHandle path;
};

Result<std::unique_ptr<Connector>> UdConnector::open(Device &device, Calls &calls) {
  std::unique_ptr<UdConnector> connector(new UdConnector(device, calls));
  if (Status s = connector->ud_.open(); !s)
    return s;
  return std::unique_ptr<Connector>(std::move(connector));
}

std::vector<std::byte> UdConnector::address() const {
  auto bytes = std::as_bytes(std::span(&ud_.address(), 1));
  return {bytes.begin(), bytes.end()};
}

Status UdConnector::start(network::Transport &transport, ConnectorHost &host,
                          const network::Owner &owner) {
  host_ = &host;
  self_ = owner.self;
  return ud_.start(transport);
}

Result<std::unique_ptr<Link>> UdConnector::reach(network::Peer &peer,
                                                 const network::RankAddress &rankAddress) {
  if (rankAddress.addressBytes != sizeof(UdAddress))
    return Status::error("it has no address of such an RDMA device");
  uint32_t sequence = 0;
  if (Status s = randomize(sequence); !s)
    return s;
  auto link = std::make_unique<UdLink>(peer, Handshake(self_, peer.rank, sequence));
  std::memcpy(&link->address, rankAddress.address.data(), sizeof(UdAddress));
  return std::unique_ptr<Link>(std::move(link));
}

Status UdConnector::makePair(UdLink &link) {
  Result<AddressHandle> path = ud_.pathTo(link.address);
  if (!path)
    return path.status();
  link.path = path.take();
  ibv_qp_init_attr wanted = host_->wantedPair();
  Result<QueuePair> pair = device_.makeQueuePair(wanted);
  if (!pair)
    return pair.status();
  link.pair = pair.take();
  QueuePairAddress &queue = link.queue;
  if (Status s = randomize(queue.firstSequence); !s)
    return s;
  queue.number = link.pair->qp_num;
  queue.firstSequence &= 0xffffff;
  queue.mtu = device_.portLimits().active_mtu;
  queue.reads = static_cast<uint32_t>(std::min(device_.limits().max_qp_rd_atom, kMaxReads));
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port();
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  return device_.change(link.pair.get(), attributes,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                        "prepare a queue pair");
}

Status UdConnector::letReceive(UdLink &link, const QueuePairAddress &there) {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(link.queue.mtu, there.mtu));
  attributes.dest_qp_num = there.number;
  attributes.rq_psn = there.firstSequence;
  attributes.max_dest_rd_atomic = static_cast<uint8_t>(link.queue.reads);
  attributes.min_rnr_timer = kNotReadyPause;
  attributes.ah_attr = routeTo(device_, link.address);
  return device_.change(link.pair.get(), attributes,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                        "receive over a queue pair");
}

Status UdConnector::letSend(UdLink &link, const QueuePairAddress &there) {
  int reads =
      std::min({device_.limits().max_qp_init_rd_atom, kMaxReads, static_cast<int>(there.reads)});
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kForEver;
  attributes.sq_psn = link.queue.firstSequence;
  attributes.max_rd_atomic = static_cast<uint8_t>(reads);
  return device_.change(link.pair.get(), attributes,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                        "send over a queue pair");
}

Status UdConnector::begin(Link &link) {
  auto &udLink = static_cast<UdLink &>(link);
  if (Status s = makePair(udLink); !s)
    return s;
  link.state = Link::State::Begun;
  connecting_.push_back(&udLink);
  return send(udLink, udLink.handshake.begin(Handshake::Clock::now()));
}

Status UdConnector::send(UdLink &link, HandshakeMessage message) {
  message.token = link.peer.token;
  message.queue = link.queue;
  return ud_.send(link.path.get(), link.address, message);
}

bool UdConnector::take(const ibv_wc &completion) {
  if (!ud_.owns(completion))
    return false;
  if (std::optional<HandshakeMessage> message = ud_.take(completion))
    receive(*message);
  return true;
}

void UdConnector::receive(const HandshakeMessage &message) {
  Link *link = host_->onConnectRequest(message.token, message.from);
  if (!link)
    return;
  if (Status s = follow(static_cast<UdLink &>(*link), message); !s)
    host_->lose(*link, s.message());
}

Status UdConnector::follow(UdLink &link, const HandshakeMessage &message) {
  bool isFirst = !link.pair && message.kind == HandshakeMessage::Kind::Request;
  if (!link.pair && !isFirst)
    return {};
  if (isFirst) {
    if (Status s = makePair(link); !s)
      return s;
    link.state = Link::State::Begun;
    connecting_.push_back(&link);
  }
  Handshake::Step step = link.handshake.receive(message, Handshake::Clock::now());
  Status s;
  if (step.mayReceive)
    s = letReceive(link, message.queue);
  if (s && step.maySend)
    s = letSend(link, message.queue);
  if (s && link.handshake.state() == Handshake::State::Ready)
    link.state = Link::State::Ready;
  return s && step.reply ? send(link, *step.reply) : s;
}

// Messages of a rank that computes come late: only its death, which others notice, ends this.
bool UdConnector::poll() {
  if (connecting_.empty())
    return false;
  auto now = Handshake::Clock::now();
  size_t before = connecting_.size();
  std::erase_if(connecting_, [&](UdLink *link) {
    if (link->peer.isLost || link->state == Link::State::Ready)
      return true;
    if (std::optional<HandshakeMessage> message = link->handshake.again(now))
      if (Status s = send(*link, *message); !s)
        host_->lose(*link, s.message());
    return false;
  });
  return connecting_.size() < before;
}

network::Transport::Wait UdConnector::wait() {
  network::Transport::Wait wait = {device_.descriptor()};
  if (connecting_.empty())
    return wait;
  auto now = Handshake::Clock::now();
  for (const UdLink *link : connecting_)
    wait.atMost = std::clamp<std::chrono::nanoseconds>(link->handshake.nextAt() - now,
                                                       std::chrono::nanoseconds(0), wait.atMost);
  return wait;
}

} // namespace colldsl::verbs
