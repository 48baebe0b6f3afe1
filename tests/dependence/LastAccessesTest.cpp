// Dependencies derived by the map against the definition: B waits for every earlier A
// that touches common bytes, one of them writing.
#include "instantiate/dependence/LastAccesses.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

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

/// What touched each element last, element by element.
struct Elements {
  struct Element {
    uint32_t writer = UINT32_MAX;
    std::set<uint32_t> readers;
  };
  std::vector<Element> all;

  std::set<uint32_t> access(const Access &a, uint32_t op) {
    std::set<uint32_t> before;
    for (int64_t i = a.begin; i < a.end; ++i) {
      Element &e = all[static_cast<size_t>(i)];
      if (a.writes && !e.readers.empty())
        before.insert(e.readers.begin(), e.readers.end());
      else if (e.writer != UINT32_MAX)
        before.insert(e.writer);
      if (!a.writes)
        e.readers.insert(op);
      else
        e = {op, {}};
    }
    return before;
  }
};

// Up and down, from the middle and round, from the middle outwards, and anywhere: with more
// boundaries than a chunk has.
TEST(LastAccesses, WalksThroughManyBoundaries) {
  constexpr int64_t kElements = 1500;
  std::mt19937 random(11);
  for (int walk = 0; walk < 5; ++walk) {
    LastAccesses map;
    ReaderPool pool;
    ValidityRange range(100);
    Elements elements{std::vector<Elements::Element>(kElements)};
    uint32_t op = 0;
    auto access = [&](const Access &a) {
      auto place = [&](int64_t at) { return BufferPlace{0, range.constant(at)}; };
      std::set<uint32_t> derived;
      ASSERT_TRUE(map.access(place(a.begin), place(a.end), a.writes, OpId{op}, range, pool, false,
                             [&](OpId on, uint32_t) { return derived.insert(index(on)), true; }));
      EXPECT_EQ(derived, elements.access(a, op)) << "walk " << walk << ", op " << op;
      ++op;
    };
    for (int64_t i = 0; i < kElements; ++i) {
      const int64_t places[] = {i, kElements - 1 - i, (kElements + 700 - i) % kElements,
                                kElements / 2 + (i % 2 ? -(i + 1) / 2 : i / 2),
                                static_cast<int64_t>(random() % kElements)};
      int64_t at = places[walk];
      access({at, at + 1, true});
      access({at, std::min(at + 1 + static_cast<int64_t>(random() % 3), kElements), false});
      if (i % 100 == 99)
        access({at, std::min(at + 200, kElements), random() % 2 == 0});
    }
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
