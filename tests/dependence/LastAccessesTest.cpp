// Dependencies derived by the map against the definition: B waits for every earlier A
// that touches common bytes, one of them writing.
#include "dependence/LastAccesses.h"

#include <gtest/gtest.h>
#include <random>

namespace colldsl {
namespace {

struct Access {
  int64_t begin, end;
  bool writes;
};

bool conflict(const Access &a, const Access &b) {
  return (a.writes || b.writes) && std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

/// before[b][a]: b waits for a, directly or through others.
using Order = std::vector<std::vector<bool>>;

Order closure(Order order) {
  for (size_t b = 0; b < order.size(); ++b)
    for (size_t a = b; a-- > 0;)
      if (order[b][a])
        for (size_t c = 0; c < a; ++c)
          if (order[a][c])
            order[b][c] = true;
  return order;
}

TEST(LastAccesses, OrdersExactlyTheConflictingOps) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    size_t count = 1 + random() % 20;
    std::vector<Access> ops;
    LastAccesses map;
    ReaderPool pool;
    ValidityRange range(100);
    Order derived(count, std::vector<bool>(count)), wanted = derived;
    for (size_t b = 0; b < count; ++b) {
      int64_t begin = random() % 12;
      Access access{begin, begin + static_cast<int64_t>(random() % 6), random() % 2 == 0};
      ops.push_back(access);
      auto place = [&](int64_t at) { return BufferPlace{0, range.constant(at)}; };
      OpId id{static_cast<uint32_t>(b)};
      ASSERT_TRUE(map.access(place(access.begin), place(access.end), access.writes, id, range, pool,
                             false,
                             [&](OpId on, uint32_t) { return derived[b][index(on)] = true; }));
      for (size_t a = 0; a < b; ++a)
        wanted[b][a] = conflict(ops[a], access);
    }
    for (size_t b = 0; b < count; ++b) // no edge without a conflict ...
      for (size_t a = 0; a < b; ++a)
        EXPECT_TRUE(!derived[b][a] || wanted[b][a]) << "round " << round;
    EXPECT_EQ(closure(derived), closure(wanted)); // ... and none missing
  }
}

TEST(LastAccesses, BlocksOfCallTimeLengthAreApart) {
  LastAccesses map;
  ReaderPool pool;
  ValidityRange range(0);
  auto block = [](uint32_t b, int64_t scale) { return BufferPlace{b, {scale, 0, 1, scale << 32}}; };
  auto write = [&](uint32_t b, uint32_t op) {
    int deps = 0;
    EXPECT_TRUE(map.access(block(b, 0), block(b, 1), true, OpId{op}, range, pool, true,
                           [&](OpId, uint32_t) { return ++deps > 0; }));
    return deps;
  };
  EXPECT_EQ(write(1, 0), 0);
  EXPECT_EQ(write(0, 1), 0);
  EXPECT_EQ(write(2, 2), 0);
  EXPECT_EQ(write(1, 3), 1);
}

} // namespace
} // namespace colldsl
