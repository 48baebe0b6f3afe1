#include "device/AsyncCopies.h"

#include <algorithm>
#include <thread>

namespace colldsl::device {
namespace {

constexpr Direction kDirections[] = {Direction::ToHost, Direction::ToDevice};

} // namespace

Result<std::unique_ptr<AsyncCopies>> AsyncCopies::open(const CudaDriver &driver,
                                                       CuContext context) {
  std::unique_ptr<AsyncCopies> copies(new AsyncCopies(driver, context));
  CurrentContext current(driver, context);
  for (Direction direction : kDirections)
    if (Status s = checkCuda(
            driver, driver.streamCreate(&copies->streamOf(direction).stream, kStreamNonBlocking),
            "cuStreamCreate");
        !s)
      return s;
  return copies;
}

AsyncCopies::~AsyncCopies() {
  if (anyUnderWay())
    return;
  CurrentContext current(driver_, context_);
  for (Stream &stream : streams_) {
    for (CuEvent event : stream.events)
      driver_.eventDestroy(event);
    if (stream.stream)
      driver_.streamDestroy(stream.stream);
  }
}

Status AsyncCopies::reserve(Direction direction, size_t copies) {
  Stream &stream = streamOf(direction);
  CurrentContext current(driver_, context_);
  stream.numbers.resize(std::max(copies, stream.numbers.size()));
  stream.events.reserve(copies);
  while (stream.events.size() < copies) {
    CuEvent event = nullptr;
    if (Status s =
            checkCuda(driver_, driver_.eventCreate(&event, kEventWithoutTiming), "cuEventCreate");
        !s)
      return s;
    stream.events.push_back(event);
  }
  stream.begun = stream.finished = 0;
  return {};
}

Status AsyncCopies::copy(Direction direction, std::byte *host, DeviceAddress device, uint64_t bytes,
                         uint32_t number) {
  Stream &stream = streamOf(direction);
  CurrentContext current(driver_, context_);
  Status s = direction == Direction::ToHost
                 ? checkCuda(driver_, driver_.memcpyDtoHAsync(host, device, bytes, stream.stream),
                             "cuMemcpyDtoHAsync")
                 : checkCuda(driver_, driver_.memcpyHtoDAsync(device, host, bytes, stream.stream),
                             "cuMemcpyHtoDAsync");
  if (!s)
    return s;
  size_t at = stream.begun % stream.events.size();
  s = checkCuda(driver_, driver_.eventRecord(stream.events[at], stream.stream), "cuEventRecord");
  if (!s) {
    isLost_ = true;
    return s;
  }
  stream.numbers[at] = number;
  ++stream.begun;
  return {};
}

Result<std::optional<AsyncCopies::Finished>> AsyncCopies::poll(std::optional<Finished> &culprit) {
  for (Direction direction : kDirections) {
    Stream &stream = streamOf(direction);
    if (stream.isIdle())
      continue;
    CurrentContext current(driver_, context_);
    CuResult result = driver_.eventQuery(stream.events[stream.oldest()]);
    if (result == kCudaNotReady)
      continue;
    Finished finished{direction, stream.numbers[stream.oldest()]};
    if (Status s = checkCuda(driver_, result, "cuEventQuery"); !s) {
      culprit = finished;
      return s;
    }
    ++stream.finished;
    return std::optional(finished);
  }
  return std::optional<Finished>();
}

// A stream whose event gives an error has stopped.
bool AsyncCopies::drain(std::chrono::nanoseconds atMost) {
  auto deadline = std::chrono::steady_clock::now() + atMost;
  CurrentContext current(driver_, context_);
  for (Stream &stream : streams_)
    while (!stream.isIdle()) {
      CuResult result = driver_.eventQuery(stream.events[stream.oldest()]);
      if (result == kCudaSuccess)
        ++stream.finished;
      else if (result != kCudaNotReady)
        stream.finished = stream.begun;
      else if (std::chrono::steady_clock::now() >= deadline)
        return false;
      else
        std::this_thread::yield();
    }
  return !isLost_;
}

} // namespace colldsl::device
