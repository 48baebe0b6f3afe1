/// A stream, and graphs of what it captures.
#pragma once

#include "tests/device/FakeGraphs.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace colldsl::test {

/// A stream of this thread, which has the context.
class CapturingStream {
public:
  explicit CapturingStream(uint32_t context = 0)
      : current_(FakeDevice::driver(), FakeDevice::context(context)) {
    FakeDevice::driver().streamCreate(&handle_, 0);
  }
  ~CapturingStream() { FakeDevice::driver().streamDestroy(handle_); }
  CapturingStream(const CapturingStream &) = delete;
  CapturingStream &operator=(const CapturingStream &) = delete;

  device::CuStream get() const { return handle_; }
  void begin() const {
    EXPECT_EQ(cuStreamBeginCapture_v2(handle_, kCaptureModeGlobal), device::kCudaSuccess);
  }
  void copy(const void *to, const void *from, uint64_t bytes) const {
    EXPECT_EQ(FakeDevice::driver().memcpyDtoDAsync(reinterpret_cast<device::DeviceAddress>(to),
                                                   reinterpret_cast<device::DeviceAddress>(from),
                                                   bytes, handle_),
              device::kCudaSuccess);
  }

private:
  device::CurrentContext current_;
  device::CuStream handle_ = nullptr;
};

/// The graph of a capture, which its end makes.
class LaunchableGraph {
public:
  /// Ends the capture of the stream.
  explicit LaunchableGraph(const CapturingStream &stream) {
    CuGraph graph = nullptr;
    end_ = cuStreamEndCapture(stream.get(), &graph);
    if (end_ != device::kCudaSuccess)
      return;
    cuGraphInstantiateWithFlags(&exec_, graph, 0);
    cuGraphDestroy(graph);
  }
  ~LaunchableGraph() {
    if (exec_)
      cuGraphExecDestroy(exec_);
  }
  LaunchableGraph(const LaunchableGraph &) = delete;
  LaunchableGraph &operator=(const LaunchableGraph &) = delete;

  /// The result of the end of the capture.
  device::CuResult end() const { return end_; }
  void launch(const CapturingStream &stream) const {
    EXPECT_EQ(cuGraphLaunch(exec_, stream.get()), device::kCudaSuccess);
  }

private:
  device::CuResult end_;
  CuGraphExec exec_ = nullptr;
};

} // namespace colldsl::test
