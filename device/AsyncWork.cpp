#include "device/AsyncWork.h"

#include <algorithm>
#include <cassert>
#include <thread>

namespace colldsl::device {

Result<std::unique_ptr<AsyncWork>> AsyncWork::open(const CudaDriver &driver, CuContext context) {
  std::unique_ptr<AsyncWork> work(new AsyncWork(driver, context));
  CurrentContext current(driver, context);
  for (Stream &stream : work->streams_)
    if (Status s = checkCuda(driver, driver.streamCreate(&stream.stream, kStreamNonBlocking),
                             "cuStreamCreate");
        !s)
      return s;
  return work;
}

AsyncWork::~AsyncWork() {
  if (anyUnderWay())
    return;
  CurrentContext current(driver_, context_);
  if (!current) // with all that belonged to it
    return;
  for (Stream &stream : streams_) {
    for (CuEvent event : stream.events)
      driver_.eventDestroy(event);
    if (stream.stream)
      driver_.streamDestroy(stream.stream);
  }
}

Status AsyncWork::reserve(Lane lane, size_t pieces) {
  Stream &stream = streamOf(lane);
  if (!stream.isIdle())
    return Status::error("work of an earlier run is still under way on the device");
  CurrentContext current(driver_, context_);
  stream.numbers.resize(std::max(pieces, stream.numbers.size()));
  stream.events.reserve(pieces);
  while (stream.events.size() < pieces) {
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

Status AsyncWork::copy(Lane lane, std::byte *host, DeviceAddress device, uint64_t bytes,
                       uint32_t number) {
  assert(lane != Lane::Within);
  CuStream stream = streamOf(lane).stream;
  CurrentContext current(driver_, context_);
  if (!current)
    return Status::error("the context of the memory is gone");
  Status s = lane == Lane::ToHost
                 ? checkCuda(driver_, driver_.memcpyDtoHAsync(host, device, bytes, stream),
                             "cuMemcpyDtoHAsync")
                 : checkCuda(driver_, driver_.memcpyHtoDAsync(device, host, bytes, stream),
                             "cuMemcpyHtoDAsync");
  return s ? end(lane, number) : s;
}

Status AsyncWork::addCopyWithin(CuStream stream, DeviceAddress to, DeviceAddress from,
                                uint64_t bytes) {
  CurrentContext current(driver_, context_);
  return checkCuda(driver_, driver_.memcpyDtoDAsync(to, from, bytes, stream), "cuMemcpyDtoDAsync");
}

Status AsyncWork::end(Lane lane, uint32_t number) {
  Stream &stream = streamOf(lane);
  assert(stream.begun - stream.finished < stream.events.size());
  CurrentContext current(driver_, context_);
  size_t at = stream.begun % stream.events.size();
  Status s =
      checkCuda(driver_, driver_.eventRecord(stream.events[at], stream.stream), "cuEventRecord");
  if (!s) {
    isLost_ = true;
    return s;
  }
  stream.numbers[at] = number;
  ++stream.begun;
  return {};
}

Result<std::optional<AsyncWork::Finished>> AsyncWork::poll(std::optional<Finished> &culprit) {
  for (Lane lane : kLanes) {
    Stream &stream = streamOf(lane);
    if (stream.isIdle())
      continue;
    CurrentContext current(driver_, context_);
    CuResult result = driver_.eventQuery(stream.events[stream.oldest()]);
    if (result == kCudaNotReady)
      continue;
    Finished finished{lane, stream.numbers[stream.oldest()]};
    if (Status s = checkCuda(driver_, result, "cuEventQuery"); !s) {
      culprit = finished;
      return s;
    }
    ++stream.finished;
    return std::optional(finished);
  }
  return std::optional<Finished>();
}

bool AsyncWork::anyUnderWay() const {
  return isLost_ || std::any_of(streams_.begin(), streams_.end(),
                                [](const Stream &stream) { return !stream.isIdle(); });
}

// A stream whose event gives an error has stopped.
bool AsyncWork::drain(std::chrono::nanoseconds atMost) {
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
