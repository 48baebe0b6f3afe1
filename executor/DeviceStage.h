/// The buffers of a plan that lie in device memory, each with a stage: page-locked memory of the
/// host, which the ops of the plan use in its place.
///
/// Segments of the stages are copied from the device when a run starts, and back when all ops that
/// write to them have finished. An op starts once the segments that it touches have come:
///
///   device     x0 x1 x2                           y0       y1
///                \  \  \                         /        /
///   stages     x0 x1 x2 come ...       y0 is complete, y1 is complete
///                \  \                          /        /
///   ops        send x0, send x1 ...   combine into y0, y1 ...
///
/// Copied from the device is what the run may read of its inputs, and what it may leave as it was.
/// Copied back are the bytes that ops write, and no others. Not thread safe.
#pragma once

#include "device/AsyncWork.h"
#include "executor/Steps.h"

namespace colldsl {

class DeviceStage {
public:
  /// `view` is of data that outlives it.
  explicit DeviceStage(const RankView &view) : view_(view) {}
  /// Requires that no run is under way.
  ~DeviceStage();
  DeviceStage(const DeviceStage &) = delete;
  DeviceStage &operator=(const DeviceStage &) = delete;

  /// True if some buffer lies in device memory.
  static bool isNeeded(const Binding &binding);

  /// Makes stages for the buffers in device memory. Refuses memory of several contexts. To no more
  /// bytes than before, it keeps the stages.
  Status bind(const Binding &binding);

  /// The last binding, with stages in place of device memory.
  const Binding &binding() const { return binding_; }

  /// Called once memory and steps were bound to binding(): finds the segments.
  Status divide(const Memory &memory, const Steps &steps);

  /// Begins the copies of a run. Errors come from poll().
  void begin();

  /// Called for an op that may start by its dependencies. False: it has to wait for a segment, and
  /// poll() will release it.
  bool admit(OpId op) {
    isParked_[index(op)] = missing_[index(op)] != 0;
    return !isParked_[index(op)];
  }

  /// Called when an op has finished.
  void finish(OpId op);

  struct Failure {
    OpId op; ///< that waits for the copy, or whose bytes it copies
    Status status;
  };
  /// Takes note of copies that have finished. Appends the ops that these released to `released`,
  /// which has room for all ops. True: some copy has finished.
  bool poll(std::vector<OpId> &released);

  /// None: all is well.
  const std::optional<Failure> &failure() const { return failure_; }

  /// True once all bytes of the run are on the device, if all ops have finished.
  bool isDone() const { return copiedBack_ == back_.size(); }
  bool anyUnderWay() const { return work_ && work_->anyUnderWay(); }

  /// Waits until the device no longer touches the memory of a run that failed, for a second at
  /// most. If that does not come, the stages are never freed.
  void cancel();

private:
  /// A buffer in device memory.
  struct Area {
    uint32_t buffer;
    uint64_t offset; ///< of its stage
    uint64_t bytes;
    device::DeviceAddress device;
  };
  /// Bytes of all stages.
  struct Range {
    uint64_t begin, end;
  };
  struct Segment {
    uint32_t area;
    uint64_t begin, end; ///< in the stages
  };
  /// A list per row, one behind the other.
  struct Lists {
    std::vector<uint32_t> begins, items;
    std::span<const uint32_t> operator[](uint32_t row) const {
      return std::span(items).subspan(begins[row], begins[row + 1] - begins[row]);
    }
  };
  struct Pair {
    uint32_t row, item;
  };
  using Uses = std::vector<std::vector<Range>>; ///< by op

  Status openContext(const Binding &binding);
  Status placeStages(const Binding &binding);
  void freeStages();
  std::optional<uint32_t> areaOf(const std::byte *address) const;
  void use(std::vector<Range> &ranges, const std::byte *begin, uint64_t bytes) const;
  void useWhole(std::vector<Range> &ranges, uint32_t op, const Memory &memory) const;
  void findUses(const Memory &memory, const Steps &steps);
  std::vector<Range> findInputs(const Memory &memory) const;
  std::vector<Segment> cut(std::vector<Range> ranges) const;
  static Lists listsOf(size_t rows, const std::vector<Pair> &pairs);
  template <typename Visit>
  static void forEachTouched(const std::vector<Segment> &segments, const std::vector<Range> &ranges,
                             Visit visit);
  void copy(device::Lane lane, uint32_t segment);
  void fail(device::Lane lane, uint32_t segment, const Status &why);
  std::string inWords(const Segment &segment) const;

  RankView view_;
  Binding binding_;
  const device::CudaDriver *driver_ = nullptr;
  std::unique_ptr<device::AsyncWork> work_;
  std::byte *stages_ = nullptr;
  uint64_t stageBytes_ = 0;
  std::vector<Area> areas_; ///< sorted by offset
  uint64_t segmentBytes_ = 0;

  Uses reads_, writes_;
  std::vector<bool> isWhole_;         ///< by area: all of it is read, and stays as it was
  std::vector<Segment> come_, back_;  ///< from the device, and to it
  Lists opsOfComing_;                 ///< ops that wait for it, by segment
  Lists backsOfOp_;                   ///< segments that it writes to, by op
  std::vector<uint32_t> gates_;       ///< number of segments that it waits for, by op
  std::vector<uint32_t> writers_;     ///< number of ops that write to it, by segment
  std::vector<uint32_t> missing_;     ///< those of gates_ that have not come
  std::vector<uint32_t> openWriters_; ///< those of writers_ that have not finished
  std::vector<OpId> lastWriter_;      ///< by segment, once it is copied back
  std::vector<uint8_t> isParked_;     ///< by op
  size_t copiedBack_ = 0;
  std::optional<Failure> failure_;
};

} // namespace colldsl
