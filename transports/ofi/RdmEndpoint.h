/// A reliable datagram endpoint of libfabric with its address vector and completion queue.
///
/// libfabric names the provider and its features: messages in order from rank to rank
/// (FI_ORDER_SAS) are a must. The endpoint reaches memory of others if the provider can, and only
/// if the provider notifies the owner with at least 32 bits that a write is complete.
///
/// Not thread safe, but for waitFor(). Errors: values.
#pragma once

#include "ir/Result.h"
#include "transports/network/Transport.h"
#include "transports/ofi/Libfabric.h"
#include "transports/ofi/OfiCalls.h"
#include "transports/ofi/OfiOptions.h"

namespace colldsl::ofi {

class RdmEndpoint {
public:
  /// `calls` outlives it.
  static Result<std::unique_ptr<RdmEndpoint>> open(const Options &options, Calls &calls);
  /// Lets libfabric do the work of a process's first query, so that later ones are fast.
  static void findProviders(const Options &options) { getInfo(options, nullptr); }

  const network::Capabilities &capabilities() const { return capabilities_; }
  std::string providerName() const { return info_->fabric_attr->prov_name; }

  /// The address where others find this endpoint.
  Result<std::vector<std::byte>> address() const;
  Result<fi_addr_t> reach(const std::byte *address);

  /// Keys are random, where the provider leaves the choice: they cannot be guessed.
  Result<network::Region> registerMemory(std::span<const iovec> pieces, network::Access access);

  Result<network::Region> registerDevice(const network::DeviceMemory &memory);

  /// Closes the endpoint. Afterwards the provider uses no memory of ours any more.
  void stop() { endpoint_.reset(); }
  /// Instead of stop(), where closing the endpoint would crash: nothing is closed, ever. Presumes
  /// manual progress: a rank that does not poll the queue moves nothing.
  void leak();

  fid_ep *ep() const { return endpoint_.get(); }
  fid_cq *cq() const { return cq_.get(); }

  /// The event to wait for: a file descriptor, or a nap if the provider has none.
  std::optional<network::Transport::Wait> ifIdle();
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
  static Info withDevices(Info found, Options options);
  static Info only(Info offers, const std::string &domain);
  static Info nearest(Info offers, const Options &options);
  Status openObjects(const std::string &place);
  template <typename Register>
  Result<network::Region> registerBy(const iovec &memory, Register makeRegion);
  Status openQueue();
  void noteCapabilities(const Options &options);

  Calls &calls_;
  Info info_;
  network::Capabilities capabilities_;
  int waitFd_ = -1;        ///< file descriptor that shows events, if the provider has one
  uint32_t vainPolls_ = 0; ///< while that was readable, since the last event
  uint64_t nextKey_ = 0;
  Handle<fid_fabric> fabric_;
  Handle<fid_domain> domain_;
  Handle<fid_av> av_;
  Handle<fid_cq> cq_;
  Handle<fid_ep> endpoint_; ///< closed before the objects that it is bound to
};

/// "cannot ...: why", with libfabric's text of the error.
Status ofiError(const std::string &what, ssize_t code);

} // namespace colldsl::ofi
