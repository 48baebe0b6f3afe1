/// Captures and graphs of the fake device.
///
/// Work that is added to a stream that captures becomes a node, behind those that the stream had
/// come to; records of events and waits for them connect streams of a capture. A launch is one
/// piece of work of its stream, whose nodes run in any order that their edges leave. As on a
/// device, calls that could not be part of a graph are refused while a stream captures, which ends
/// the capture as invalid, and are a misuse.
#pragma once

#include "tests/device/FakeDevice.h"

#include <memory>
#include <vector>

namespace colldsl::test {

inline constexpr device::CuResult kCudaCaptureUnsupported = 900;
inline constexpr device::CuResult kCudaCaptureInvalidated = 901;
inline constexpr device::CuResult kCudaCaptureUnmatched = 903;
inline constexpr device::CuResult kCudaCaptureUnjoined = 904;
inline constexpr device::CuResult kCudaCaptureIsolation = 905;
inline constexpr device::CuResult kCudaCaptureImplicit = 906;
inline constexpr device::CuResult kCudaCapturedEvent = 907;

inline constexpr int kCaptureModeGlobal = 0;
inline constexpr int kCaptureModeThreadLocal = 1;

using CuGraph = struct CuGraphHandle *;
using CuGraphExec = struct CuGraphExecHandle *;

// Calls of the driver that programs have need of, and the library does not.
extern "C" {
device::CuResult cuStreamBeginCapture_v2(device::CuStream stream, int mode);
device::CuResult cuStreamEndCapture(device::CuStream stream, CuGraph *graph);
device::CuResult cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph,
                                             unsigned long long flags);
device::CuResult cuGraphLaunch(CuGraphExec exec, device::CuStream stream);
device::CuResult cuGraphDestroy(CuGraph graph);
device::CuResult cuGraphExecDestroy(CuGraphExec exec);
}

} // namespace colldsl::test
