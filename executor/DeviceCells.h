/// The bytes of a plan that ops touch, cut into cells, and where each op runs: on the host or on
/// the device.
///
/// Cells end at the borders of all that ops touch, so an op touches all bytes of a cell or none:
///
///   op a     [---------------)
///   op b            [---------------)
///   cells    |  0   |   1   |  2    |
///
/// Ops that touch a cell, and of which one writes it, are in order, by dependencies or by messages.
/// So a cell has one content at a time, of which there may be a copy on either side.
///
/// Messages run on the host, except for those between devices (executor/DeviceMessages.h) and those
/// that the network moves from and to device memory (executor/DirectMessages.h): a send whose
/// operands are on the device, a receive of a result, or of what an op on the device reads. A copy
/// or combine runs on the side that has its operands; if they are on different sides, a long one
/// runs on the device and a short one on the host.
#pragma once

#include "device/Kernels.h"
#include "executor/DeviceMessages.h"
#include "executor/DirectMessages.h"

namespace colldsl {

class DeviceCells {
public:
  struct Cell {
    const DeviceAreas::Area *area;
    std::byte *begin; ///< on the host
    uint64_t bytes;
  };
  /// Cells first..last-1.
  struct Interval {
    uint32_t first, last;
  };

  /// `view` is of data that outlives it.
  explicit DeviceCells(const RankView &view) : view_(view) {}

  /// Called once memory and steps were bound to areas.binding(). Takes device memory for the
  /// temporaries if ops on the device touch them, and registers memory for messages that the
  /// network moves. An error: there is no device memory for temporaries that messages between
  /// devices need.
  Status divide(DeviceAreas &areas, const Memory &memory, const Steps &steps,
                device::Kernels &kernels, const DeviceMessages &messages, DirectMessages &direct);

  const std::vector<Cell> &cells() const { return cells_; }
  bool isOnDevice(OpId op) const { return isOnDevice_[index(op)]; }
  /// True if some op that touches cells runs on the host or may come to need it, or cells go there.
  bool usesHost() const { return usesHost_; }
  std::span<const Interval> readsOf(OpId op) const { return reads_[index(op)]; }
  std::span<const Interval> writesOf(OpId op) const { return writes_[index(op)]; }
  /// The number of cells that ops read, once for each of these ops.
  size_t numReads() const { return numReads_; }
  /// By cell: the number of ops that write it.
  const std::vector<uint32_t> &writers() const { return writers_; }

  /// A cell that no op writes and some op reads on the host, and the op that does so.
  struct Early {
    uint32_t cell;
    OpId op;
  };
  /// In the order in which ops may need them.
  const std::vector<Early> &early() const { return early_; }

private:
  struct Range {
    std::byte *begin, *end;
  };
  struct Uses {
    std::vector<Range> reads, writes;
  };
  /// A list per op, one behind the other.
  struct Intervals {
    std::vector<uint32_t> begins;
    std::vector<Interval> items;
    std::span<const Interval> operator[](uint32_t op) const {
      return std::span(items).subspan(begins[op], begins[op + 1] - begins[op]);
    }
  };

  void use(std::vector<Range> &ranges, const std::byte *begin, uint64_t bytes) const;
  void useWhole(std::vector<Range> &ranges, std::span<const Slice> slices,
                const Memory &memory) const;
  void findUses(const Memory &memory, const Steps &steps);
  void cut(uint64_t segmentBytes);
  Intervals intervalsOf(std::vector<Range> Uses::*ranges);
  std::vector<bool> findMovable(const Steps &steps, device::Kernels &kernels, bool mirrors) const;
  bool usesTemporariesOnDevice() const;
  bool touchesCellsOnHost() const;
  Status settle(const Steps &steps, device::Kernels &kernels, const DeviceMessages &messages,
                DirectMessages &direct, DeviceAreas &areas);
  bool registerMemory(DirectMessages &direct, DeviceAreas &areas) const;
  /// By op: movable ops, and messages that may be on the device.
  struct Places {
    std::vector<bool> isMovable;
    const DeviceMessages &messages;
    const DirectMessages &direct;
  };
  std::vector<uint32_t> orderOfOps() const;
  std::vector<bool> findWanted(const Places &places, std::span<const uint32_t> order) const;
  bool isOnDevice(uint32_t op, const Places &places, const std::vector<bool> &isWanted,
                  const std::vector<uint8_t> &sides, const Steps &steps) const;
  void place(const Places &places, const Steps &steps);

  RankView view_;
  const DeviceAreas *areas_ = nullptr;
  std::vector<Uses> uses_; ///< by op
  std::vector<Cell> cells_;
  Intervals reads_, writes_;
  std::vector<bool> isOnDevice_; ///< by op
  std::vector<uint32_t> writers_;
  std::vector<Early> early_;
  size_t numReads_ = 0;
  bool usesHost_ = false;
};

} // namespace colldsl
