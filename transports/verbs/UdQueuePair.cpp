#include "transports/verbs/UdQueuePair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace colldsl::verbs {
namespace {

using network::Access;
using network::Frame;
using network::Operation;

// The bytes that the device puts before a datagram.
constexpr uint32_t kRouteBytes = sizeof(ibv_grh);
constexpr uint8_t kMaxHops = 64;

ibv_sge memoryOf(const Frame &frame, uint32_t bytes) {
  return {reinterpret_cast<uint64_t>(frame.data), bytes,
          static_cast<uint32_t>(reinterpret_cast<uintptr_t>(frame.descriptor))};
}

} // namespace

ibv_ah_attr routeTo(const Device &device, const UdAddress &address) {
  ibv_ah_attr route = {};
  route.dlid = address.lid;
  route.port_num = device.port();
  route.is_global = device.isGlobal();
  route.grh.sgid_index = device.gidIndex();
  route.grh.hop_limit = kMaxHops;
  std::memcpy(route.grh.dgid.raw, address.gid.data(), address.gid.size());
  return route;
}

Status UdQueuePair::open() {
  ibv_qp_init_attr wanted = {};
  wanted.qp_type = IBV_QPT_UD;
  wanted.cap = {.max_send_wr = kSends,
                .max_recv_wr = kReceives,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
  Result<QueuePair> made = device_.makeQueuePair(wanted);
  if (!made)
    return made.status();
  pair_ = made.take();
  if (getrandom(&address_.key, sizeof address_.key, 0) != sizeof address_.key)
    return Status::error("the kernel has no random numbers");
  address_.key &= 0x7fffffffu; // the others are for the kernel
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port();
  attributes.qkey = address_.key;
  Status s = device_.change(pair_.get(), attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
                            "prepare a queue pair for datagrams");
  attributes.qp_state = IBV_QPS_RTR;
  if (s)
    s = device_.change(pair_.get(), attributes, IBV_QP_STATE, "receive datagrams");
  attributes.qp_state = IBV_QPS_RTS;
  if (s)
    s = device_.change(pair_.get(), attributes, IBV_QP_STATE | IBV_QP_SQ_PSN, "send datagrams");
  std::copy_n(device_.gid().raw, address_.gid.size(), address_.gid.begin());
  address_.pair = pair_->qp_num;
  address_.lid = device_.portLimits().lid;
  return s;
}

Status UdQueuePair::start(network::Transport &transport) {
  received_.emplace(transport, kRouteBytes + sizeof(HandshakeMessage), kReceives, Access::Receive);
  sent_.emplace(transport, sizeof(HandshakeMessage), kSends, Access::Send);
  for (uint32_t i = 0; i < kReceives; ++i) {
    Frame *frame = received_->take();
    if (!frame)
      return Status::error("no memory could be registered for what comes");
    listen(*frame);
  }
  return {};
}

// A receive that cannot be posted is lost to this rank, as datagrams are.
void UdQueuePair::listen(Frame &frame) {
  frame.kind = Operation::Kind::Receive;
  ibv_sge memory = memoryOf(frame, kRouteBytes + sizeof(HandshakeMessage));
  ibv_recv_wr request = {};
  request.wr_id = reinterpret_cast<uint64_t>(static_cast<Operation *>(&frame));
  request.sg_list = &memory;
  request.num_sge = 1;
  if (calls_.postReceive(pair_.get(), &request) != 0)
    received_->give(frame);
}

Result<AddressHandle> UdQueuePair::pathTo(const UdAddress &address) const {
  ibv_ah_attr route = routeTo(device_, address);
  AddressHandle path(Library::get().create_ah(device_.domain(), &route));
  if (!path)
    return deviceError("find a path", device_.context(), errno);
  return path;
}

Status UdQueuePair::send(ibv_ah *path, const UdAddress &to, const HandshakeMessage &message) {
  Frame *frame = numSent_ < kSends ? sent_->take() : nullptr;
  if (!frame)
    return {};
  frame->kind = Operation::Kind::Send;
  std::memcpy(frame->data, &message, sizeof message);
  ibv_sge memory = memoryOf(*frame, sizeof message);
  ibv_send_wr request = {};
  request.wr_id = reinterpret_cast<uint64_t>(static_cast<Operation *>(frame));
  request.sg_list = &memory;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SOLICITED | IBV_SEND_SIGNALED;
  request.wr.ud = {path, to.pair, to.key};
  ibv_send_wr *refused = nullptr;
  int error = calls_.postSend(pair_.get(), &request, &refused);
  numSent_ += error == 0;
  if (error != 0)
    sent_->give(*frame);
  return error == 0 || error == ENOMEM || error == EAGAIN
             ? Status()
             : deviceError("say something", device_.context(), error);
}

std::optional<HandshakeMessage> UdQueuePair::take(const ibv_wc &completion) {
  auto &frame = static_cast<Frame &>(*reinterpret_cast<Operation *>(completion.wr_id));
  if (frame.kind == Operation::Kind::Send) {
    --numSent_;
    sent_->give(frame);
    return std::nullopt;
  }
  std::optional<HandshakeMessage> received;
  if (completion.status == IBV_WC_SUCCESS &&
      completion.byte_len == kRouteBytes + sizeof(HandshakeMessage))
    std::memcpy(&received.emplace(), frame.data + kRouteBytes, sizeof(HandshakeMessage));
  if (received && received->kind > HandshakeMessage::Kind::Last)
    received.reset();
  refused_ += !received;
  listen(frame);
  return received;
}

} // namespace colldsl::verbs
