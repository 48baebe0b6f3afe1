#include "executor/DeviceCells.h"

#include "ir/TopologicalOrder.h"

#include <algorithm>
#include <functional>

namespace colldsl {
namespace {

// The device takes a call per piece. So more pieces than these, shorter than that on average, are
// left to the host, unless the plan is device-only.
constexpr uint32_t kFewPieces = 8;
constexpr uint64_t kLongPieceBytes = 4096;

constexpr std::less<const std::byte *> before;

// Bits of the sides that have a cell's content.
constexpr uint8_t kOnHost = 1, kOnDevice = 2;

bool overlap(const LocalPiece &piece) {
  return before(piece.source, piece.target + piece.bytes) &&
         before(piece.target, piece.source + piece.bytes);
}

} // namespace

Status DeviceCells::divide(DeviceAreas &areas, const Memory &memory, const Steps &steps,
                           device::Kernels &kernels, const DeviceMessages &messages,
                           DirectMessages &direct) {
  areas_ = &areas;
  findUses(memory, steps);
  cut(std::max<uint64_t>(areas.binding().segmentBytes, 1));
  reads_ = intervalsOf(&Uses::reads);
  writes_ = intervalsOf(&Uses::writes);
  writers_.assign(cells_.size(), 0);
  numReads_ = 0;
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    for (const Interval &interval : writes_[op])
      for (uint32_t c = interval.first; c < interval.last; ++c)
        ++writers_[c];
    for (const Interval &interval : reads_[op])
      numReads_ += interval.last - interval.first;
  }
  if (Status s = settle(steps, kernels, messages, direct, areas); !s)
    return s;
  direct.makePayloads(isOnDevice_, areas, steps);
  usesHost_ = direct.any() || touchesCellsOnHost();
  return {};
}

// Places the ops until there is the device memory that they need, and the memory of their messages
// is registered.
Status DeviceCells::settle(const Steps &steps, device::Kernels &kernels,
                           const DeviceMessages &messages, DirectMessages &direct,
                           DeviceAreas &areas) {
  Places places{findMovable(steps, kernels, true), messages, direct};
  for (bool mirrors = true;;) {
    place(places, steps);
    if (usesTemporariesOnDevice() && !areas.mirrorTemporaries()) {
      if (!mirrors)
        return Status::error(ErrorKind::NoMemory, "no device memory for the temporaries");
      mirrors = false;
      places.isMovable = findMovable(steps, kernels, false);
      for (const DeviceAreas::Area &area : areas.areas())
        if (!area.isCallers)
          direct.exclude(area);
    } else if (registerMemory(direct, areas)) {
      return {};
    }
  }
}

// False: some memory cannot be registered.
bool DeviceCells::registerMemory(DirectMessages &direct, DeviceAreas &areas) const {
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    if (isOnDevice_[op] && direct.mayTravel(OpId{op}) && !direct.registerMemory(OpId{op}, areas))
      return false;
  return true;
}

void DeviceCells::use(std::vector<Range> &ranges, const std::byte *begin, uint64_t bytes) const {
  if (bytes == 0 || !areas_->areaOf(begin))
    return;
  auto *first = const_cast<std::byte *>(begin);
  ranges.push_back({first, first + bytes});
}

// A step whose blocks change their lengths may touch any bytes of them.
void DeviceCells::useWhole(std::vector<Range> &ranges, std::span<const Slice> slices,
                           const Memory &memory) const {
  for (const Slice &slice : slices) {
    ByteRange touched = memory.touchedBy(slice);
    use(ranges, memory.bytesOf(slice.buffer).data() + touched.offset, touched.length);
  }
}

void DeviceCells::findUses(const Memory &memory, const Steps &steps) {
  uses_.assign(view_.ops.size(), {});
  for (uint32_t op = 0; op < view_.ops.size(); ++op) {
    const Step &step = steps[OpId{op}];
    auto &[reads, writes] = uses_[op];
    if (step.kind == Step::Kind::Nothing)
      continue;
    bool isMessage = step.kind == Step::Kind::Send || step.kind == Step::Kind::Recv;
    if (step.variable) {
      useWhole(reads, view_.sources(view_.ops[op]), memory);
      useWhole(reads, view_.targets(view_.ops[op]), memory);
      useWhole(writes, view_.targets(view_.ops[op]), memory);
      continue;
    }
    for (uint32_t i = 0; isMessage && i < step.payload.count; ++i) {
      const iovec &piece = step.payload.pieces[i];
      use(step.kind == Step::Kind::Send ? reads : writes,
          static_cast<const std::byte *>(piece.iov_base), piece.iov_len);
    }
    for (uint32_t i = 0; i < step.pieceCount; ++i) {
      const LocalPiece &piece = step.pieces[i];
      use(reads, piece.source, piece.bytes);
      if (step.kind == Step::Kind::Combine)
        use(reads, piece.first ? piece.first : piece.target, piece.bytes);
      use(writes, piece.target, piece.bytes);
    }
  }
}

