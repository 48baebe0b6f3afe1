#include "tests/device/FakeGraphs.h"

#include "tests/device/FakeState.h"

#include <algorithm>

namespace colldsl::test {
namespace {

int &captureModeOfThread() {
  thread_local int mode = kCaptureModeGlobal;
  return mode;
}

/// By node: the last one comes behind it, or it is one of these.
std::vector<bool> nodesBefore(const FakeCapture &capture, const std::vector<size_t> &last) {
  std::vector<bool> found(capture.nodes.size());
  for (size_t node : last)
    found[node] = true;
  for (size_t node = capture.nodes.size(); node-- > 0;) // which is behind older ones only
    for (size_t before : capture.nodes[node].before)
      found[before] = found[before] || found[node];
  return found;
}

} // namespace

bool FakeLaunch::isReady(size_t node) const {
  const std::vector<size_t> &before = nodes[node].before;
  return !isDone[node] &&
         std::all_of(before.begin(), before.end(), [&](size_t one) { return isDone[one]; });
}

CuResult FakeState::add(FakeStream &stream, FakeWork work) {
  if (!stream.capture) {
    if (work.begin)
      work.begin(nullptr);
    stream.work.push_back(std::move(work));
    return kCudaSuccess;
  }
  if (stream.capture->isInvalid)
    return kCudaCaptureInvalidated;
  stream.capture->nodes.push_back({std::move(work), stream.captured});
  stream.captured = {stream.capture->nodes.size() - 1};
  return kCudaSuccess;
}

// The capture modes forbid the calls that cuThreadExchangeStreamCaptureMode() documents.
bool FakeState::isUnsafe(const char *call) {
  const int mode = captureModeOfThread();
  bool isUnsafe = false;
  for (auto &[handle, stream] : streams) {
    if (!stream.capture)
      continue;
    const bool isOwn = stream.capture->thread == std::this_thread::get_id();
    const bool isForbidden =
        (isOwn && mode != kCaptureModeRelaxed && stream.capture->mode != kCaptureModeRelaxed) ||
        (!isOwn && mode == kCaptureModeGlobal && stream.capture->mode == kCaptureModeGlobal);
    isUnsafe |= isForbidden;
    stream.capture->isInvalid |= isForbidden;
  }
  if (isUnsafe)
    complain(std::string(call) + " while a stream captures");
  return isUnsafe;
}

bool FakeState::anyBlockingCaptures() const {
  return std::any_of(streams.begin(), streams.end(),
                     [](const auto &one) { return one.second.isBlocking && one.second.capture; });
}

extern "C" {

CuResult cuThreadExchangeStreamCaptureMode(int *mode) {
  std::swap(*mode, captureModeOfThread());
  return kCudaSuccess;
}

CuResult cuStreamGetCaptureInfo_v2(CuStream handle, int *status, uint64_t *id, void **,
                                   const void **, size_t *) {
  FakeCall call("cuStreamGetCaptureInfo_v2");
  if (call.fails())
    return kCudaIllegalAddress;
  if (!handle && call->anyBlockingCaptures())
    return kCudaCaptureImplicit;
  *status = kCaptureNone;
  auto found = call->streams.find(handle);
  if (handle && found == call->streams.end())
    return kCudaInvalidHandle;
  if (found == call->streams.end() || !found->second.capture)
    return kCudaSuccess;
  *status = found->second.capture->isInvalid ? 2 : kCaptureActive;
  *id = found->second.capture->id;
  return kCudaSuccess;
}

CuResult cuStreamWaitEvent(CuStream handle, CuEvent event, unsigned) {
  FakeCall call("cuStreamWaitEvent");
  FakeStream *stream = call->streamOf(handle);
  auto found = call->events.find(event);
  if (!stream || call.fails() || found == call->events.end())
    return kCudaInvalidHandle;
  FakeEvent &recorded = found->second;
  if (!recorded.capture && !stream->capture) {
    FakeWork work;
    work.canRun = [&state = *call, event, number = recorded.recorded] {
      auto awaited = state.events.find(event);
      return awaited == state.events.end() || awaited->second.finished >= number;
    };
    work.run = [] { return kCudaSuccess; };
    return call->add(*stream, std::move(work));
  }
  if (recorded.capture && recorded.capture->hasEnded)
    return kCudaCapturedEvent;
  if (recorded.capture && !stream->capture)
    stream->capture = recorded.capture;
  if (recorded.capture != stream->capture) {
    stream->capture->isInvalid = true;
    return kCudaCaptureIsolation;
  }
  for (size_t node : recorded.captured)
    if (std::find(stream->captured.begin(), stream->captured.end(), node) == stream->captured.end())
      stream->captured.push_back(node);
  return kCudaSuccess;
}

CuResult cuStreamBeginCapture_v2(CuStream handle, int mode) {
  FakeCall call("cuStreamBeginCapture_v2");
  FakeStream *stream = handle ? call->streamOf(handle) : nullptr;
  if (!stream || stream->capture)
    return kCudaCaptureUnsupported;
  stream->capture = std::make_shared<FakeCapture>(
      FakeCapture{++call->captures, mode, handle, std::this_thread::get_id(), {}});
  stream->captured.clear();
  return kCudaSuccess;
}

CuResult cuStreamEndCapture(CuStream handle, CuGraph *graph) {
  FakeCall call("cuStreamEndCapture");
  FakeStream *stream = call->streamOf(handle);
  if (!stream || !stream->capture || stream->capture->origin != handle)
    return kCudaCaptureUnmatched;
  std::shared_ptr<FakeCapture> capture = stream->capture;
  std::vector<bool> joined = nodesBefore(*capture, stream->captured);
  bool isJoined = true;
  for (auto &[other, one] : call->streams) {
    if (one.capture != capture)
      continue;
    for (size_t node : one.captured)
      isJoined = isJoined && joined[node];
    one.capture = nullptr;
    one.captured.clear();
  }
  capture->hasEnded = true;
  if (capture->isInvalid || !isJoined)
    return isJoined ? kCudaCaptureInvalidated : kCudaCaptureUnjoined;
  *graph = call->newHandle<CuGraph>();
  call->graphs[*graph] = std::move(capture->nodes);
  return kCudaSuccess;
}

CuResult cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph, unsigned long long) {
  FakeCall call("cuGraphInstantiateWithFlags");
  auto found = call->graphs.find(graph);
  if (found == call->graphs.end())
    return kCudaInvalidValue;
  *exec = call->newHandle<CuGraphExec>();
  call->execs[*exec].nodes = found->second;
  return kCudaSuccess;
}

CuResult cuGraphLaunch(CuGraphExec handle, CuStream to) {
  FakeCall call("cuGraphLaunch");
  FakeStream *stream = call->streamOf(to);
  auto found = call->execs.find(handle);
  if (!stream || stream->capture || found == call->execs.end())
    return kCudaInvalidValue;
  FakeGraphExec &exec = found->second;
  if (exec.nodes.empty())
    return kCudaSuccess;
  FakeWork work;
  const size_t count = exec.nodes.size();
  work.launch = std::make_shared<FakeLaunch>(
      FakeLaunch{exec.nodes, std::vector<bool>(count), std::vector<bool>(count), count});
  work.canRun = [before = std::exchange(exec.last, work.launch)] {
    return !before || before->left == 0;
  };
  return call->add(*stream, std::move(work));
}

CuResult cuGraphDestroy(CuGraph graph) {
  FakeCall call("cuGraphDestroy");
  return call->graphs.erase(graph) ? kCudaSuccess : kCudaInvalidValue;
}

CuResult cuGraphExecDestroy(CuGraphExec exec) {
  FakeCall call("cuGraphExecDestroy");
  return call->execs.erase(exec) ? kCudaSuccess : kCudaInvalidValue;
}

} // extern "C"
} // namespace colldsl::test
