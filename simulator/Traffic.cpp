#include "simulator/Traffic.h"

#include <algorithm>

namespace colldsl::sim {
namespace {

/// An upper bound for a block that travels with its length, which is not known before.
uint64_t capacityOf(const Slice &slice, const Buffer &buffer, const Sizes &sizes) {
  uint64_t elementBytes = sizeBytes(buffer.type);
  uint64_t elements = extentBytes(buffer, sizes) / elementBytes / std::max(buffer.blocks, 1u);
  int64_t begin = positionAt(slice.beginScale, slice.beginOffset, slice.denominator, elements);
  int64_t end = positionAt(slice.endScale, slice.endOffset, slice.denominator, elements);
  return end > begin ? static_cast<uint64_t>(end - begin) * elementBytes : 0;
}

} // namespace

Traffic &Traffic::operator+=(const Traffic &other) {
  for (size_t i = 0; i < levels_.size(); ++i) {
    levels_[i].messages += other.levels_[i].messages;
    levels_[i].bytes += other.levels_[i].bytes;
  }
  return *this;
}

Crossing crossingAt(const Topology &topology, size_t index) {
  std::span<const OuterLevel> outer = topology.outerLevels();
  // From the inside: the node, then the outer levels from the last one on.
  auto name = [&](size_t level) -> std::string_view {
    if (level == 0)
      return "node";
    return level <= outer.size() ? std::string_view(outer[outer.size() - level].name) : "";
  };
  return {index > 0 ? name(index - 1) : "", name(index)};
}

std::string decimal(UInt128 number) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number > 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

uint64_t messageBytes(std::span<const Slice> slices, std::span<const Buffer> buffers,
                      const Sizes &sizes) {
  uint64_t bytes = 0;
  for (const Slice &slice : slices) {
    const Buffer &buffer = buffers[index(slice.buffer)];
    bytes += buffer.layout == Layout::Capacity && slice.block != kNoBlock
                 ? capacityOf(slice, buffer, sizes)
                 : resolve(slice, buffer, sizes).length;
  }
  return bytes;
}

} // namespace colldsl::sim
