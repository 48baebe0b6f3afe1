/// A reliable datagram endpoint of libfabric with its address vector and completion queue.
///
/// The provider, and what of it is used, is queried from libfabric: messages in order from rank to
/// rank (FI_ORDER_SAS) are a must. Memory of others is reached where the provider can, and only
/// where it notifies the owner with at least 32 bits that a write is complete.
///
/// Not thread safe, but for waitFor(). Errors: values.
#pragma once

#include "ir/Result.h"
#include "transports/network/Carrier.h"
#include "transports/ofi/Libfabric.h"
#include "transports/ofi/OfiCalls.h"
#include "transports/ofi/OfiOptions.h"

namespace colldsl::ofi {

class RdmEndpoint {
public:
  /// `calls` outlives it.
  static Result<std::unique_ptr<RdmEndpoint>> open(const Options &options, Calls &calls);
  /// What libfabric does at the first query of a process, so that others are fast.
  static void findProviders(const Options &options) { getInfo(options, nullptr); }

  const network::Capabilities &capabilities() const { return capabilities_; }
  std::string providerName() const { return info_->fabric_attr->prov_name; }

  /// Where others find it.
  Result<std::vector<std::byte>> address() const;
  Result<fi_addr_t> reach(const std::byte *address);

  /// Keys are random, where the provider leaves the choice: they cannot be guessed.
  Result<network::Region> registerMemory(std::span<const iovec> pieces, network::Access access);

  /// Afterwards the provider uses no memory of ours any more.
  void stop() { endpoint_.reset(); }
  /// Instead of stop(), where closing the endpoint would crash: nothing is closed, ever. Presumes
  /// manual progress: a rank that does not poll the queue moves nothing.
  void leak();

  fid_ep *ep() const { return endpoint_.get(); }
  fid_cq *cq() const { return cq_.get(); }

  /// What to wait for. Where the provider has no descriptor, naps.
  std::optional<network::Carrier::Wait> ifIdle();
  void noteEvent() { vainPolls_ = 0; }

private:
  template <typename T> struct Close {
    void operator()(T *object) const { fi_close(&object->fid); }
  };
  template <typename T> using Handle = std::unique_ptr<T, Close<T>>;
  struct Free {
    void operator()(fi_info *info) const { Library::get().freeInfo(info); }
  };
  using Info = std::unique_ptr<fi_info, Free>;

  explicit RdmEndpoint(Calls &calls) : calls_(calls) {}
  static Info getInfo(const Options &options);
  static Info getInfo(const Options &options, const char *node);
  static Info only(Info offers, const std::string &domain);
  static Info nearest(Info offers, const Options &options);
  Status openObjects(const std::string &place);
  Status openQueue();
  void noteCapabilities(const Options &options);

  Calls &calls_;
  Info info_;
  network::Capabilities capabilities_;
  int waitFd_ = -1;        ///< where a file descriptor shows events
  uint32_t vainPolls_ = 0; ///< while that was readable, since the last event
  uint64_t nextKey_ = 0;
  Handle<fid_fabric> fabric_;
  Handle<fid_domain> domain_;
  Handle<fid_av> av_;
  Handle<fid_cq> cq_;
  Handle<fid_ep> endpoint_; ///< closed before what it is bound to
};

/// "cannot ...: why", with libfabric's text of the error.
Status ofiError(const std::string &what, ssize_t code);

} // namespace colldsl::ofi
