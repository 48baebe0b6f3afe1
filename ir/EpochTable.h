/// Hashing of keys, and a table that is emptied in O(1).
#pragma once

#include "ir/Int128.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace colldsl {

/// Mixes two words, of which both may be small numbers, into one of 64 well-spread bits:
/// the halves of their product once each is made large and odd-looking, after
/// W. Yi's wyhash (https://github.com/wangyi-fudan/wyhash, public domain).
constexpr uint64_t mixHash(uint64_t a, uint64_t b) {
  UInt128 product = static_cast<UInt128>(a ^ 0xa0761d6478bd642fu) * (b ^ 0xe7037ed1a0b428dbu);
  uint64_t folded = static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
  return folded ^ (folded >> 32);
}

/// A value per 64-bit key: open addressing, emptied in O(1) by a new epoch.
template <typename Value> class EpochTable {
public:
  EpochTable() : entries_(kFirstSize) {}

  /// The key's value, default-made if it is new.
  Value &operator[](uint64_t key) { return *insert(key).first; }

  /// The key's value, and whether it is new.
  std::pair<Value *, bool> insert(uint64_t key) {
    Entry *entry = &find(key);
    if (entry->epoch == epoch_)
      return {&entry->value, false};
    if (++used_ * 2 > mask_) {
      grow();
      entry = &find(key);
    }
    *entry = {key, epoch_, Value()};
    return {&entry->value, true};
  }

  /// The key's value, or null.
  const Value *lookup(uint64_t key) const {
    const Entry &entry = const_cast<EpochTable *>(this)->find(key);
    return entry.epoch == epoch_ ? &entry.value : nullptr;
  }

  void clear() {
    ++epoch_;
    used_ = 0;
  }

private:
  struct Entry {
    uint64_t key = 0;
    uint64_t epoch = 0;
    Value value{};
  };

  Entry &find(uint64_t key) {
    // Multiplicative hashing (Knuth): keys need not be mixed before.
    for (size_t i = (key * 0x9e3779b97f4a7c15u) >> shift_;; i = (i + 1) & mask_)
      if (entries_[i].epoch != epoch_ || entries_[i].key == key)
        return entries_[i];
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    --shift_;
    mask_ = entries_.size() - 1;
    for (const Entry &entry : old)
      if (entry.epoch == epoch_)
        find(entry.key) = entry;
  }

  static constexpr size_t kFirstSize = 64;

  unsigned shift_ = 58; ///< 64 less the logarithm of the number of entries
  size_t mask_ = kFirstSize - 1;
  std::vector<Entry> entries_;
  uint64_t epoch_ = 1;
  size_t used_ = 0;
};

} // namespace colldsl
