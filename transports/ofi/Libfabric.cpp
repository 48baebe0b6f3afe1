#include "transports/ofi/Libfabric.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>

namespace colldsl::ofi {
namespace {

// Finds functions of the version of the header; later versions of the library keep them beside
// their own.
template <typename F> bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlvsym(library, name, "FABRIC_1.3"));
  if (!function)
    function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

struct Loaded {
  Library functions;
  Status status;

  Loaded() {
    KeptSignals kept;
    void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      status = Status::error(std::string("there is no libfabric: ") + dlerror());
    else if (!find(library, "fi_getinfo", functions.getInfo) ||
             !find(library, "fi_freeinfo", functions.freeInfo) ||
             !find(library, "fi_dupinfo", functions.copyInfo) ||
             !find(library, "fi_fabric", functions.openFabric) ||
             !find(library, "fi_strerror", functions.textOf))
      status = Status::error("libfabric.so.1 lacks functions of libfabric");
  }
};

const Loaded &loaded() {
  static const Loaded once;
  return once;
}

} // namespace

void Library::setDefaults() {
  static const bool once = [] {
    for (const char *name : {"FI_TCP_STAGING_SBUF_SIZE", "FI_NET_STAGING_SBUF_SIZE"})
      setenv(name, "0", false);
    return true;
  }();
  (void)once;
}

const Status &Library::load() {
  setDefaults();
  return loaded().status;
}
const Library &Library::get() { return loaded().functions; }

struct KeptSignals::Handlers {
  static constexpr std::array kSignals = {SIGINT,  SIGTERM, SIGQUIT, SIGHUP, SIGABRT,
                                          SIGSEGV, SIGBUS,  SIGILL,  SIGFPE};
  std::array<struct sigaction, kSignals.size()> actions;
};

KeptSignals::KeptSignals() : handlers_(std::make_unique<Handlers>()) {
  for (size_t i = 0; i < Handlers::kSignals.size(); ++i)
    sigaction(Handlers::kSignals[i], nullptr, &handlers_->actions[i]);
}

KeptSignals::~KeptSignals() {
  for (size_t i = 0; i < Handlers::kSignals.size(); ++i)
    sigaction(Handlers::kSignals[i], &handlers_->actions[i], nullptr);
}

std::string textOf(ssize_t code) { return Library::get().textOf(static_cast<int>(-code)); }

} // namespace colldsl::ofi
