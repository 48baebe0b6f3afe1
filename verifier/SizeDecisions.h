/// The decisions of a proof about numbers that depend on n: the order of positions, overlaps, ends
/// of slices in lists. All these numbers are linear in n (floor divisions aside), so two sizes at
/// which all decisions are the same have the same proof at all sizes in between.
#pragma once

#include <cstdint>

namespace colldsl::proof {

/// Records all decisions of this thread while it lives. Recorders do not nest.
class Decisions {
public:
  Decisions() { current_ = this; }
  Decisions(const Decisions &) = delete;
  ~Decisions() { current_ = nullptr; }

  uint64_t hash() const { return hash_; }

  static void note(uint64_t decision) {
    if (current_)
      current_->add(decision);
  }

private:
  void add(uint64_t decision) {
    hash_ = (hash_ ^ (decision + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
    hash_ ^= hash_ >> 32;
  }

  static inline thread_local Decisions *current_ = nullptr;
  uint64_t hash_ = 0;
};

/// Notes the order of a sorted list, by the numbers of its items.
template <typename List, typename NumberOf> void noteOrder(const List &list, NumberOf numberOf) {
  for (const auto &item : list)
    Decisions::note(numberOf(item));
}

/// Returns the smaller number; notes which one it is, or that they are equal.
inline uint64_t smaller(uint64_t a, uint64_t b) {
  Decisions::note(a < b ? 0 : a == b ? 1 : 2);
  return a < b ? a : b;
}

} // namespace colldsl::proof
