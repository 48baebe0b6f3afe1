#include "transports/ofi/Library.h"

#include <dlfcn.h>

namespace colldsl::ofi {
namespace {

template <typename F> bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

struct Loaded {
  Library functions;
  Status status;

  Loaded() {
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

const Status &Library::load() { return loaded().status; }
const Library &Library::get() { return loaded().functions; }

std::string textOf(ssize_t code) { return Library::get().textOf(static_cast<int>(-code)); }

} // namespace colldsl::ofi
