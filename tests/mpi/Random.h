/// Numbers that depend on a key alone: ranks that agree on the key agree on the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace conformance {

class Random {
public:
  explicit Random(std::initializer_list<uint64_t> key) {
    for (uint64_t part : key)
      state_ = next() ^ part;
  }

  // splitmix64 (Steele, Lea, Flood 2014).
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 .. bound - 1.
  uint32_t below(size_t bound) { return static_cast<uint32_t>(next() % bound); }
  /// low .. high, both included.
  int between(int low, int high) { return low + static_cast<int>(below(high - low + 1)); }
  bool oneIn(uint32_t n) { return below(n) == 0; }

  template <typename T> const T &oneOf(const std::vector<T> &values) {
    return values[below(values.size())];
  }
  template <typename T> void shuffle(std::vector<T> &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[below(i)]);
  }
  /// A divisor of n, each with equal chance.
  int divisor(int n) {
    std::vector<int> all;
    for (int d = 1; d <= n; ++d)
      if (n % d == 0)
        all.push_back(d);
    return oneOf(all);
  }

private:
  uint64_t state_ = 0;
};

} // namespace conformance
