#include "transports/verbs/Libibverbs.h"

#include <dlfcn.h>

namespace colldsl::verbs {
namespace {

/// A shared library, which is found or not.
class SharedLibrary {
public:
  explicit SharedLibrary(const std::string &name) : file_(name + ".so.1") {
    library_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_)
      status_ = Status::error("there is no " + name + ": " + dlerror());
  }

  template <typename Function> void find(const char *name, Function &function) {
    if (!library_)
      return;
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function)
      status_ = Status::error(file_ + " has no " + name);
  }
  /// Finds a function that older versions do not have: null then.
  template <typename Function> void findIfThere(const char *name, Function &function) {
    function = library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
  }
  const Status &status() const { return status_; }

private:
  std::string file_;
  void *library_;
  Status status_;
};

struct LoadedVerbs {
  SharedLibrary library{"libibverbs"};
  Library functions;

  LoadedVerbs() {
#define COLLDSL_VERBS_FIND(name) library.find("ibv_" #name, functions.name);
    COLLDSL_VERBS_FUNCTIONS(COLLDSL_VERBS_FIND)
#undef COLLDSL_VERBS_FIND
    library.find("ibv_query_port", functions.query_port);
    library.find("ibv_reg_mr", functions.reg_mr);
    library.find("_ibv_query_gid_ex", functions.query_gid_ex);
    library.findIfThere("ibv_reg_dmabuf_mr", functions.reg_dmabuf_mr);
    library.findIfThere("ibv_query_qp_data_in_order", functions.query_qp_data_in_order);
  }
};

struct LoadedCm {
  SharedLibrary library{"librdmacm"};
  CmLibrary functions;

  LoadedCm() {
#define COLLDSL_CM_FIND(name) library.find("rdma_" #name, functions.name);
    COLLDSL_CM_FUNCTIONS(COLLDSL_CM_FIND)
#undef COLLDSL_CM_FIND
  }
};

template <typename Loaded> const Loaded &loaded() {
  static const Loaded once;
  return once;
}

} // namespace

const Status &Library::load() { return loaded<LoadedVerbs>().library.status(); }
const Library &Library::get() { return loaded<LoadedVerbs>().functions; }
const Status &CmLibrary::load() { return loaded<LoadedCm>().library.status(); }
const CmLibrary &CmLibrary::get() { return loaded<LoadedCm>().functions; }

} // namespace colldsl::verbs
