/// Copies between page-locked memory of this process and memory of one device, which go on while
/// the caller does other work.
///
/// One stream copies to the host, another one to the device. An event ends each copy, so the copies
/// of a direction finish in their order, and those of different directions in any. Nothing here
/// waits for the device but drain(). Not thread safe; any thread.
#pragma once

#include "device/CudaDriver.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace colldsl::device {

enum class Direction : uint8_t { ToHost, ToDevice };

class AsyncCopies {
public:
  /// The driver and the context outlive it.
  static Result<std::unique_ptr<AsyncCopies>> open(const CudaDriver &driver, CuContext context);
  /// Copies that are under way must have been drained, or the streams and events are left to the
  /// device.
  ~AsyncCopies();
  AsyncCopies(const AsyncCopies &) = delete;
  AsyncCopies &operator=(const AsyncCopies &) = delete;

  CuContext context() const { return context_; }

  /// Makes room for so many copies under way per direction; then copy() allocates nothing.
  Status reserve(Direction direction, size_t copies);

  /// Begins a copy; `number` is the caller's name for it. No more may be under way than reserved.
  Status copy(Direction direction, std::byte *host, DeviceAddress device, uint64_t bytes,
              uint32_t number);

  /// A copy that has finished, once each.
  struct Finished {
    Direction direction;
    uint32_t number;
  };
  /// None: no other copy has finished yet. `culprit`: set if the device failed, to the oldest copy
  /// of that stream.
  Result<std::optional<Finished>> poll(std::optional<Finished> &culprit);

  bool anyUnderWay() const { return isLost_ || !streams_[0].isIdle() || !streams_[1].isIdle(); }

  /// Waits until no copy is under way: each has ended, or the device failed. False: it took too
  /// long, and the device may still touch the memory.
  bool drain(std::chrono::nanoseconds atMost);

private:
  /// A stream with its copies, in a ring.
  struct Stream {
    CuStream stream = nullptr;
    std::vector<CuEvent> events;
    std::vector<uint32_t> numbers; ///< parallel to events
    size_t begun = 0, finished = 0;
    bool isIdle() const { return begun == finished; }
    size_t oldest() const { return finished % events.size(); }
  };

  AsyncCopies(const CudaDriver &driver, CuContext context) : driver_(driver), context_(context) {}
  Stream &streamOf(Direction direction) { return streams_[static_cast<size_t>(direction)]; }

  const CudaDriver &driver_;
  CuContext context_;
  Stream streams_[2];   ///< by Direction
  bool isLost_ = false; ///< a copy has no event
};

} // namespace colldsl::device