void DeviceCells::cut(uint64_t segmentBytes) {
  struct Border {
    std::byte *at;
    int change; ///< of the number of ranges that cover the bytes from here on
  };
  std::vector<Border> borders;
  for (const Uses &uses : uses_)
    for (const auto *ranges : {&uses.reads, &uses.writes})
      for (const Range &range : *ranges) {
        borders.push_back({range.begin, 1});
        borders.push_back({range.end, -1});
      }
  std::sort(borders.begin(), borders.end(),
            [](const Border &a, const Border &b) { return before(a.at, b.at); });
  cells_.clear();
  int covering = 0;
  for (size_t i = 0; i < borders.size(); ++i) {
    covering += borders[i].change;
    if (covering == 0)
      continue;
    std::byte *end = borders[i + 1].at;
    for (std::byte *at = borders[i].at; before(at, end);) {
      auto bytes = std::min<uint64_t>(segmentBytes, end - at);
      cells_.push_back({areas_->areaOf(at), at, bytes});
      at += bytes;
    }
  }
}

// Intervals of an op do not overlap.
DeviceCells::Intervals DeviceCells::intervalsOf(std::vector<Range> Uses::*ranges) {
  auto cellAt = [&](const std::byte *address) {
    auto at = std::lower_bound(
        cells_.begin(), cells_.end(), address,
        [](const Cell &cell, const std::byte *wanted) { return before(cell.begin, wanted); });
    return static_cast<uint32_t>(at - cells_.begin());
  };
  Intervals intervals;
  for (Uses &uses : uses_) {
    auto begin = static_cast<uint32_t>(intervals.items.size());
    intervals.begins.push_back(begin);
    std::sort((uses.*ranges).begin(), (uses.*ranges).end(),
              [](const Range &a, const Range &b) { return before(a.begin, b.begin); });
    for (const Range &range : uses.*ranges) {
      Interval interval{cellAt(range.begin), cellAt(range.end)};
      if (intervals.items.size() > begin && interval.first <= intervals.items.back().last)
        intervals.items.back().last = std::max(intervals.items.back().last, interval.last);
      else
        intervals.items.push_back(interval);
    }
  }
  intervals.begins.push_back(static_cast<uint32_t>(intervals.items.size()));
  return intervals;
}

std::vector<bool> DeviceCells::findMovable(const Steps &steps, device::Kernels &kernels,
                                           bool mirrors) const {
  auto hasPlaces = [&](const std::byte *address) {
    const DeviceAreas::Area *area = areas_->areaOf(address);
    return area && (area->device != 0 || mirrors);
  };
  auto hasKernel = [&](OpId op) {
    std::optional<TypedReduction> reduction = steps.reductionOf(op);
    return reduction && device::Kernels::has(reduction->reduction, reduction->type) &&
           kernels.prepare(reduction->reduction, reduction->type);
  };
  auto isMovable = [&](OpId op) {
    const Step &step = steps[op];
    if (!step.isLocal() || step.variable || step.pieceCount == 0)
      return false;
    bool hasShortPieces =
        step.pieceCount > kFewPieces && step.payload.bytes / step.pieceCount < kLongPieceBytes;
    if (hasShortPieces && !areas_->binding().deviceOnly)
      return false;
    bool combines = step.kind == Step::Kind::Combine;
    if (combines && !hasKernel(op))
      return false;
    return std::all_of(step.pieces, step.pieces + step.pieceCount, [&](const LocalPiece &piece) {
      return hasPlaces(piece.source) && hasPlaces(piece.target) &&
             (!piece.first || hasPlaces(piece.first)) && (combines || !overlap(piece));
    });
  };
  std::vector<bool> movable;
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    movable.push_back(isMovable(OpId{op}));
  return movable;
}

bool DeviceCells::touchesCellsOnHost() const {
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    if (!isOnDevice_[op] && !(reads_[op].empty() && writes_[op].empty()))
      return true;
  return false;
}

