/// libfabric, loaded when it is first needed: with it come libraries of all its providers, some of
/// which catch signals of the process.
#pragma once

#include "ir/Result.h"

#include <memory>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

namespace colldsl::ofi {

/// The functions of libfabric that are not inlined.
struct Library {
  decltype(&fi_getinfo) getInfo = nullptr;
  decltype(&fi_freeinfo) freeInfo = nullptr;
  decltype(&fi_dupinfo) copyInfo = nullptr; ///< of null: an empty one
  decltype(&fi_fabric) openFabric = nullptr;
  decltype(&fi_strerror) nameOf = nullptr;

  /// Null until it is loaded; then for good. Thread safe.
  static const Library *loaded();
  static Status load();

  /// What it calls an error, which is positive. It is loaded.
  static std::string errorName(ssize_t code);
};

/// The signal handlers of this process, until this ends: what others set meanwhile is taken back.
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

} // namespace colldsl::ofi
