// Streams, events and work of the fake device.
#include "tests/device/FakeState.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace colldsl::test {
namespace {

constexpr std::chrono::milliseconds kLongestWait{300};

bool overlap(uint64_t a, uint64_t aBytes, uint64_t b, uint64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}

CuResult beginCopy(FakeCall &call, FakeUse target, FakeUse source, CuStream handle,
                   uint64_t &counter) {
  FakeStream *stream = call->streamOf(handle);
  if (!stream)
    return kCudaInvalidHandle;
  if (!call->check(source) || !call->check(target))
    return kCudaInvalidValue;
  uint64_t number = ++call->copies;
  if (call.fails() || number == call->options.failCopyAt)
    return kCudaIllegalAddress;
  counter += source.bytes;
  auto *to = reinterpret_cast<std::byte *>(target.begin);
  if (!call->isInUse(target.begin, target.bytes))
    std::memset(to, kMeaningless, target.bytes);
  FakeWork work;
  work.uses = {source, target};
  work.run = [=, &state = *call] {
    if (!state.check(source) || !state.check(target) || number == state.options.failStreamAt)
      return kCudaIllegalAddress;
    std::memcpy(to, reinterpret_cast<const std::byte *>(source.begin), source.bytes);
    return kCudaSuccess;
  };
  if (number == call->options.stallAt)
    work.canRun = [] { return false; };
  stream->work.push_back(std::move(work));
  return kCudaSuccess;
}

/// Adds work on a word, which waits until canRun().
CuResult addWordWork(FakeCall &call, CuStream handle, DeviceAddress address,
                     std::function<bool(uint32_t *)> canRun, std::function<void(uint32_t *)> run) {
  FakeStream *stream = call->streamOf(handle);
  uint32_t *word = call->wordAt(address);
  if (!stream || call.fails())
    return kCudaInvalidHandle;
  if (!word)
    return kCudaInvalidValue;
  FakeWork work;
  work.uses = {{reinterpret_cast<uint64_t>(word), sizeof *word}};
  work.canRun = [=, &state = *call, use = work.uses[0]] {
    bool isThere =
        state.memory.contains(use.begin, use.bytes) || state.isLocked(use.begin, use.bytes);
    return !isThere || canRun(word);
  };
  work.run = [=, &state = *call, use = work.uses[0]] {
    if (!state.check(use))
      return kCudaIllegalAddress;
    run(word);
    return kCudaSuccess;
  };
  stream->work.push_back(std::move(work));
  return kCudaSuccess;
}

uint32_t load(uint32_t *word) { return std::atomic_ref(*word).load(); }

} // namespace

FakeStream *FakeState::streamOf(CuStream handle) {
  if (!hasContext())
    return nullptr;
  CuContext current = fakeContexts().back();
  if (!handle)
    return &streams.try_emplace(handle, FakeStream{current, {}, kCudaSuccess}).first->second;
  auto found = streams.find(handle);
  return found != streams.end() && found->second.context == current ? &found->second : nullptr;
}

bool FakeState::isInUse(uint64_t address, uint64_t bytes) const {
  for (const auto &[handle, stream] : streams)
    for (const FakeWork &work : stream.work)
      for (const FakeUse &use : work.uses)
        if (stream.state == kCudaSuccess && overlap(use.begin, use.bytes, address, bytes))
          return true;
  return false;
}

uint32_t *FakeState::wordAt(DeviceAddress address) {
  uint64_t host = address & kFakeAlias ? address & ~kFakeAlias : 0;
  bool isThere =
      address % sizeof(uint32_t) == 0 &&
      (host ? isLocked(host, sizeof(uint32_t)) : memory.contains(address, sizeof(uint32_t)));
  if (!isThere)
    complain("a word that is neither in memory of the device nor page-locked by its address there");
  return isThere ? reinterpret_cast<uint32_t *>(host ? host : address) : nullptr;
}

bool FakeState::runOne() {
  if (isHeld)
    return false;
  std::vector<FakeStream *> busy;
  for (auto &[handle, stream] : streams)
    if (!stream.work.empty()) {
      const FakeWork &oldest = stream.work.front();
      bool isStopped = stream.state != kCudaSuccess;
      if (isStopped || !oldest.canRun || oldest.canRun())
        busy.push_back(&stream);
    }
  if (busy.empty())
    return false;
  FakeStream &stream = *busy[random() % busy.size()];
  FakeWork work = std::move(stream.work.front());
  stream.work.pop_front();
  if (work.record)
    work.record(stream.state);
  else if (stream.state == kCudaSuccess)
    stream.state = work.run();
  return true;
}

bool FakeState::isIdle() const {
  return std::all_of(streams.begin(), streams.end(),
                     [](const auto &stream) { return stream.second.work.empty(); });
}

// Other threads may bring it about that more work can run.
void waitForFakeDevice() {
  auto becomesIdle = [] {
    FakeCall call("wait for the device");
    while (call->runOne())
      continue;
    return call->isIdle();
  };
  auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  while (!becomesIdle()) {
    if (std::chrono::steady_clock::now() > deadline)
      return FakeCall("complain")
          ->complain("a call that waits for the device, which waits for the caller");
    std::this_thread::yield();
  }
}

