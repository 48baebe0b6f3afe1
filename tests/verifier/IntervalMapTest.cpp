#include "verifier/IntervalMap.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace colldsl::proof {
namespace {

/// Byte i of an interval is worth first + i.
struct Count {
  int first = 0;
  Count tail(uint64_t skip) const { return {first + static_cast<int>(skip)}; }
};

using Bytes = std::vector<std::optional<int>>;

Bytes bytesOf(const IntervalMap<Count> &map, uint64_t size) {
  Bytes bytes;
  map.visit(0, size, [&](uint64_t begin, uint64_t end, const Count *count) {
    EXPECT_EQ(bytes.size(), begin);
    for (uint64_t at = begin; at < end; ++at)
      bytes.push_back(count ? std::optional(count->first + static_cast<int>(at - begin))
                            : std::nullopt);
  });
  return bytes;
}

TEST(IntervalMap, agreesWithAnArrayOfBytes) {
  constexpr uint64_t kSize = 40;
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    IntervalMap<Count> map;
    Bytes bytes(kSize);
    for (int step = 0; step < 30; ++step) {
      uint64_t begin = random() % kSize, end = begin + random() % (kSize - begin + 1);
      int value = static_cast<int>(random() % 1000);
      if (random() % 2) {
        map.assign(begin, end, {value});
        for (uint64_t at = begin; at < end; ++at)
          bytes[at] = value + static_cast<int>(at - begin);
      } else {
        map.update(begin, end, [&](Count &count) { count.first += 1000; });
        int inGap = 0;
        for (uint64_t at = begin; at < end; ++at) {
          inGap = bytes[at] ? 0 : inGap + 1;
          bytes[at] = 1000 + (bytes[at] ? *bytes[at] : inGap - 1);
        }
      }
      ASSERT_EQ(bytesOf(map, kSize), bytes);
    }
  }
}

TEST(IntervalMap, visitsPartsOfIntervals) {
  IntervalMap<Count> map;
  map.assign(10, 20, {100});
  std::vector<std::tuple<uint64_t, uint64_t, int>> seen;
  map.visit(15, 25, [&](uint64_t begin, uint64_t end, const Count *count) {
    seen.emplace_back(begin, end, count ? count->first : -1);
  });
  EXPECT_EQ(seen, (decltype(seen){{15, 20, 105}, {20, 25, -1}}));
}

} // namespace
} // namespace colldsl::proof