bool DeviceCells::usesTemporariesOnDevice() const {
  for (uint32_t op = 0; op < view_.ops.size(); ++op)
    for (auto intervals : {reads_[op], writes_[op]})
      for (const Interval &interval : intervals)
        for (uint32_t c = interval.first; c < interval.last; ++c)
          if (isOnDevice_[op] && !cells_[c].area->isCallers)
            return true;
  return false;
}

// One order of a run.
std::vector<uint32_t> DeviceCells::orderOfOps() const {
  std::vector<uint32_t> open;
  for (const ImageOp &op : view_.ops)
    open.push_back(op.depCount);
  auto forEachSuccessor = [&](uint32_t op, auto visit) {
    const ImageOp &image = view_.ops[op];
    for (uint32_t i = 0; i < image.requireCount + image.irequireCount; ++i)
      visit(view_.successors[image.successorBegin + i]);
  };
  return topologicalOrder(std::move(open), forEachSuccessor);
}

// By op: a message that comes from another machine had better come to the device, where ops may
// read it or its bytes are a result. A result that some op reads on the host comes to the host, as
// the device needs it later than that op. Follows the content of the cells backward, from its
// readers to the writer.
std::vector<bool> DeviceCells::findWanted(const Places &places,
                                          std::span<const uint32_t> order) const {
  std::vector<bool> isWanted(view_.ops.size());
  std::vector<uint8_t> readers(cells_.size()); // the sides that read the content of a cell
  for (size_t at = order.size(); at-- > 0;) {
    uint32_t op = order[at];
    for (const Interval &interval : writes_[op])
      for (uint32_t c = interval.first; c < interval.last; ++c) {
        bool isResult = cells_[c].area->isCallers;
        if (isResult ? !(readers[c] & kOnHost) : (readers[c] & kOnDevice) != 0)
          isWanted[op] = true;
        readers[c] = 0;
      }
    bool mayRead = places.isMovable[op] || places.messages.travels(OpId{op}) ||
                   places.direct.mayTravel(OpId{op});
    for (const Interval &interval : reads_[op])
      for (uint32_t c = interval.first; c < interval.last; ++c)
        readers[c] |= mayRead ? kOnDevice : kOnHost;
  }
  return isWanted;
}

// `sides`: of the cells as the op finds them.
bool DeviceCells::isOnDevice(uint32_t op, const Places &places, const std::vector<bool> &isWanted,
                             const std::vector<uint8_t> &sides, const Steps &steps) const {
  if (places.messages.travels(OpId{op}))
    return true;
  const Step &step = steps[OpId{op}];
  bool isDirect = places.direct.mayTravel(OpId{op});
  if (isDirect && step.kind == Step::Kind::Recv)
    return isWanted[op];
  if (!isDirect && !places.isMovable[op])
    return false;
  uint8_t common = kOnHost | kOnDevice;
  for (const Interval &interval : reads_[op])
    for (uint32_t c = interval.first; c < interval.last; ++c)
      common &= sides[c];
  bool isLong = step.payload.bytes >= areas_->binding().deviceCombinesFrom;
  return common == 0 ? isLong : (common & kOnDevice) != 0;
}

// Follows the contents of the cells through one run, in one order of the ops.
void DeviceCells::place(const Places &places, const Steps &steps) {
  const std::vector<uint32_t> order = orderOfOps();
  const std::vector<bool> isWanted = findWanted(places, order);
  std::vector<uint8_t> sides;
  for (const Cell &cell : cells_)
    sides.push_back(cell.area->isCallers ? kOnDevice : kOnHost);
  std::vector<uint32_t> openWriters = writers_;
  isOnDevice_.assign(view_.ops.size(), false);
  early_.clear();
  for (uint32_t op : order) {
    bool isOnDevice = this->isOnDevice(op, places, isWanted, sides, steps);
    isOnDevice_[op] = isOnDevice;
    uint8_t side = isOnDevice ? kOnDevice : kOnHost;
    for (const Interval &interval : reads_[op])
      for (uint32_t c = interval.first; c < interval.last; ++c) {
        if (!isOnDevice && !(sides[c] & kOnHost) && writers_[c] == 0)
          early_.push_back({c, OpId{op}});
        sides[c] |= side;
      }
    for (const Interval &interval : writes_[op])
      for (uint32_t c = interval.first; c < interval.last; ++c) {
        bool goesBack = --openWriters[c] == 0 && cells_[c].area->isCallers;
        sides[c] = goesBack ? side | kOnDevice : side;
      }
  }
}

} // namespace colldsl
