#include "transports/verbs/Library.h"

#include <dlfcn.h>

namespace colldsl::verbs {
namespace {

struct Loaded {
  Library functions;
  Status status;

  Loaded() {
    void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      status = Status::error(std::string("there is no libibverbs: ") + dlerror());
      return;
    }
    auto find = [&](const char *name, auto &function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function)
        status = Status::error(std::string("libibverbs.so.1 has no ") + name);
    };
#define COLLDSL_VERBS_FIND(name) find("ibv_" #name, functions.name);
    COLLDSL_VERBS_FUNCTIONS(COLLDSL_VERBS_FIND)
#undef COLLDSL_VERBS_FIND
    find("ibv_query_port", functions.query_port);
    find("ibv_reg_mr", functions.reg_mr);
    find("_ibv_query_gid_ex", functions.query_gid_ex);
  }
};

const Loaded &loaded() {
  static const Loaded once;
  return once;
}

} // namespace

const Status &Library::load() { return loaded().status; }
const Library &Library::get() { return loaded().functions; }

} // namespace colldsl::verbs
