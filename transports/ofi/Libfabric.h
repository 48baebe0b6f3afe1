/// libfabric itself, loaded when it is first needed: processes that leave no machine need not have
/// it, nor wait for its providers' libraries, some of which catch signals.
#pragma once

#include "ir/Result.h"

#include <memory>
#include <rdma/fabric.h>
#include <string>

namespace colldsl::ofi {

/// The functions of libfabric that are not inline. Thread safe. It stays until the process ends.
struct Library {
  decltype(&fi_getinfo) getInfo = nullptr;
  decltype(&fi_freeinfo) freeInfo = nullptr;
  decltype(&fi_dupinfo) copyInfo = nullptr;
  decltype(&fi_fabric) openFabric = nullptr;
  decltype(&fi_strerror) textOf = nullptr;

  /// Sets variables of the providers that the user has not set, once; before other threads read the
  /// environment. `tcp` and `net` then report a send when the kernel has all of it: by default they
  /// report up to 9,000 bytes that wait in the process for the next poll, while the socket is full.
  static void setDefaults();
  static const Status &load();
  /// After load().
  static const Library &get();
};

/// Keeps the signal handlers of this process: the destructor takes back those that others set
/// meanwhile.
class KeptSignals {
public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals &) = delete;
  KeptSignals &operator=(const KeptSignals &) = delete;

private:
  struct Handlers;
  std::unique_ptr<Handlers> handlers_;
};

/// libfabric's text of an error code, which is negative.
std::string textOf(ssize_t code);

} // namespace colldsl::ofi
