/// Messages and bytes by the levels of the machine that they cross.
#pragma once

#include "ir/Int128.h"
#include "ir/Slice.h"
#include "topology/Topology.h"

namespace colldsl::sim {

struct LevelTraffic {
  uint64_t messages = 0;
  UInt128 bytes = 0;
  bool operator==(const LevelTraffic &) const = default;
};

class Traffic {
public:
  /// No traffic yet. Null: all ranks are on one node.
  explicit Traffic(const Topology *topology = nullptr)
      : levels_(topology ? topology->outerLevels().size() + 2 : 1) {}

  /// Index: Topology::levelsCrossed().
  std::span<const LevelTraffic> levels() const { return levels_; }
  void add(unsigned crossed, uint64_t bytes) {
    ++levels_[crossed].messages;
    levels_[crossed].bytes += bytes;
  }
  /// The other has as many levels.
  Traffic &operator+=(const Traffic &other);
  void clear() { levels_.assign(levels_.size(), {}); }

private:
  std::vector<LevelTraffic> levels_;
};

/// The level that messages of this index cross at most, and the one that they stay within: "switch"
/// and "cell", "" and "node", "cell" and "".
struct Crossing {
  std::string_view crossed, within;
};
Crossing crossingAt(const Topology &topology, size_t index);

/// All digits of the number.
std::string decimal(UInt128 number);

/// The bytes of a message. A block that travels with its length counts with its capacity.
uint64_t messageBytes(std::span<const Slice> slices, std::span<const Buffer> buffers,
                      const Sizes &sizes);

} // namespace colldsl::sim
