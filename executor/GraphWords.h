/// The words by which streams of ranks wait for each other within CUDA graphs that a plan was
/// captured into.
///
/// Each message between devices has a word of 64 bits on both ends, in memory of the device whose
/// streams wait for it:
///
///   low half    1: signalled by the peer's stream; 0 again once a stream here has waited for it
///   high half   nonzero, for good, once the host has released the waits: no stream waits any more
///
/// A wait is for any bit of both, so a host can end it, whatever the streams of the peers do. A
/// word of the host says that a graph runs. Not thread safe.
#pragma once

#include "device/IpcMemory.h"
#include "device/LockedWords.h"
#include "executor/DeviceAreas.h"

namespace colldsl {

/// The place of a word, for the rank that signals it. Trivially copyable.
struct ExportedWord {
  device::ExportedMemory memory;
  bool isThere; ///< false: the device of its rank has none
};

class GraphWords {
public:
  GraphWords() = default;
  GraphWords(const GraphWords &) = delete;
  GraphWords &operator=(const GraphWords &) = delete;

  /// Called between runs: makes so many words in device memory, which are zero if they are new. It
  /// waits for the device, by work of lane Within; an error if that stands still.
  Status reserve(const DeviceAreas &areas, device::AsyncWork &work, size_t count);
  /// Called in place of reserve() for a binding that graphs do not have.
  void omit() { status_ = Status::error("it was bound for runs alone"); }
  /// Ok, or why graphs cannot have the words.
  const Status &status() const { return status_; }

  ExportedWord exported(size_t i) const;
  /// Adds to a stream of the areas' context: a wait for word i, which then is zero again.
  Status addWait(device::CuStream stream, size_t i) const;
  /// Adds: a word of a peer is signalled, behind all that the stream has written.
  Status addSignal(device::CuStream stream, device::DeviceAddress word) const;
  /// Add: a graph begins and ends.
  Status addBegin(device::CuStream stream) const { return addRunning(stream, 1); }
  Status addEnd(device::CuStream stream) const { return addRunning(stream, 0); }

  /// True while a graph runs.
  bool isRunning() const { return running_ && running_->load(0) != 0; }

  /// Ends all waits, for good, by work of lane ToHost.
  void release(device::AsyncWork &work);
  /// Adds a wait for the end of the graph that runs to the work of lane ToHost.
  Status addWaitForEnd(device::AsyncWork &work) const;
  bool areReleased() const { return isReleased_; }
  /// Never frees the words: graphs of peers may yet signal them. `isRunning`: nor the word that a
  /// graph of this rank writes.
  void abandon(bool isRunning);

private:
  Status make(const DeviceAreas &areas, device::AsyncWork &work, size_t count);
  Status clear(device::AsyncWork &work, size_t count) const;
  Status addClear(device::CuStream stream, size_t count) const;
  Status addRunning(device::CuStream stream, uint32_t value) const;
  device::DeviceAddress addressOf(size_t i) const {
    return memory_.address() + i * sizeof(uint64_t);
  }

  const device::CudaDriver *driver_ = nullptr;
  device::CuContext context_ = nullptr;
  DeviceBlock memory_;
  size_t count_ = 0; ///< of words that are zero between graphs
  device::ExportedMemory exported_ = {};
  std::unique_ptr<device::LockedWords> running_;
  bool isReleased_ = false;
  Status status_ = Status::error("the plan has no messages between devices");
};

} // namespace colldsl
