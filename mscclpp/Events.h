/// The steps of some launches of a plan, one after another, and the order that each threadblock
/// gives to its own steps. docs/mscclpp.md states the model.
#pragma once

#include "ir/Result.h"
#include "mscclpp/ExecutionPlan.h"
#include "mscclpp/PlanMemory.h"

namespace colldsl::mscclpp {

using EventId = uint32_t;
constexpr EventId kNoEvent = ~0U;
constexpr uint32_t kNone = ~0U;
/// The steps of a proof, which has two bits for each pair: 1.2 GiB.
constexpr size_t kMostEvents = 100000;

enum class AccessKind : uint8_t {
  Read,
  Write,
  PacketRead, ///< waits for the flag of its launch
  PacketWrite,
  CopyRead, ///< reads a packet with whatever flag it has
};

inline bool isWrite(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::PacketWrite;
}

struct Access {
  Location location;
  AccessKind kind;
};

enum class Step : uint8_t {
  User,   ///< between launches the caller reads and writes input and output
  Begin,  ///< of the kernel on a GPU
  End,    ///< all thread blocks are done, what they wrote is complete
  Sync,   ///< the threads of a block meet: nop, and both sides of a barrier
  Data,   ///< of one cell: reads, a sum if there are several, writes
  Push,   ///< a thread hands a request to the proxy
  Signal, ///< also by the proxy
  Wait,
  Flushed, ///< a thread learns that the proxy has read its source
  Acquire,
  Release,
};

struct Event {
  Step step = Step::Sync;
  uint32_t gpu = 0;
  uint32_t block = kNone, op = kNone, member = kNone, iteration = kNone;
  uint32_t launch = 0; ///< from 1 on
  OpKind kind = OpKind::Nop;
  uint32_t counter = kNone;     ///< the one of a signal, wait, acquire or release
  bool relaxed = false;         ///< a signal or wait that orders no data
  EventId valueFrom = kNoEvent; ///< of a write by the proxy: the step that read the value
  std::vector<Access> accesses;
  std::vector<EventId> before; ///< steps that it comes after, with their data
};

/// A number that signals raise and waits await; a device semaphore.
struct Counter {
  uint32_t gpu;     ///< at which waits
  ChannelKind kind; ///< None: a device semaphore
  uint32_t index;   ///< the channel or semaphore of the GPU
  int32_t initial = 0;
};

struct Events {
  std::vector<Event> all;
  std::vector<Counter> counters;
  /// Begins and ends of kernels: what comes before them is complete, for all GPUs.
  std::vector<EventId> completions;
  uint32_t launches = 0;
};

/// An error names barriers whose number of thread blocks is wrong. Beyond kMostEvents steps the
/// rest is left out.
Result<Events> buildEvents(const Plan &plan, const Memory &memory, uint32_t launches);

/// "gpu 0, threadblock 1, op 3 'put', iteration 2, launch 1"
std::string describe(const Event &event);

} // namespace colldsl::mscclpp
