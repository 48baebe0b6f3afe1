#include "transports/ofi/Library.h"

#include <array>
#include <atomic>
#include <csignal>
#include <dlfcn.h>
#include <mutex>

namespace colldsl::ofi {
namespace {

std::atomic<const Library *> theLibrary{nullptr};

// As the header has them: later versions of the library keep them beside their own.
template <typename F> bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlvsym(library, name, "FABRIC_1.3"));
  if (!function)
    function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

} // namespace

const Library *Library::loaded() { return theLibrary.load(std::memory_order_acquire); }

// It stays until the process ends: providers have threads.
Status Library::load() {
  static std::mutex loading;
  std::lock_guard lock(loading);
  if (loaded())
    return {};
  KeptSignals kept;
  void *file = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!file)
    return Status::error(std::string("cannot load libfabric: ") + dlerror());
  static Library library;
  bool hasAll =
      find(file, "fi_getinfo", library.getInfo) && find(file, "fi_freeinfo", library.freeInfo) &&
      find(file, "fi_dupinfo", library.copyInfo) && find(file, "fi_fabric", library.openFabric) &&
      find(file, "fi_strerror", library.nameOf);
  if (!hasAll)
    return Status::error("libfabric.so.1 lacks functions of version 1.17");
  theLibrary.store(&library, std::memory_order_release);
  return {};
}

std::string Library::errorName(ssize_t code) { return loaded()->nameOf(static_cast<int>(code)); }

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

} // namespace colldsl::ofi
