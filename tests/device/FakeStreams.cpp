// Streams, events and work of the fake device.
#include "tests/device/FakeState.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

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
  FakeWork work;
  work.begin = [=, &state = *call](const FakeStream *stream) {
    if (state.memory.find(target.begin) && !state.isInUse(target.begin, target.bytes, stream))
      std::memset(to, kMeaningless, target.bytes);
  };
  work.uses = {source, target};
  work.run = [=, &state = *call] {
    if (!state.check(source) || !state.check(target) || number == state.options.failStreamAt)
      return kCudaIllegalAddress;
    std::memcpy(to, reinterpret_cast<const std::byte *>(source.begin), source.bytes);
    return kCudaSuccess;
  };
  if (number == call->options.stallAt)
    work.canRun = [] { return false; };
  return call->add(*stream, std::move(work));
}

/// Adds work on a word, which waits until canRun().
template <typename Word>
CuResult addWordWork(FakeCall &call, CuStream handle, DeviceAddress address,
                     std::function<bool(Word)> canRun, std::function<void(Word *)> run) {
  FakeStream *stream = call->streamOf(handle);
  auto *word = reinterpret_cast<Word *>(call->wordAt(address, sizeof(Word)));
  if (!stream || call.fails())
    return kCudaInvalidHandle;
  if (!word)
    return kCudaInvalidValue;
  FakeWork work;
  work.uses = {{reinterpret_cast<uint64_t>(word), sizeof *word}};
  work.canRun = [=, &state = *call, use = work.uses[0]] {
    bool isThere =
        state.memory.contains(use.begin, use.bytes) || state.isLocked(use.begin, use.bytes);
    return !isThere || canRun(std::atomic_ref(*word).load());
  };
  work.run = [=, &state = *call, use = work.uses[0]] {
    if (!state.check(use))
      return kCudaIllegalAddress;
    run(word);
    return kCudaSuccess;
  };
  return call->add(*stream, std::move(work));
}

/// Adds a wait for a word, which does not change.
template <typename Word>
CuResult addWait(FakeCall &call, CuStream stream, DeviceAddress address, Word value,
                 unsigned flags) {
  std::function<bool(Word)> isOver;
  if (flags == kWaitValueGeq)
    isOver = [=](Word word) { return static_cast<std::make_signed_t<Word>>(word - value) >= 0; };
  else if (flags == kWaitValueEq)
    isOver = [=](Word word) { return word == value; };
  else if (flags == kWaitValueAnd)
    isOver = [=](Word word) { return (word & value) != 0; };
  else
    return kCudaInvalidValue;
  return addWordWork<Word>(call, stream, address, isOver, [](Word *) {});
}

} // namespace

FakeStream *FakeState::streamOf(CuStream handle) {
  if (!hasContext())
    return nullptr;
  CuContext current = fakeContexts().back();
  if (!handle && anyBlockingCaptures()) {
    complain("work of the default stream while another stream captures");
    return nullptr;
  }
  if (!handle) {
    FakeStream &byDefault = streams[handle];
    if (!byDefault.context)
      byDefault.context = current;
    return &byDefault;
  }
  auto found = streams.find(handle);
  return found != streams.end() && found->second.context == current ? &found->second : nullptr;
}

bool FakeState::isInUse(uint64_t address, uint64_t bytes, const FakeStream *except) const {
  auto touches = [&](const FakeWork &work) {
    return std::any_of(work.uses.begin(), work.uses.end(), [&](const FakeUse &use) {
      return overlap(use.begin, use.bytes, address, bytes);
    });
  };
  for (const auto &[handle, stream] : streams)
    for (const FakeWork &work : stream.work) {
      if (stream.state != kCudaSuccess || &stream == except)
        break;
      if (touches(work))
        return true;
      for (size_t n = 0; work.launch && n < work.launch->nodes.size(); ++n)
        if (!work.launch->isDone[n] && touches(work.launch->nodes[n].work))
          return true;
    }
  return false;
}

std::byte *FakeState::wordAt(DeviceAddress address, uint64_t bytes) {
  uint64_t host = address & kFakeAlias ? address & ~kFakeAlias : 0;
  bool isThere =
      address % bytes == 0 && (host ? isLocked(host, bytes) : memory.contains(address, bytes));
  if (!isThere)
    complain("a word that is neither in memory of the device nor page-locked by its address there");
  return isThere ? reinterpret_cast<std::byte *>(host ? host : address) : nullptr;
}

