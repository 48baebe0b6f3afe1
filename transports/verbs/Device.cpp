#include "transports/verbs/Device.h"

#include "transports/verbs/Credits.h"
#include "transports/verbs/Nearest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>

namespace colldsl::verbs {
namespace {

struct FreeList {
  void operator()(ibv_device **list) const { Library::get().free_device_list(list); }
};

bool isZero(const ibv_gid &gid) {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw), [](uint8_t b) { return b == 0; });
}

constexpr int kBest = 3;

/// The rank of an address in the choice: kBest is the best.
int worthOf(const ibv_gid_entry &entry) {
  in6_addr address;
  std::memcpy(&address, entry.gid.raw, sizeof address);
  bool isVersion2 = entry.gid_type == IBV_GID_TYPE_ROCE_V2;
  return 2 * isVersion2 + (isVersion2 && IN6_IS_ADDR_V4MAPPED(&address));
}

} // namespace

Status deviceError(const std::string &what, const ibv_context *context, int error) {
  return Status::error("cannot " + what + " on " + Library::get().get_device_name(context->device) +
                       ": " + std::strerror(error));
}

Result<std::unique_ptr<Device>> Device::look(const Options &options) {
  if (const Status &s = Library::load(); !s)
    return s;
  auto device = std::make_unique<Device>();
  if (Status s = device->choose(options); !s)
    return s;
  if (Status s = device->chooseGid(options); !s)
    return s;
  return device;
}

Result<std::unique_ptr<Device>> Device::open(const Options &options, uint32_t numRanks) {
  Result<std::unique_ptr<Device>> device = look(options);
  if (!device)
    return device;
  if (Status s = (*device)->makeQueues(options, numRanks); !s)
    return s;
  return device;
}

// Chooses the first device whose port is up.
Status Device::choose(const Options &options) {
  int count = 0;
  std::unique_ptr<ibv_device *, FreeList> list(Library::get().get_device_list(&count));
  std::string wanted = options.device.empty() ? "" : " '" + options.device + "'";
  Status why = Status::error("there is no RDMA device" + wanted);
  for (ibv_device *found : inOrder({list.get(), static_cast<size_t>(count)}, options)) {
    context_.reset(Library::get().open_device(found));
    why = context_ ? choosePort(options)
                   : Status::error("cannot open the RDMA device " +
                                   std::string(Library::get().get_device_name(found)) + ": " +
                                   std::strerror(errno));
    if (why && isIwarp() && !CmLibrary::load())
      why = Status::error(std::string(Library::get().get_device_name(found)) +
                          " is connected by librdmacm alone, and " + CmLibrary::load().message());
    if (why)
      return {};
  }
  return why;
}

Status Device::choosePort(const Options &options) {
  if (int error = Library::get().query_device(context_.get(), &limits_); error != 0)
    return deviceError("ask for the limits", context_.get(), error);
  auto last = std::max<uint8_t>(limits_.phys_port_cnt, static_cast<uint8_t>(options.port));
  for (uint32_t port = std::max(1u, options.port); port <= last; ++port) {
    portLimits_ = {};
    bool isUp =
        Library::get().query_port(context_.get(), static_cast<uint8_t>(port),
                                  reinterpret_cast<_compat_ibv_port_attr *>(&portLimits_)) == 0 &&
        portLimits_.state == IBV_PORT_ACTIVE;
    port_ = static_cast<uint8_t>(port);
    if (isUp)
      return {};
    if (options.port != 0)
      break;
  }
  return Status::error(std::string("no port of ") +
                       Library::get().get_device_name(context_->device) + " is up");
}

Status Device::chooseGid(const Options &options) {
  int best = -1;
  for (int i = 0; i < portLimits_.gid_tbl_len && best < kBest; ++i) {
    ibv_gid_entry entry = {};
    bool isRequested = options.gidIndex < 0 || i == options.gidIndex;
    if (!isRequested || Library::get().query_gid_ex(context_.get(), port_, static_cast<uint32_t>(i),
                                                    &entry, 0, sizeof entry) != 0)
      continue;
    if (isZero(entry.gid) || worthOf(entry) <= best)
      continue;
    best = worthOf(entry);
    gid_ = entry.gid;
    gidIndex_ = static_cast<uint8_t>(i);
  }
  if (best >= 0 || (!isGlobal() && options.gidIndex < 0))
    return {};
  return Status::error(std::string(Library::get().get_device_name(context_->device)) + " port " +
                       std::to_string(port_) + " has no GID" +
                       (options.gidIndex < 0 ? "" : " " + std::to_string(options.gidIndex)));
}

// A device has a few completion queues of many entries rather than one for each connection. If each
// connection has receives of its own, the queue must have room for all of them.
Status Device::makeQueues(const Options &options, uint32_t numRanks) {
  const Library &verbs = Library::get();
  domain_.reset(verbs.alloc_pd(context_.get()));
  if (!domain_)
    return deviceError("make a protection domain", context_.get(), errno);
  channel_.reset(verbs.create_comp_channel(context_.get()));
  if (!channel_ || fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0)
    return deviceError("make a completion channel", context_.get(), errno);
  uint64_t numReceives = isIwarp() ? options.framesPerPeer + Credits::kSpare : 0;
  uint64_t entries = std::min<uint64_t>(options.completions + numReceives * (numRanks - 1),
                                        static_cast<uint32_t>(limits_.max_cqe));
  queue_.reset(
      verbs.create_cq(context_.get(), static_cast<int>(entries), nullptr, channel_.get(), 0));
  if (!queue_)
    return deviceError("make a completion queue", context_.get(), errno);
  if (isIwarp())
    return {};
  ibv_srq_init_attr wanted = {};
  wanted.attr.max_wr = options.postedReceives;
  wanted.attr.max_sge = 1;
  srq_.reset(verbs.create_srq(domain_.get(), &wanted));
  return srq_ ? Status() : deviceError("make a shared receive queue", context_.get(), errno);
}

Result<QueuePair> Device::makeQueuePair(ibv_qp_init_attr &wanted) const {
  wanted.send_cq = wanted.recv_cq = queue_.get();
  QueuePair made(Library::get().create_qp(domain_.get(), &wanted));
  if (!made)
    return deviceError("make a queue pair", context_.get(), errno);
  return made;
}

Status Device::change(ibv_qp *pair, ibv_qp_attr &attributes, int mask, const char *what) const {
  int error = Library::get().modify_qp(pair, &attributes, mask);
  return error == 0 ? Status() : deviceError(what, context_.get(), error);
}

// The queue reports once each time it is armed; system calls that change nothing are left out.
Status Device::arm(bool any) {
  ibv_cq *queue = nullptr;
  void *context = nullptr;
  if (armed_ != Armed::No && Library::get().get_cq_event(channel_.get(), &queue, &context) == 0) {
    Library::get().ack_cq_events(queue, 1);
    armed_ = Armed::No;
  }
  if (armed_ == Armed::ForAny || (armed_ == Armed::ForEvents && !any))
    return {};
  int error = ibv_req_notify_cq(queue_.get(), !any);
  armed_ = any ? Armed::ForAny : Armed::ForEvents;
  return error == 0 ? Status() : deviceError("request an event", context_.get(), error);
}

} // namespace colldsl::verbs
