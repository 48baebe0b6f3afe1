/// The part of a machine that something depends on, and machines that have it in common.
#pragma once

#include "topology/Topology.h"

namespace colldsl {

/// A set of levels of the machine. All ranks are in the one group of Level::All, so it belongs to
/// no set.
class LevelSet {
public:
  /// All levels, and the distances between ranks.
  static constexpr LevelSet wholeMachine() { return LevelSet(kWhole); }
  static constexpr LevelSet fromBits(uint8_t bits) { return LevelSet(bits); }
  constexpr LevelSet() = default;

  constexpr void add(Level level) {
    if (level != Level::All)
      bits_ |= static_cast<uint8_t>(1u << static_cast<unsigned>(level));
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(Level level) const { return bits_ >> static_cast<unsigned>(level) & 1; }
  constexpr bool hasDistances() const { return bits_ == kWhole; }
  constexpr uint8_t bits() const { return bits_; }
  constexpr LevelSet &operator|=(LevelSet other) {
    bits_ |= other.bits_;
    return *this;
  }
  constexpr bool operator==(const LevelSet &) const = default;

private:
  static constexpr uint8_t kWhole = 0xff;
  constexpr explicit LevelSet(uint8_t bits) : bits_(bits) {}
  uint8_t bits_ = 0; ///< 1 << Level
};

/// Equal for two machines with as many ranks exactly if their groups of these levels are equal,
/// whatever the groups' numbers; with distances, if Topology::hash() is equal. The lowest byte
/// holds the levels. 0 for no level: then all machines are alike.
uint64_t signatureOf(const Topology &topology, LevelSet levels);

/// The levels for which a signature was made.
constexpr LevelSet levelsOfSignature(uint64_t signature) {
  return LevelSet::fromBits(static_cast<uint8_t>(signature));
}

} // namespace colldsl
