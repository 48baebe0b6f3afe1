/// The calls of CUDA's driver by which programs capture streams and launch graphs, which the
/// library does not need.
#pragma once

#include "device/CudaDriver.h"

namespace colldsl::test {

struct GraphCalls {
  device::CuResult (*beginCapture)(device::CuStream, int mode) = nullptr;
  device::CuResult (*endCapture)(device::CuStream, void **graph) = nullptr;
  device::CuResult (*instantiate)(void **exec, void *graph, unsigned long long flags) = nullptr;
  device::CuResult (*launch)(void *exec, device::CuStream) = nullptr;
  device::CuResult (*destroy)(void *graph) = nullptr;
  device::CuResult (*destroyExec)(void *exec) = nullptr;

  /// Takes the calls from `libcuda.so.1`, which stays open. An error: the library lacks one.
  static Result<GraphCalls> find();
};

} // namespace colldsl::test
