/// Work of one device that goes on while the caller does other work: copies between page-locked
/// memory of this process and memory of the device, copies within the device, kernels.
///
/// Each lane is a stream, and an event ends each piece of work: those of a lane finish in their
/// order, those of different lanes in any. Nothing here waits for the device but drain(). Not
/// thread safe; any thread.
#pragma once

#include "device/CudaDriver.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace colldsl::device {

enum class Lane : uint8_t { ToHost, ToDevice, Within };
inline constexpr std::array kLanes = {Lane::ToHost, Lane::ToDevice, Lane::Within};

class AsyncWork {
public:
  /// The driver and the context outlive it.
  static Result<std::unique_ptr<AsyncWork>> open(const CudaDriver &driver, CuContext context);
  /// Work that is under way must have been drained, or the streams and events are left to the
  /// device.
  ~AsyncWork();
  AsyncWork(const AsyncWork &) = delete;
  AsyncWork &operator=(const AsyncWork &) = delete;

  CuContext context() const { return context_; }

  /// Makes room for so many pieces of work under way in the lane; then nothing is allocated. An
  /// error if some are under way there.
  Status reserve(Lane lane, size_t pieces);

  /// Begins a copy in lane ToHost or ToDevice; `number` is the caller's name for it. No more pieces
  /// may be under way than reserved.
  Status copy(Lane lane, std::byte *host, DeviceAddress device, uint64_t bytes, uint32_t number);
  /// The caller begins a piece of work itself, such as kernels: with context() current, it adds
  /// work to begin(lane) and then calls end(). It calls end() also if an addition failed after
  /// others had succeeded: these are under way.
  CuStream begin(Lane lane) { return streamOf(lane).stream; }
  Status end(Lane lane, uint32_t number);
  /// Adds a copy within the device to the work of a stream, of a lane or of the caller's. The
  /// ranges do not overlap.
  Status addCopyWithin(CuStream stream, DeviceAddress to, DeviceAddress from, uint64_t bytes);

  /// A piece of work that has finished, once each.
  struct Finished {
    Lane lane;
    uint32_t number;
  };
  /// None: no other work has finished yet. `culprit`: set if the device failed, to the oldest work
  /// of that lane.
  Result<std::optional<Finished>> poll(std::optional<Finished> &culprit);

  bool anyUnderWay() const;

  /// Waits until no work is under way: each piece has ended, or the device failed. False: it took
  /// too long, and the device may still touch the memory.
  bool drain(std::chrono::nanoseconds atMost);

private:
  /// A stream with its work, in a ring.
  struct Stream {
    CuStream stream = nullptr;
    std::vector<CuEvent> events;
    std::vector<uint32_t> numbers; ///< parallel to events
    size_t begun = 0, finished = 0;
    bool isIdle() const { return begun == finished; }
    size_t oldest() const { return finished % events.size(); }
  };

  AsyncWork(const CudaDriver &driver, CuContext context) : driver_(driver), context_(context) {}
  Stream &streamOf(Lane lane) { return streams_[static_cast<size_t>(lane)]; }

  const CudaDriver &driver_;
  CuContext context_;
  std::array<Stream, kLanes.size()> streams_; ///< by Lane
  bool isLost_ = false;                       ///< some work has no event
};

} // namespace colldsl::device
