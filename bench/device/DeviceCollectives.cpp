// Collectives of processes that share a device, in three ways: from device to device, by the stages
// of the plan, and between copies of the caller's from and to memory of the host.
//
// usage: device-collectives [RANKS [BYTES...]]; exits with 77 where there is no driver or device
#include "bench/device/Processes.h"
#include "ir/Concat.h"
#include "tests/device/PrimaryContext.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace colldsl;
using bench::kNoDevice, bench::require;
using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 21; // of each way, in turns
constexpr double kSeconds = 60;

/// Memory of the device, and page-locked memory of the host, of as many floats.
class Array {
public:
  Array(const device::CudaDriver &driver, device::CuStream stream, size_t count)
      : driver_(driver), stream_(stream), host_(count) {
    require(checkCuda(driver, driver.memAlloc(&address_, bytes()), "cuMemAlloc"));
    require(
        checkCuda(driver, driver.memHostRegister(host_.data(), bytes(), 0), "cuMemHostRegister"));
  }
  ~Array() {
    driver_.memHostUnregister(host_.data());
    driver_.memFree(address_);
  }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  size_t count() const { return host_.size(); }
  uint64_t bytes() const { return host_.size() * sizeof(float); }
  float *onDevice() const { return reinterpret_cast<float *>(address_); }
  std::vector<float> &onHost() { return host_; }

  void beginToDevice() {
    require(checkCuda(driver_, driver_.memcpyHtoDAsync(address_, host_.data(), bytes(), stream_),
                      "cuMemcpyHtoDAsync"));
  }
  void beginToHost() {
    require(checkCuda(driver_, driver_.memcpyDtoHAsync(host_.data(), address_, bytes(), stream_),
                      "cuMemcpyDtoHAsync"));
  }

private:
  const device::CudaDriver &driver_;
  device::CuStream stream_;
  std::vector<float> host_;
  device::DeviceAddress address_ = 0;
};

struct Collective {
  const char *name;
  bool gathers, hasInput;
  float (*result)(uint32_t ranks, uint32_t from); ///< of the block of a rank, from rank + 1
};
constexpr Collective kCollectives[] = {
    {"allreduce", false, true,
     [](uint32_t ranks, uint32_t) { return static_cast<float>(ranks * (ranks + 1) / 2); }},
    {"allgather", true, true, [](uint32_t, uint32_t from) { return static_cast<float>(from + 1); }},
    {"bcast", false, false, [](uint32_t, uint32_t) { return 1.0f; }},
};

/// One collective of one rank, in all ways.
class Measurement {
public:
  Measurement(coll::Communicator &comm, const device::CudaDriver &driver, device::CuStream stream,
              device::CuEvent event, const Collective &collective, size_t count)
      : comm_(comm), driver_(driver), stream_(stream), event_(event), collective_(collective),
        in_(driver, stream, count),
        out_(driver, stream, collective.gathers ? count * comm.size() : count),
        barrier_(comm, "barrier"), devices_(comm, collective.name), stages_(comm, collective.name),
        host_(comm, collective.name) {
    devices_.deviceOnly();
    for (coll::Plan *plan : {&devices_, &stages_}) {
      if (collective.hasInput)
        plan->bindDevice("x", in_.onDevice(), in_.count());
      plan->bindDevice(collective.hasInput ? "y" : "buf", out_.onDevice(), out_.count());
    }
    if (collective.hasInput)
      host_.bind("x", in_.onHost());
    host_.bind(collective.hasInput ? "y" : "buf", out_.onHost());
    for (coll::Plan *plan : {&devices_, &stages_, &host_})
      plan->count(count).commit();
    barrier_.commit();
  }

  /// Microseconds of the three ways, medians; throws if the data are wrong.
  std::vector<double> run() {
    std::vector<double> times[3];
    for (int i = 0; i < kRepeats; ++i)
      for (int way = 0; way < 3; ++way)
        times[way].push_back(runOnce(way));
    std::vector<double> medians;
    for (std::vector<double> &of : times) {
      std::nth_element(of.begin(), of.begin() + kRepeats / 2, of.end());
      medians.push_back(of[kRepeats / 2]);
    }
    return medians;
  }

private:
  double runOnce(int way) {
    float own = static_cast<float>(comm_.rank() + 1);
    std::fill(in_.onHost().begin(), in_.onHost().end(), own);
    std::fill(out_.onHost().begin(), out_.onHost().end(), collective_.hasInput ? -1.0f : own);
    in_.beginToDevice();
    out_.beginToDevice();
    finish();
    barrier_.run(kSeconds);
    auto begin = Clock::now();
    if (way == 2) {
      (collective_.hasInput ? in_ : out_).beginToHost();
      finish();
      host_.run(kSeconds);
      out_.beginToDevice();
      finish();
    } else {
      (way == 0 ? devices_ : stages_).run(kSeconds);
    }
    double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    out_.beginToHost();
    finish();
    size_t block = collective_.gathers ? in_.count() : out_.count();
    for (size_t i = 0; i < out_.count(); ++i)
      if (out_.onHost()[i] != collective_.result(comm_.size(), static_cast<uint32_t>(i / block)))
        throw std::runtime_error(concat(collective_.name, ": element ", i, " is wrong"));
    return us;
  }
  void finish() {
    require(checkCuda(driver_, driver_.eventRecord(event_, stream_), "cuEventRecord"));
    auto deadline = Clock::now() + std::chrono::seconds(60);
    device::CuResult result = device::kCudaNotReady;
    while (result == device::kCudaNotReady && Clock::now() < deadline)
      result = driver_.eventQuery(event_);
    require(checkCuda(driver_, result, "cuEventQuery"));
  }

  coll::Communicator &comm_;
  const device::CudaDriver &driver_;
  device::CuStream stream_;
  device::CuEvent event_;
  const Collective &collective_;
  Array in_, out_;
  coll::Plan barrier_, devices_, stages_, host_;
};

std::string runRank(coll::Communicator &comm, const std::vector<size_t> &sizes) {
  Result<const device::CudaDriver *> driver = device::cudaDriver();
  if (!driver)
    return kNoDevice + driver.message();
  std::string name;
  Result<device::CuContext> context = test::primaryContext(**driver, 0, name);
  if (!context)
    return kNoDevice + context.message();
  device::CurrentContext current(**driver, *context);
  device::CuStream stream = nullptr;
  device::CuEvent event = nullptr;
  require(checkCuda(**driver, (*driver)->streamCreate(&stream, device::kStreamNonBlocking),
                    "cuStreamCreate"));
  require(checkCuda(**driver, (*driver)->eventCreate(&event, device::kEventWithoutTiming),
                    "cuEventCreate"));
  if (comm.rank() == 0)
    std::printf(
        "%u processes on %s; us: from device to device, by stages, by the caller's copies\n",
        comm.size(), name.c_str());
  for (const Collective &collective : kCollectives)
    for (size_t bytes : sizes) {
      Measurement measurement(comm, **driver, stream, event, collective, bytes / sizeof(float));
      std::vector<double> us = measurement.run();
      if (comm.rank() == 0)
        std::printf("%-10s %10zu B  %10.1f %10.1f %10.1f\n", collective.name, bytes, us[0], us[1],
                    us[2]);
    }
  return "";
}

} // namespace

int main(int count, char **arguments) {
  return bench::runProcesses("device-collectives", count, arguments,
                             {4096, 65536, 1 << 20, 16 << 20}, runRank);
}
