// How a peer's queue pair is connected.
#include "transports/verbs/VerbsCarrier.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

namespace colldsl::verbs {
namespace {

// Reads of one end's memory at once. More make nothing faster.
constexpr int kMostReads = 16;
// As the standard codes them: an acknowledgement is waited for 67 ms, 8 times; a receiver without
// receives is asked again after 0.08 ms, for as long as it lives.
constexpr uint8_t kTimeout = 14, kRetries = 7, kForEver = 7, kNotReadyPause = 6;

template <typename T> Status randomize(T &value) {
  return getrandom(&value, sizeof value, 0) == sizeof value
             ? Status()
             : Status::error("the kernel has no random numbers");
}

} // namespace

Status VerbsCarrier::reach(network::Peer &peer, const network::Card &card) {
  if (card.addressBytes != sizeof(LobbyAddress))
    return Status::error("it has no address of an RDMA device");
  uint32_t sequence = 0;
  if (Status s = randomize(sequence); !s)
    return s;
  peer.handle = connections_.size();
  auto connection = std::make_unique<Connection>(peer, Handshake(owner_.self, peer.rank, sequence),
                                                 options_.sendsPerPeer);
  std::memcpy(&connection->address, card.address.data(), sizeof(LobbyAddress));
  connections_.push_back(std::move(connection));
  return {};
}

Status VerbsCarrier::makePair(Connection &connection) {
  Result<AddressHandle> path = lobby_.pathTo(connection.address);
  if (!path)
    return path.status();
  connection.path = path.take();
  ibv_qp_init_attr wanted = wantedPair();
  Result<QueuePair> pair = device_->makeQueuePair(wanted);
  if (!pair)
    return pair.status();
  connection.pair = pair.take();
  QueueCard &card = connection.card;
  if (Status s = randomize(card.firstSequence); !s)
    return s;
  card.number = connection.pair->qp_num;
  card.firstSequence &= 0xffffff;
  card.mtu = device_->portLimits().active_mtu;
  card.reads = static_cast<uint32_t>(std::min(device_->limits().max_qp_rd_atom, kMostReads));
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_->port();
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  return device_->change(connection.pair.get(), attributes,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                         "prepare a queue pair");
}

Status VerbsCarrier::letReceive(Connection &connection, const QueueCard &there) {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(connection.card.mtu, there.mtu));
  attributes.dest_qp_num = there.number;
  attributes.rq_psn = there.firstSequence;
  attributes.max_dest_rd_atomic = static_cast<uint8_t>(connection.card.reads);
  attributes.min_rnr_timer = kNotReadyPause;
  attributes.ah_attr = routeTo(*device_, connection.address);
  return device_->change(connection.pair.get(), attributes,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                         "receive over a queue pair");
}

Status VerbsCarrier::letSend(Connection &connection, const QueueCard &there) {
  int reads =
      std::min({device_->limits().max_qp_init_rd_atom, kMostReads, static_cast<int>(there.reads)});
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kForEver;
  attributes.sq_psn = connection.card.firstSequence;
  attributes.max_rd_atomic = static_cast<uint8_t>(reads);
  return device_->change(connection.pair.get(), attributes,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
                         "send over a queue pair");
}

Status VerbsCarrier::begin(Connection &connection) {
  if (Status s = makePair(connection); !s)
    return s;
  shaking_.push_back(&connection);
  return say(connection, connection.handshake.begin(Handshake::Clock::now()));
}

Status VerbsCarrier::say(Connection &connection, Shake shake) {
  shake.token = connection.peer.token;
  shake.queue = connection.card;
  return lobby_.say(connection.path.get(), connection.address, shake);
}

// The network's word for it: whoever does not know the token is nobody.
void VerbsCarrier::hear(const Shake &shake) {
  bool isOurs =
      shake.token == owner_.token && shake.kind <= Shake::Kind::Last && shake.from != owner_.self;
  network::Peer *peer = isOurs ? reader_->onKnock(shake.from) : nullptr;
  if (!peer) {
    ++refused_;
    return;
  }
  if (peer->isLost)
    return;
  Connection &connection = connectionOf(*peer);
  if (Status s = follow(connection, shake); !s)
    lose(connection, s.message());
}

Status VerbsCarrier::follow(Connection &connection, const Shake &shake) {
  bool isFirst = !connection.pair && shake.kind == Shake::Kind::Request;
  if (!connection.pair && !isFirst)
    return {};
  if (isFirst) {
    if (Status s = makePair(connection); !s)
      return s;
    shaking_.push_back(&connection);
  }
  Handshake::Step step = connection.handshake.hear(shake, Handshake::Clock::now());
  Status s;
  if (step.receives)
    s = letReceive(connection, shake.queue);
  if (s && step.sends)
    s = letSend(connection, shake.queue);
  return s && step.say ? say(connection, *step.say) : s;
}

// What a rank says that computes comes late: only its death, which others notice, ends this.
bool VerbsCarrier::shakeAgain() {
  auto now = Handshake::Clock::now();
  size_t before = shaking_.size();
  std::erase_if(shaking_, [&](Connection *connection) {
    if (connection->peer.isLost || connection->handshake.state() == Handshake::State::Ready)
      return true;
    if (std::optional<Shake> shake = connection->handshake.again(now))
      if (Status s = say(*connection, *shake); !s)
        lose(*connection, s.message());
    return false;
  });
  return shaking_.size() < before;
}

void VerbsCarrier::lose(Connection &connection, const std::string &reason) {
  reader_->onLost(connection.peer, reason);
}

} // namespace colldsl::verbs
