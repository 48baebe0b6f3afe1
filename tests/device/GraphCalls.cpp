#include "tests/device/GraphCalls.h"

#include <dlfcn.h>

namespace colldsl::test {

Result<GraphCalls> GraphCalls::find() {
  GraphCalls calls;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  auto take = [&](auto &call, const char *symbol) {
    call =
        library ? reinterpret_cast<std::decay_t<decltype(call)>>(dlsym(library, symbol)) : nullptr;
    return call != nullptr;
  };
  bool areThere = take(calls.beginCapture, "cuStreamBeginCapture_v2") &&
                  take(calls.endCapture, "cuStreamEndCapture") &&
                  take(calls.instantiate, "cuGraphInstantiateWithFlags") &&
                  take(calls.launch, "cuGraphLaunch") && take(calls.destroy, "cuGraphDestroy") &&
                  take(calls.destroyExec, "cuGraphExecDestroy");
  if (!areThere)
    return Status::error("the driver of CUDA has no graphs");
  return calls;
}

} // namespace colldsl::test