bool FakeDevice::synchronize(CuStream stream) {
  FakeCall call("synchronize");
  while (call->streams.count(stream) && !call->streams[stream].work.empty())
    if (!call->runOne())
      return false;
  return true;
}

void FakeDevice::hold() { FakeCall("hold")->isHeld = true; }

void FakeDevice::release() {
  FakeCall call("release");
  call->isHeld = false;
  while (call->runOne())
    continue;
}

extern "C" {

CuResult cuStreamCreate(CuStream *stream, unsigned) {
  FakeCall call("cuStreamCreate");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call.fails())
    return kCudaOutOfMemory;
  *stream = call->newHandle<CuStream>();
  call->streams[*stream].context = fakeContexts().back();
  return kCudaSuccess;
}

CuResult cuStreamDestroy_v2(CuStream stream) {
  FakeCall call("cuStreamDestroy_v2");
  if (call.fails())
    return kCudaIllegalAddress;
  return stream && call->streams.erase(stream) ? kCudaSuccess : kCudaInvalidHandle;
}

CuResult cuStreamGetCtx(CuStream stream, CuContext *context) {
  FakeCall call("cuStreamGetCtx");
  if (call.fails() || (!stream && !call->hasContext()))
    return kCudaInvalidContext;
  auto found = call->streams.find(stream);
  if (stream && found == call->streams.end())
    return kCudaInvalidHandle;
  *context = stream ? found->second.context : fakeContexts().back();
  return kCudaSuccess;
}

CuResult cuStreamWaitValue32_v2(CuStream stream, DeviceAddress address, uint32_t value,
                                unsigned flags) {
  FakeCall call("cuStreamWaitValue32_v2");
  if (flags != kWaitValueGeq)
    return kCudaInvalidValue;
  return addWordWork(
      call, stream, address,
      [=](uint32_t *word) { return static_cast<int32_t>(load(word) - value) >= 0; },
      [](uint32_t *) {});
}

CuResult cuMemcpyDtoHAsync_v2(void *host, DeviceAddress from, size_t bytes, CuStream stream) {
  FakeCall call("cuMemcpyDtoHAsync_v2");
  return beginCopy(call, {reinterpret_cast<uint64_t>(host), bytes, FakeUse::Where::Host},
                   {from, bytes, FakeUse::Where::Device}, stream, call->toHost);
}

CuResult cuMemcpyHtoDAsync_v2(DeviceAddress to, const void *host, size_t bytes, CuStream stream) {
  FakeCall call("cuMemcpyHtoDAsync_v2");
  return beginCopy(call, {to, bytes, FakeUse::Where::Device},
                   {reinterpret_cast<uint64_t>(host), bytes, FakeUse::Where::Host}, stream,
                   call->toDevice);
}

CuResult cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, size_t bytes, CuStream stream) {
  FakeCall call("cuMemcpyDtoDAsync_v2");
  return beginCopy(call, {to, bytes, FakeUse::Where::Device}, {from, bytes, FakeUse::Where::Device},
                   stream, call->within);
}

CuResult cuEventCreate(CuEvent *event, unsigned) {
  FakeCall call("cuEventCreate");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call.fails())
    return kCudaOutOfMemory;
  *event = call->newHandle<CuEvent>();
  call->events[*event].context = fakeContexts().back();
  return kCudaSuccess;
}

CuResult cuEventDestroy_v2(CuEvent event) {
  FakeCall call("cuEventDestroy_v2");
  if (call.fails())
    return kCudaIllegalAddress;
  return call->events.erase(event) ? kCudaSuccess : kCudaInvalidHandle;
}

CuResult cuEventRecord(CuEvent event, CuStream handle) {
  FakeCall call("cuEventRecord");
  FakeStream *stream = call->streamOf(handle);
  auto found = call->events.find(event);
  if (call.fails())
    return kCudaIllegalAddress;
  if (!stream || found == call->events.end() || found->second.context != stream->context)
    return kCudaInvalidHandle;
  FakeWork work;
  work.record = [&state = *call, event, number = ++found->second.recorded](CuResult result) {
    auto recorded = state.events.find(event);
    if (recorded == state.events.end())
      return;
    recorded->second.finished = number;
    recorded->second.result = result;
  };
  stream->work.push_back(std::move(work));
  return kCudaSuccess;
}

CuResult cuEventQuery(CuEvent event) {
  FakeCall call("cuEventQuery");
  if (call.fails())
    return kCudaIllegalAddress;
  for (uint64_t steps = call->random() % 4; steps > 0 && call->runOne();)
    --steps;
  auto found = call->events.find(event);
  if (found == call->events.end())
    return kCudaInvalidHandle;
  return found->second.finished < found->second.recorded ? kCudaNotReady : found->second.result;
}

} // extern "C"
} // namespace colldsl::test
