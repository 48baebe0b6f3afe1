/// The tree along which the acknowledgements of a group go up. Place 0 is the root, its members
/// follow; below place p are kMulticastFanout p + 1 and on. A place answers for all below it; those
/// below a place that has left answer in its stead.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace colldsl::datagram {

inline constexpr uint32_t kMulticastFanout = 4;

class MulticastTree {
public:
  /// `isGone`: returns true if a place has left.
  MulticastTree(uint32_t places, std::function<bool(uint32_t)> isGone)
      : acked_(places, 0), isGone_(std::move(isGone)) {}

  uint32_t places() const { return static_cast<uint32_t>(acked_.size()); }

  /// The place to which `place` sends the acknowledgements of itself and those below it.
  uint32_t above(uint32_t place) const;
  /// The nearest places below `place` that have not left.
  void below(uint32_t place, std::vector<uint32_t> &found) const;
  bool isBelow(uint32_t place, uint32_t above) const;

  /// Notes that a place and all below it have everything before this number. Numbers begin with 1;
  /// 0: nothing was sent yet. True: the number is new.
  bool note(uint32_t place, uint64_t number);
  /// The number before which all below `place` have everything; UINT64_MAX if no member is left
  /// there.
  uint64_t ackedBelow(uint32_t place) const;

private:
  std::vector<uint64_t> acked_;
  std::function<bool(uint32_t)> isGone_;
};

} // namespace colldsl::datagram
