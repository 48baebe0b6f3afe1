#include "transports/verbs/Shaker.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

namespace colldsl::verbs {
namespace {

// As the standard codes them: an acknowledgement is waited for 67 ms, 8 times; a receiver without
// receives is asked again after 0.08 ms, for as long as it lives.
constexpr uint8_t kTimeout = 14, kRetries = 7, kForEver = 7, kNotReadyPause = 6;

template <typename T> Status randomize(T &value) {
  return getrandom(&value, sizeof value, 0) == sizeof value
             ? Status()
             : Status::error("the kernel has no random numbers");
}

} // namespace

struct Shaker::Shaken : Link {
  Shaken(network::Peer &peer, const Handshake &handshake) : Link(peer), handshake(handshake) {}
  Handshake handshake;
  LobbyAddress address;
  QueueCard rankAddress; ///< of this end
  AddressHandle path;
};

Result<std::unique_ptr<Connector>> Shaker::open(Device &device, Calls &calls) {
  std::unique_ptr<Shaker> shaker(new Shaker(device, calls));
  if (Status s = shaker->lobby_.open(); !s)
    return s;
  return std::unique_ptr<Connector>(std::move(shaker));
}

std::vector<std::byte> Shaker::address() const {
  auto bytes = std::as_bytes(std::span(&lobby_.address(), 1));
  return {bytes.begin(), bytes.end()};
}

Status Shaker::start(network::Carrier &carrier, ConnectorHost &host, const network::Owner &owner) {
  host_ = &host;
  self_ = owner.self;
  return lobby_.start(carrier);
}

Result<std::unique_ptr<Link>> Shaker::reach(network::Peer &peer,
                                            const network::RankAddress &rankAddress) {
  if (rankAddress.addressBytes != sizeof(LobbyAddress))
    return Status::error("it has no address of such an RDMA device");
  uint32_t sequence = 0;
  if (Status s = randomize(sequence); !s)
    return s;
  auto link = std::make_unique<Shaken>(peer, Handshake(self_, peer.rank, sequence));
  std::memcpy(&link->address, rankAddress.address.data(), sizeof(LobbyAddress));
  return std::unique_ptr<Link>(std::move(link));
}

Status Shaker::makePair(Shaken &link) {
  Result<AddressHandle> path = lobby_.pathTo(link.address);
  if (!path)
    return path.status();
  link.path = path.take();
  ibv_qp_init_attr wanted = host_->wantedPair();
  Result<QueuePair> pair = device_.makeQueuePair(wanted);
  if (!pair)
    return pair.status();
  link.pair = pair.take();
  QueueCard &rankAddress = link.rankAddress;
  if (Status s = randomize(rankAddress.firstSequence); !s)
    return s;
  rankAddress.number = link.pair->qp_num;
  rankAddress.firstSequence &= 0xffffff;
  rankAddress.mtu = device_.portLimits().active_mtu;
  rankAddress.reads = static_cast<uint32_t>(std::min(device_.limits().max_qp_rd_atom, kMostReads));
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port();
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  return device_.change(link.pair.get(), attributes,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                        "prepare a queue pair");
}

Status Shaker::letReceive(Shaken &link, const QueueCard &there) {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(link.rankAddress.mtu, there.mtu));
  attributes.dest_qp_num = there.number;
  attributes.rq_psn = there.firstSequence;
  attributes.max_dest_rd_atomic = static_cast<uint8_t>(link.rankAddress.reads);
  attributes.min_rnr_timer = kNotReadyPause;
  attributes.ah_attr = routeTo(device_, link.address);
  return device_.change(link.pair.get(), attributes,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                        "receive over a queue pair");
}

Status Shaker::letSend(Shaken &link, const QueueCard &there) {
  int reads =
      std::min({device_.limits().max_qp_init_rd_atom, kMostReads, static_cast<int>(there.reads)});
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kForEver;
  attributes.sq_psn = link.rankAddress.firstSequence;
  attributes.max_rd_atomic = static_cast<uint8_t>(reads);
  return device_.change(link.pair.get(), attributes,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                        "send over a queue pair");
}

Status Shaker::begin(Link &link) {
  auto &shaken = static_cast<Shaken &>(link);
  if (Status s = makePair(shaken); !s)
    return s;
  link.state = Link::State::Begun;
  shaking_.push_back(&shaken);
  return say(shaken, shaken.handshake.begin(Handshake::Clock::now()));
}

Status Shaker::say(Shaken &link, Shake shake) {
  shake.token = link.peer.token;
  shake.queue = link.rankAddress;
  return lobby_.say(link.path.get(), link.address, shake);
}

bool Shaker::take(const ibv_wc &completion) {
  if (!lobby_.owns(completion))
    return false;
  if (std::optional<Shake> shake = lobby_.take(completion))
    hear(*shake);
  return true;
}

void Shaker::hear(const Shake &shake) {
  Link *link = host_->onConnectRequest(shake.token, shake.from);
  if (!link)
    return;
  if (Status s = follow(static_cast<Shaken &>(*link), shake); !s)
    host_->lose(*link, s.message());
}

Status Shaker::follow(Shaken &link, const Shake &shake) {
  bool isFirst = !link.pair && shake.kind == Shake::Kind::Request;
  if (!link.pair && !isFirst)
    return {};
  if (isFirst) {
    if (Status s = makePair(link); !s)
      return s;
    link.state = Link::State::Begun;
    shaking_.push_back(&link);
  }
  Handshake::Step step = link.handshake.hear(shake, Handshake::Clock::now());
  Status s;
  if (step.receives)
    s = letReceive(link, shake.queue);
  if (s && step.sends)
    s = letSend(link, shake.queue);
  if (s && link.handshake.state() == Handshake::State::Ready)
    link.state = Link::State::Ready;
  return s && step.say ? say(link, *step.say) : s;
}

// What a rank says that computes comes late: only its death, which others notice, ends this.
bool Shaker::poll() {
  if (shaking_.empty())
    return false;
  auto now = Handshake::Clock::now();
  size_t before = shaking_.size();
  std::erase_if(shaking_, [&](Shaken *link) {
    if (link->peer.isLost || link->state == Link::State::Ready)
      return true;
    if (std::optional<Shake> shake = link->handshake.again(now))
      if (Status s = say(*link, *shake); !s)
        host_->lose(*link, s.message());
    return false;
  });
  return shaking_.size() < before;
}

network::Carrier::Wait Shaker::wait() {
  network::Carrier::Wait wait = {device_.descriptor()};
  if (shaking_.empty())
    return wait;
  auto now = Handshake::Clock::now();
  for (const Shaken *link : shaking_)
    wait.atMost = std::clamp<std::chrono::nanoseconds>(link->handshake.nextAt() - now,
                                                       std::chrono::nanoseconds(0), wait.atMost);
  return wait;
}

} // namespace colldsl::verbs
