#include "topology/LevelSet.h"

#include "ir/EpochTable.h"

namespace colldsl {
namespace {

/// Numbers groups by their first ranks, so that the hash does not depend on other numbers of
/// theirs.
uint64_t hashOfGroups(const Topology &topology, Level level) {
  constexpr uint32_t kNew = UINT32_MAX;
  std::vector<uint32_t> numbers(topology.numGroups(level), kNew);
  uint32_t next = 0;
  uint64_t hash = topology.numRanks();
  for (uint32_t r = 0; r < topology.numRanks(); ++r) {
    uint32_t &number = numbers[topology.groupOf(level, Rank{r})];
    if (number == kNew)
      number = next++;
    hash = mixHash(hash, number);
  }
  return hash;
}

} // namespace

uint64_t signatureOf(const Topology &topology, LevelSet levels) {
  if (levels.empty())
    return 0;
  uint64_t hash = levels.hasDistances() ? topology.hash() : 0;
  for (Level level : kLevels)
    if (levels.has(level) && !levels.hasDistances())
      hash = mixHash(hash, hashOfGroups(topology, level));
  return (hash & ~uint64_t{0xff}) | levels.bits();
}

} // namespace colldsl
