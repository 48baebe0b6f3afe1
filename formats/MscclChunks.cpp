#include "formats/MscclChunks.h"

#include "formats/Msccl.h"
#include "ir/Concat.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace colldsl::msccl {
namespace {

constexpr int64_t kMaxParts = int64_t{1} << 31;

/// Calls visit(scale, offset, denominator) for all positions of the schedule.
template <typename Visit> void forEachPosition(const Schedule &schedule, Visit visit) {
  auto visitSlice = [&](const Slice &s) {
    if (s.block != kNoBlock)
      return;
    visit(s.beginScale, s.beginOffset, s.denominator);
    visit(s.endScale, s.endOffset, s.denominator);
  };
  for (const Dag &dag : schedule.ranks) {
    for (const Buffer &b : dag.buffers) {
      visit(b.originScale, b.originOffset, b.denominator);
      visit(b.endScale, b.endOffset, b.denominator);
    }
    for (const Slice &slice : dag.slices)
      visitSlice(slice);
    for (const Ensure &ensure : dag.contract.ensures)
      visitSlice(ensure.target);
    for (const EntryValue &operand : dag.contract.operands)
      visitSlice(operand.slice);
  }
}

/// The k for which all positions are multiples of n / k; nothing if some position is no fraction of
/// n.
std::optional<int64_t> partsOf(const Schedule &schedule) {
  int64_t parts = 1;
  bool isFraction = true;
  forEachPosition(schedule, [&](int64_t scale, int64_t offset, uint32_t denominator) {
    isFraction = isFraction && offset == 0 && parts <= kMaxParts;
    if (isFraction)
      parts = std::lcm(parts, denominator / std::gcd(int64_t{denominator}, scale));
  });
  // The schedule holds for its validity range alone, and that must have a size with whole parts.
  const SizeClass &sizes = schedule.sizeClass;
  auto k = static_cast<uint64_t>(parts);
  uint64_t smallest = std::max<uint64_t>(1, sizes.min / k + (sizes.min % k != 0)) * k;
  return isFraction && parts <= kMaxParts && sizes.contains(smallest) ? std::optional(parts)
                                                                      : std::nullopt;
}

} // namespace

int64_t Chunks::position(int64_t scale, int64_t offset, uint32_t denominator) const {
  if (!isFraction_)
    return positionAt(scale, offset, denominator, elements_) / unit_;
  Int128 parts = static_cast<Int128>(scale) * parts_ / denominator;
  return static_cast<int64_t>(parts / unit_);
}

Result<Chunks> Chunks::of(const Schedule &schedule) {
  Chunks chunks;
  std::optional<int64_t> parts = partsOf(schedule);
  chunks.isFraction_ = parts.has_value();
  chunks.parts_ = parts.value_or(1);
  chunks.elements_ = schedule.sizeClass.elements;
  if (!parts && chunks.elements_ == 0)
    return Status::error("its parts have no common size, and it was made for no elements");
  int64_t unit = 0, largest = 0;
  forEachPosition(schedule, [&](int64_t scale, int64_t offset, uint32_t denominator) {
    int64_t at = chunks.position(scale, offset, denominator);
    unit = std::gcd(unit, at);
    largest = std::max(largest, at);
  });
  chunks.unit_ = std::max<int64_t>(unit, 1);
  if (largest / chunks.unit_ > kMaxOffset)
    return Status::error(concat("a buffer would have ", largest / chunks.unit_,
                                " chunks, the largest unit of all its parts, and MSCCL counts to ",
                                kMaxOffset));
  return chunks;
}

Range Chunks::plainRange(const Dag &dag, const Slice &s) const {
  const Buffer &buffer = dag.bufferOf(s);
  int64_t origin = position(buffer.originScale, buffer.originOffset, buffer.denominator);
  int64_t begin = position(s.beginScale, s.beginOffset, s.denominator);
  int64_t end = position(s.endScale, s.endOffset, s.denominator);
  return {s.buffer, static_cast<uint32_t>(begin - origin), static_cast<uint32_t>(end - origin)};
}

Range Chunks::stored(const Dag &dag, Range range) const {
  while (dag.buffers[index(range.buffer)].aliasOf != kNoBuffer) {
    Range part = plainRange(dag, dag.slices[dag.buffers[index(range.buffer)].aliasSlice]);
    range = {part.buffer, part.begin + range.begin, part.begin + range.end};
  }
  return range;
}

std::vector<Range> Chunks::ranges(const Dag &dag, std::span<const Slice> slices) const {
  std::vector<Range> ranges;
  for (const Slice &slice : slices) {
    Range next = range(dag, slice);
    if (next.size() == 0)
      continue;
    if (!ranges.empty() && ranges.back().buffer == next.buffer && ranges.back().end == next.begin)
      ranges.back().end = next.end;
    else
      ranges.push_back(next);
  }
  return ranges;
}

uint32_t Chunks::size(const Buffer &b) const {
  return static_cast<uint32_t>(position(b.endScale, b.endOffset, b.denominator) -
                               position(b.originScale, b.originOffset, b.denominator));
}

} // namespace colldsl::msccl
