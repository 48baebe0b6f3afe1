/// A port of an RDMA device, with what all connections of a rank share: protection domain,
/// completion queue, shared receive queue (but of iWARP), and the descriptor that notifies of
/// completions.
///
/// Not thread safe. Errors: values, which name the device.
#pragma once

#include "transports/verbs/Libibverbs.h"
#include "transports/verbs/VerbsOptions.h"

#include <memory>

namespace colldsl::verbs {

/// Closes what a function of libibverbs opened.
template <auto Close> struct Closer {
  template <typename T> void operator()(T *object) const { (Library::get().*Close)(object); }
};
template <typename T, auto Close> using Handle = std::unique_ptr<T, Closer<Close>>;
using QueuePair = Handle<ibv_qp, &Library::destroy_qp>;
using AddressHandle = Handle<ibv_ah, &Library::destroy_ah>;
using MemoryRegion = Handle<ibv_mr, &Library::dereg_mr>;

/// "cannot ... on DEVICE: why", of errno.
Status deviceError(const std::string &what, const ibv_context *context, int error);

class Device {
public:
  /// Opens the device for one of `numRanks` ranks.
  static Result<std::unique_ptr<Device>> open(const Options &options, uint32_t numRanks = 1);
  /// Opens the device without queues: it has port, address and limits.
  static Result<std::unique_ptr<Device>> look(const Options &options);

  ibv_pd *domain() const { return domain_.get(); }
  ibv_cq *queue() const { return queue_.get(); }
  ibv_srq *srq() const { return srq_.get(); }
  const ibv_context *context() const { return context_.get(); }
  const ibv_device_attr &limits() const { return limits_; }
  const ibv_port_attr &portLimits() const { return portLimits_; }
  uint8_t port() const { return port_; }
  uint8_t gidIndex() const { return gidIndex_; }
  const ibv_gid &gid() const { return gid_; }
  /// True if the device is of iWARP: only librdmacm connects its queue pairs. It has no datagrams
  /// and no immediate values; a frame that finds no receive ends its connection; memory that a read
  /// fills must be writable for the other end.
  bool isIwarp() const { return context_->device->transport_type == IBV_TRANSPORT_IWARP; }
  /// True if packets need a global address: RoCE has no other.
  bool isGlobal() const { return portLimits_.link_layer == IBV_LINK_LAYER_ETHERNET; }

  Result<QueuePair> makeQueuePair(ibv_qp_init_attr &wanted) const;
  Status change(ibv_qp *pair, ibv_qp_attr &attributes, int mask, const char *what) const;

  /// Lets the next completion show at descriptor(): any, or only errors and a peer's messages.
  /// Clears the events that showed there before.
  Status arm(bool any);
  int descriptor() const { return channel_->fd; }

private:
  Status choose(const Options &options);
  Status choosePort(const Options &options);
  Status chooseGid(const Options &options);
  Status makeQueues(const Options &options, uint32_t numRanks);

  Handle<ibv_context, &Library::close_device> context_;
  Handle<ibv_pd, &Library::dealloc_pd> domain_;
  Handle<ibv_comp_channel, &Library::destroy_comp_channel> channel_;
  Handle<ibv_cq, &Library::destroy_cq> queue_;
  Handle<ibv_srq, &Library::destroy_srq> srq_;
  ibv_device_attr limits_ = {};
  ibv_port_attr portLimits_ = {};
  ibv_gid gid_ = {};
  enum class Armed : uint8_t { No, ForEvents, ForAny } armed_ = Armed::No;
  uint8_t port_ = 0;
  uint8_t gidIndex_ = 0;
};

} // namespace colldsl::verbs
