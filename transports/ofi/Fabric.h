/// A reliable datagram endpoint of libfabric with its address vector and completion queue.
///
/// Which provider, and what of it is used, is asked of libfabric: messages in order from rank to
/// rank (FI_ORDER_SAS) are a must. Memory of others is reached where the provider can, and only
/// where it tells the owner with at least 32 bits that a write is complete.
///
/// Not thread safe, but for waitFor(). Errors: values.
#pragma once

#include "ir/Result.h"
#include "transports/ofi/Calls.h"
#include "transports/ofi/Library.h"
#include "transports/ofi/Options.h"

#include <memory>
#include <span>
#include <sys/uio.h>
#include <vector>

namespace colldsl::ofi {

/// Of one read or write, at most.
inline constexpr uint32_t kMostPieces = 8;

/// Memory that others may reach, or that the provider must know. Empty: there is none.
class Region {
public:
  Region() = default;
  explicit Region(fid_mr *region) : region_(region) {}
  void *descriptor() const { return region_ ? fi_mr_desc(region_.get()) : nullptr; }
  uint64_t key() const { return fi_mr_key(region_.get()); }
  explicit operator bool() const { return region_ != nullptr; }
  void reset() { region_.reset(); }

private:
  struct Close {
    void operator()(fid_mr *region) const { fi_close(&region->fid); }
  };
  std::unique_ptr<fid_mr, Close> region_;
};

class Fabric {
public:
  /// What the provider can do for us.
  struct Powers {
    uint64_t injectBytes = 0; ///< sends up to this need no buffer of ours
    uint32_t pieces = 1;      ///< of memory, at one end of a read or a write
    bool moves = false;       ///< reads and writes memory of others
    bool byAddress = false;   ///< others name memory by its address; else by its distance
    bool local = false;       ///< wants to know this rank's own memory too
    bool pins = false;        ///< registered memory must not be given back to the system
    bool wakes = false;       ///< a file descriptor tells of news
  };

  /// `calls` outlives it.
  static Result<std::unique_ptr<Fabric>> open(const Options &options, Calls &calls);

  const Powers &powers() const { return powers_; }
  std::string providerName() const { return info_->fabric_attr->prov_name; }

  /// Where others find it.
  Result<std::vector<std::byte>> address() const;
  Result<fi_addr_t> reach(const std::byte *address);

  /// `access`: FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE. Keys are
  /// random, where the provider leaves the choice: nobody guesses one.
  Result<Region> know(const iovec &memory, uint64_t access);

  /// As others name this address, which lies in registered memory that begins at `begin`.
  uint64_t named(const void *address, const void *begin) const {
    return powers_.byAddress ? reinterpret_cast<uint64_t>(address)
                             : static_cast<uint64_t>(static_cast<const char *>(address) -
                                                     static_cast<const char *>(begin));
  }

  /// Afterwards the provider uses no memory of ours any more.
  void stop() { endpoint_.reset(); }

  fid_ep *endpoint() const { return endpoint_.get(); }
  fid_cq *queue() const { return queue_.get(); }

  /// The descriptor to wait for, if the queue has nothing now: -1, where it has or there is none.
  int descriptorIfIdle();

private:
  template <typename T> struct Close {
    void operator()(T *object) const { fi_close(&object->fid); }
  };
  template <typename T> using Handle = std::unique_ptr<T, Close<T>>;
  struct Free {
    void operator()(fi_info *info) const { Library::get().freeInfo(info); }
  };
  using Info = std::unique_ptr<fi_info, Free>;

  explicit Fabric(Calls &calls) : calls_(calls) {}
  static Info ask(const Options &options);
  static Info ask(const Options &options, const char *node);
  Status openObjects(const std::string &place);
  Status openQueue();
  void notePowers(const Options &options);

  Calls &calls_;
  Info info_;
  Powers powers_;
  int waitFd_ = -1;
  uint64_t nextKey_ = 0;
  Handle<fid_fabric> fabric_;
  Handle<fid_domain> domain_;
  Handle<fid_av> book_;
  Handle<fid_cq> queue_;
  Handle<fid_ep> endpoint_; ///< closed before what it is bound to
};

/// "cannot ...: why", with what libfabric says of the error.
Status fabricError(const std::string &what, ssize_t code);

} // namespace colldsl::ofi
