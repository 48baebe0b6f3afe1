/// Counts per 64-bit key, emptied in O(1): open addressing with epochs.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl {

/// Mixes two words into one of 64 well-spread bits (the finaliser of MurmurHash3,
/// applied to a combination of both).
constexpr uint64_t mixHash(uint64_t a, uint64_t b) {
  uint64_t h = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53u;
  h ^= h >> 33;
  return h;
}

class CountTable {
public:
  CountTable() : entries_(64) {}

  /// How often the key was asked for before.
  uint32_t next(uint64_t key) {
    Entry &entry = find(key);
    if (entry.epoch != epoch_) {
      entry = {key, epoch_, 0};
      if (++used_ * 2 > entries_.size()) {
        ++entry.count;
        grow();
        return 0;
      }
    }
    return entry.count++;
  }

  void clear() {
    ++epoch_;
    used_ = 0;
  }

private:
  struct Entry {
    uint64_t key = 0;
    uint32_t epoch = 0;
    uint32_t count = 0;
  };

  Entry &find(uint64_t key) {
    size_t mask = entries_.size() - 1;
    for (size_t i = key & mask;; i = (i + 1) & mask)
      if (entries_[i].epoch != epoch_ || entries_[i].key == key)
        return entries_[i];
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry &entry : old)
      if (entry.epoch == epoch_)
        find(entry.key) = entry;
  }

  std::vector<Entry> entries_;
  uint32_t epoch_ = 1;
  size_t used_ = 0;
};

} // namespace colldsl