bool FakeState::runOne() {
  if (isHeld)
    return false;
  struct Candidate {
    FakeStream *stream;
    size_t node; ///< of a launch
  };
  std::vector<Candidate> candidates;
  for (auto &[handle, stream] : streams) {
    if (stream.work.empty())
      continue;
    const FakeWork &oldest = stream.work.front();
    if (stream.state != kCudaSuccess || (!oldest.launch && (!oldest.canRun || oldest.canRun())))
      candidates.push_back({&stream, 0});
    else if (oldest.launch && (!oldest.canRun || oldest.canRun()))
      for (size_t node : readyNodes(stream))
        candidates.push_back({&stream, node});
  }
  if (candidates.empty())
    return false;
  auto [stream, node] = candidates[random() % candidates.size()];
  if (stream->work.front().launch && stream->state == kCudaSuccess)
    return runNode(*stream, node);
  FakeWork work = std::move(stream->work.front());
  stream->work.pop_front();
  if (work.record)
    work.record(stream->state);
  else if (work.launch)
    work.launch->left = 0;
  else if (stream->state == kCudaSuccess)
    stream->state = work.run();
  return true;
}

std::vector<size_t> FakeState::readyNodes(FakeStream &stream) {
  FakeLaunch &launch = *stream.work.front().launch;
  std::vector<size_t> ready;
  for (size_t n = 0; n < launch.nodes.size(); ++n) {
    const FakeWork &work = launch.nodes[n].work;
    if (!launch.isReady(n))
      continue;
    if (!launch.hasBegun[n] && work.begin)
      work.begin(&stream);
    launch.hasBegun[n] = true;
    if (!work.canRun || work.canRun())
      ready.push_back(n);
  }
  return ready;
}

bool FakeState::runNode(FakeStream &stream, size_t node) {
  FakeLaunch &launch = *stream.work.front().launch;
  launch.isDone[node] = true;
  stream.state = launch.nodes[node].work.run();
  if (--launch.left == 0)
    stream.work.pop_front();
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

CuResult cuStreamCreate(CuStream *stream, unsigned flags) {
  FakeCall call("cuStreamCreate");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call.fails())
    return kCudaOutOfMemory;
  *stream = call->newHandle<CuStream>();
  call->streams[*stream].context = fakeContexts().back();
  call->streams[*stream].isBlocking = flags != kStreamNonBlocking;
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
  return addWait(call, stream, address, value, flags);
}

CuResult cuStreamWaitValue64_v2(CuStream stream, DeviceAddress address, uint64_t value,
                                unsigned flags) {
  FakeCall call("cuStreamWaitValue64_v2");
  return addWait(call, stream, address, value, flags);
}

CuResult cuStreamWriteValue32_v2(CuStream stream, DeviceAddress address, uint32_t value,
                                 unsigned flags) {
  FakeCall call("cuStreamWriteValue32_v2");
  if (flags != kWriteValueDefault)
    return kCudaInvalidValue;
  return addWordWork<uint32_t>(
      call, stream, address, [](uint32_t) { return true; },
      [=](uint32_t *word) { std::atomic_ref(*word).store(value); });
}

CuResult cuMemsetD32Async(DeviceAddress address, unsigned value, size_t count, CuStream handle) {
  FakeCall call("cuMemsetD32Async");
  FakeStream *stream = call->streamOf(handle);
  FakeUse target{address, count * sizeof value, FakeUse::Where::Device};
  if (!stream || call.fails())
    return kCudaInvalidHandle;
  if (!call->check(target))
    return kCudaInvalidValue;
  FakeWork work;
  work.uses = {target};
  work.run = [=, &state = *call] {
    if (!state.check(target))
      return kCudaIllegalAddress;
    std::fill_n(reinterpret_cast<unsigned *>(address), count, value);
    return kCudaSuccess;
  };
  return call->add(*stream, std::move(work));
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
  found->second.capture = stream->capture;
  found->second.captured = stream->captured;
  if (stream->capture)
    return kCudaSuccess;
  FakeWork work;
  work.record = [&state = *call, event, number = ++found->second.recorded](CuResult result) {
    auto recorded = state.events.find(event);
    if (recorded == state.events.end())
      return;
    recorded->second.finished = number;
    recorded->second.result = result;
  };
  return call->add(*stream, std::move(work));
}

CuResult cuEventQuery(CuEvent event) {
  FakeCall call("cuEventQuery");
  if (call.fails())
    return kCudaIllegalAddress;
  if (call->isUnsafe("cuEventQuery"))
    return kCudaCaptureUnsupported;
  for (uint64_t steps = call->random() % 4; steps > 0 && call->runOne();)
    --steps;
  auto found = call->events.find(event);
  if (found == call->events.end())
    return kCudaInvalidHandle;
  if (found->second.capture) {
    call->complain("an event of a capture is queried");
    found->second.capture->isInvalid = true;
    return kCudaCapturedEvent;
  }
  return found->second.finished < found->second.recorded ? kCudaNotReady : found->second.result;
}

} // extern "C"
} // namespace colldsl::test
