// Allreduces of processes that share a device, each captured into a CUDA graph once and launched
// many times with fresh numbers: all results are compared, and launches are timed beside runs.
//
// usage: device-graphs [RANKS [BYTES...]]; exits with 77 where there is no driver or device
#include "bench/device/Processes.h"
#include "ir/Concat.h"
#include "tests/device/GraphCalls.h"
#include "tests/device/PrimaryContext.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace colldsl;
using bench::kNoDevice, bench::require;
using Clock = std::chrono::steady_clock;

constexpr int kLaunches = 100;
constexpr double kSeconds = 60;

/// A stream of the device, and what it needs.
struct Device {
  const device::CudaDriver &driver;
  test::GraphCalls graphs;
  device::CuStream stream = nullptr;
  device::CuEvent event = nullptr;

  void check(device::CuResult result, const char *call) const {
    require(checkCuda(driver, result, call));
  }
};

/// Memory of the device.
class Memory {
public:
  Memory(const Device &device, uint64_t bytes) : device_(device) {
    device.check(device.driver.memAlloc(&address_, bytes), "cuMemAlloc");
  }
  ~Memory() { device_.driver.memFree(address_); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  device::DeviceAddress address() const { return address_; }

private:
  const Device &device_;
  device::DeviceAddress address_ = 0;
};

/// An allreduce of one rank: page-locked numbers of the host, and their copies on the device.
class Allreduce {
public:
  Allreduce(coll::Communicator &comm, const Device &device, size_t count)
      : comm_(comm), device_(device), host_(count), x_(device, bytes()), y_(device, bytes()),
        plan_(comm, "allreduce") {
    device.check(device.driver.memHostRegister(host_.data(), bytes(), 0), "cuMemHostRegister");
    plan_.deviceOnly().deviceMessages(0);
    plan_.bindDevice("x", reinterpret_cast<float *>(x_.address()), count);
    plan_.bindDevice("y", reinterpret_cast<float *>(y_.address()), count).count(count).commit();
  }
  ~Allreduce() {
    if (exec_)
      device_.graphs.destroyExec(exec_);
    device_.driver.memHostUnregister(host_.data());
  }
  Allreduce(const Allreduce &) = delete;
  Allreduce &operator=(const Allreduce &) = delete;

  /// Microseconds of a run, and of a launch, both with copies from and to the host.
  std::pair<double, double> measure() {
    once(-1, [&] { plan_.run(kSeconds); });
    capture();
    std::vector<double> runs, launches;
    for (int i = 0; i < kLaunches; ++i) {
      runs.push_back(once(2 * i, [&] { plan_.run(kSeconds); }));
      launches.push_back(once(2 * i + 1, [&] {
        device_.check(device_.graphs.launch(exec_, device_.stream), "cuGraphLaunch");
      }));
    }
    return {median(runs), median(launches)};
  }

private:
  uint64_t bytes() const { return host_.size() * sizeof(float); }

  void capture() {
    void *graph = nullptr;
    device_.check(device_.graphs.beginCapture(device_.stream, 0), "cuStreamBeginCapture");
    plan_.startOnStream(device_.stream);
    device_.check(device_.graphs.endCapture(device_.stream, &graph), "cuStreamEndCapture");
    device::CuResult made = device_.graphs.instantiate(&exec_, graph, 0);
    device_.graphs.destroy(graph);
    device_.check(made, "cuGraphInstantiateWithFlags");
  }

  /// Time with fresh numbers; throws if the sums are wrong.
  template <typename Sum> double once(int number, Sum sum) {
    for (size_t i = 0; i < host_.size(); ++i)
      host_[i] = inputOf(number, i) + static_cast<float>(comm_.rank());
    auto begin = Clock::now();
    device_.check(
        device_.driver.memcpyHtoDAsync(x_.address(), host_.data(), bytes(), device_.stream),
        "cuMemcpyHtoDAsync");
    finish();
    sum();
    device_.check(
        device_.driver.memcpyDtoHAsync(host_.data(), y_.address(), bytes(), device_.stream),
        "cuMemcpyDtoHAsync");
    finish();
    double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    const auto ranks = static_cast<float>(comm_.size());
    for (size_t i = 0; i < host_.size(); ++i)
      if (host_[i] != ranks * inputOf(number, i) + ranks * (ranks - 1) / 2)
        throw std::runtime_error(concat("allreduce ", number, ": element ", i, " is wrong"));
    return us;
  }
  static float inputOf(int number, size_t i) {
    return static_cast<float>(number % 64) + static_cast<float>(i % 1024);
  }

  /// Waits for the stream, and looks for failures of other ranks.
  void finish() {
    device_.check(device_.driver.eventRecord(device_.event, device_.stream), "cuEventRecord");
    auto deadline = Clock::now() + std::chrono::duration<double>(kSeconds);
    device::CuResult result = device::kCudaNotReady;
    while (result == device::kCudaNotReady && Clock::now() < deadline) {
      result = device_.driver.eventQuery(device_.event);
      int isDone = 0;
      coll::check(colldsl_plan_test(plan_.get(), &isDone));
    }
    device_.check(result, "cuEventQuery");
  }

  static double median(std::vector<double> &of) {
    std::nth_element(of.begin(), of.begin() + kLaunches / 2, of.end());
    return of[kLaunches / 2];
  }

  coll::Communicator &comm_;
  const Device &device_;
  std::vector<float> host_;
  Memory x_, y_;
  coll::Plan plan_;
  void *exec_ = nullptr;
};

std::string runRank(coll::Communicator &comm, const std::vector<size_t> &sizes) {
  Result<const device::CudaDriver *> driver = device::cudaDriver();
  if (!driver)
    return kNoDevice + driver.message();
  std::string name;
  Result<device::CuContext> context = test::primaryContext(**driver, 0, name);
  if (!context)
    return kNoDevice + context.message();
  Result<test::GraphCalls> graphs = test::GraphCalls::find();
  if (!graphs)
    return kNoDevice + graphs.message();
  device::CurrentContext current(**driver, *context);
  Device device{**driver, *graphs};
  device.check(device.driver.streamCreate(&device.stream, device::kStreamNonBlocking),
               "cuStreamCreate");
  device.check(device.driver.eventCreate(&device.event, device::kEventWithoutTiming),
               "cuEventCreate");
  if (comm.rank() == 0)
    std::printf("%u processes on %s; us: runs, launches of graphs\n", comm.size(), name.c_str());
  for (size_t bytes : sizes) {
    Allreduce allreduce(comm, device, bytes / sizeof(float));
    auto [run, launch] = allreduce.measure();
    if (comm.rank() == 0)
      std::printf("allreduce %10zu B  %10.1f %10.1f\n", bytes, run, launch);
  }
  return "";
}

} // namespace

int main(int count, char **arguments) {
  return bench::runProcesses("device-graphs", count, arguments, {4096, 1 << 20}, runRank);
}
