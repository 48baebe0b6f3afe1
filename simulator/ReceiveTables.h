/// Each rank's receives by sender and message: a hash table per rank, all in one array, so that a
/// send touches one or two cache lines of it.
#pragma once

#include "ir/PagedArray.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace colldsl::sim {

class ReceiveTables {
public:
  explicit ReceiveTables(uint32_t numRanks) {
    begin_.reserve(size_t{numRanks} + 1); // threads read it while ranks are added
    begin_.push_back(0);
  }

  /// Adds a rank with so many receives. Its slots exist after grow().
  void addRank(uint64_t receives) {
    begin_.push_back(begin_.back() + (receives == 0 ? 0 : std::bit_ceil(receives + receives / 2)));
  }
  uint64_t numSlots() const { return begin_.back(); }
  void reserve(uint64_t slots) { slots_.reserve(slots); }
  void grow() { slots_.grow(numSlots() - slots_.size()); }
  /// Removes all receives.
  void clear() { slots_ = PagedArray<uint32_t>(numSlots()); }

  /// Calls visit(slot) from the slot where a message from `peer` belongs, onward and around, until
  /// it returns true. A slot is 0 if it is free, else a vertex and one.
  template <typename Visit> void probe(uint32_t rank, uint32_t peer, uint64_t key, Visit visit) {
    uint64_t size = sizeOf(rank);
    uint32_t *slots = slots_.data() + begin_[rank];
    for (uint64_t i = 0, at = firstOf(size, peer, key); i < size; ++i, at = (at + 1) & (size - 1))
      if (visit(slots[at]))
        return;
  }
  /// The slot where probe() begins; null: the rank receives nothing.
  const uint32_t *first(uint32_t rank, uint32_t peer, uint64_t key) const {
    uint64_t size = sizeOf(rank);
    return size == 0 ? nullptr : slots_.data() + begin_[rank] + firstOf(size, peer, key);
  }

private:
  uint64_t sizeOf(uint32_t rank) const { return begin_[rank + 1] - begin_[rank]; }
  static uint64_t firstOf(uint64_t size, uint32_t peer, uint64_t key) {
    uint64_t hash = (key ^ uint64_t{peer} * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (hash >> 32) & (size - 1);
  }

  std::vector<uint64_t> begin_; ///< per rank, and one more
  PagedArray<uint32_t> slots_;
};

} // namespace colldsl::sim
