/// The state of the fake device, and what its calls have in common.
#pragma once

#include "tests/device/FakeGraphs.h"
#include "tests/device/PtxInterpreter.h"

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace colldsl::test {

/// Memory that a piece of work reads or writes.
struct FakeUse {
  enum class Where : uint8_t { Device, Host, Any };
  uint64_t begin, bytes;
  Where where = Where::Any;
};

struct FakeLaunch;
struct FakeStream;

/// Work of a stream, or the record of an event, which also runs on a stream that has stopped.
struct FakeWork {
  /// Called once no older work of its stream can touch what it writes, which then is of no meaning;
  /// null: nothing. The stream, if it has work behind this one.
  std::function<void(const FakeStream *)> begin;
  std::function<device::CuResult()> run;        ///< another result than success stops the stream
  std::function<void(device::CuResult)> record; ///< takes what stopped the stream
  std::function<bool()> canRun;                 ///< null: always
  std::vector<FakeUse> uses;
  std::shared_ptr<FakeLaunch> launch; ///< in place of all others but canRun
};

struct FakeNode {
  FakeWork work;
  std::vector<size_t> before; ///< nodes
};

struct FakeLaunch {
  std::vector<FakeNode> nodes;
  std::vector<bool> hasBegun, isDone; ///< by node
  size_t left;
  /// True if the nodes before it are done.
  bool isReady(size_t node) const;
};

struct FakeCapture {
  uint64_t id;
  int mode;
  device::CuStream origin;
  std::thread::id thread;
  std::vector<FakeNode> nodes;
  bool isInvalid = false, hasEnded = false;
};

/// A graph that can be launched, one launch after the other.
struct FakeGraphExec {
  std::vector<FakeNode> nodes;
  std::shared_ptr<FakeLaunch> last;
};

struct FakeStream {
  device::CuContext context = nullptr;
  std::deque<FakeWork> work;
  device::CuResult state = device::kCudaSuccess;
  bool isBlocking = true;               ///< in order with the default stream
  std::shared_ptr<FakeCapture> capture; ///< null: the stream does not capture
  std::vector<size_t> captured;         ///< the nodes that the next one is behind
};

/// An event counts as finished before its first record, as the driver has it.
struct FakeEvent {
  device::CuContext context;
  uint64_t recorded = 0, finished = 0; ///< number of the last record
  device::CuResult result = device::kCudaSuccess;
  std::shared_ptr<FakeCapture> capture; ///< in which it was recorded last
  std::vector<size_t> captured;
};

/// A kernel, until its module is unloaded; work under way keeps it.
struct FakeFunction {
  device::CuModule module;
  PtxFunction kernel;
};

struct FakeState {
  std::mutex mutex;
  int process = 0;
  bool isHeld = false;
  FakeDeviceOptions options;
  std::mt19937_64 random{1};
  std::map<device::CuStream, FakeStream> streams;
  std::map<device::CuEvent, FakeEvent> events;
  std::map<device::CuModule, std::pair<device::CuContext, PtxModule>> modules;
  std::map<device::CuFunction, FakeFunction> functions;
  std::map<CuGraph, std::vector<FakeNode>> graphs;
  std::map<CuGraphExec, FakeGraphExec> execs;
  uint64_t captures = 0;
  FakeMemory memory;
  std::set<uint64_t> allocated;        ///< by cuMemAlloc
  std::map<uint64_t, uint64_t> locked; ///< ends of page-locked ranges, by begin
  std::map<std::string, uint64_t> calls;
  std::set<uint64_t> synchronous; ///< ids of allocations with CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
  std::vector<std::function<void()>> remoteWrites; ///< not flushed yet
  uint64_t flushes = 0;
  uint64_t copies = 0, kernels = 0, accesses = 0, toHost = 0, toDevice = 0, within = 0, handles = 0;
  std::string misuse;

  void clear(const FakeDeviceOptions &with);
  void complain(const std::string &what);
  /// The call of this name is to fail.
  bool fails(const char *call);
  /// Complains if there is no current context.
  bool hasContext();
  /// The stream, which is of the current context; null is the default one. Null: there is none.
  FakeStream *streamOf(device::CuStream stream);
  template <typename Handle> Handle newHandle() {
    return reinterpret_cast<Handle>(uintptr_t{0x1000} + ++handles * 16);
  }

  bool isLocked(uint64_t address, uint64_t bytes) const;
  /// Complains if the memory is not where it should be, of the device or page-locked.
  bool check(const FakeUse &use);
  /// True if work that is yet to run touches the memory, but for that of a stream.
  bool isInUse(uint64_t address, uint64_t bytes, const FakeStream *except = nullptr) const;
  /// The host's address of a word that streams wait for or write, or null.
  std::byte *wordAt(device::DeviceAddress address, uint64_t bytes);

  /// Adds work to a stream, or to its capture.
  device::CuResult add(FakeStream &stream, FakeWork work);
  /// A call that the driver refuses while streams capture, unless the thread relaxes that:
  /// complains and ends the captures as invalid.
  bool isUnsafe(const char *call);
  /// True if a stream captures that is in order with the default stream.
  bool anyBlockingCaptures() const;

  /// Does the oldest work of one stream. False: there is none that could run.
  bool runOne();
  bool isIdle() const;

private:
  /// The nodes that can run, of the launch that is the oldest work of the stream.
  std::vector<size_t> readyNodes(FakeStream &stream);
  /// Does one of them.
  bool runNode(FakeStream &stream, size_t node);
};

/// A call's hold on the state.
class FakeCall {
public:
  explicit FakeCall(const char *name);
  FakeState *operator->() const { return &state_; }
  FakeState &operator*() const { return state_; }
  bool fails() const { return fails_; }

private:
  FakeState &state_;
  std::lock_guard<std::mutex> lock_;
  bool fails_;
};

/// Returns when the device has done all its work, as calls do that wait for it. Complains if some
/// of the work waits for this thread: it does not come to its end.
void waitForFakeDevice();

/// Contexts that this thread has pushed.
std::vector<device::CuContext> &fakeContexts();

/// The device has its own addresses of page-locked memory.
inline constexpr uint64_t kFakeAlias = uint64_t{1} << 56;

// All calls, under the names of the driver.
extern "C" {
using namespace device;
#define COLLDSL_CUDA_CALL(member, symbol, parameters) device::CuResult symbol parameters;
#include "device/CudaCalls.def"
}

} // namespace colldsl::test
