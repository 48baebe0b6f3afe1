// Lengths and places of blocks, as a plan takes them: in place, at every length, and refused where
// they would mean nothing.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using Ints = std::vector<int32_t>;
using Lengths = std::vector<uint64_t>;
constexpr uint64_t kRoom = 5;

enum class Pattern { Empty, Full, Mixed, RootAlone, AllButRoot };

uint64_t lengthOf(Pattern pattern, uint32_t rank, uint32_t root) {
  switch (pattern) {
  case Pattern::Empty:
    return 0;
  case Pattern::Full:
    return kRoom;
  case Pattern::Mixed:
    return rank * 2 % (kRoom + 1);
  case Pattern::RootAlone:
    return rank == root ? 3 : 0;
  case Pattern::AllButRoot:
    return rank == root ? 0 : rank % kRoom + 1;
  }
  return 0;
}

constexpr Pattern kPatterns[] = {Pattern::Empty, Pattern::Full, Pattern::Mixed, Pattern::RootAlone,
                                 Pattern::AllButRoot};

/// Blocks of all ranks in room for kRoom elements each; what is beyond a length is -1.
Ints blocksOf(Pattern pattern, uint32_t ranks, uint32_t root) {
  Ints all(ranks * kRoom, -1);
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint64_t i = 0; i < lengthOf(pattern, r, root); ++i)
      all[r * kRoom + i] = static_cast<int32_t>(r * 100 + i);
  return all;
}

Lengths lengthsOf(Pattern pattern, uint32_t ranks, uint32_t root) {
  Lengths lengths;
  for (uint32_t r = 0; r < ranks; ++r)
    lengths.push_back(lengthOf(pattern, r, root));
  return lengths;
}

std::string gatherInPlace(coll::Communicator &comm, uint32_t root) {
  uint32_t me = comm.rank(), ranks = comm.size();
  Ints x(kRoom), y(ranks * kRoom);
  coll::Plan plan(comm, "gatherv_binomial_bounded");
  plan.inPlace().type<int32_t>().count(kRoom).set("root", root);
  if (me == root)
    plan.bind("y", y);
  else
    plan.input("x", x);
  for (Pattern pattern : kPatterns) {
    Ints all = blocksOf(pattern, ranks, root);
    auto mine = all.begin() + static_cast<ptrdiff_t>(me * kRoom);
    std::copy_n(mine, kRoom, x.begin());
    std::fill(y.begin(), y.end(), -1);
    std::copy_n(mine, kRoom, y.begin() + static_cast<ptrdiff_t>(me * kRoom));
    plan.blocks("x", Lengths{lengthOf(pattern, me, root)});
    pattern == kPatterns[0] ? plan.commit().run(20) : plan.run(20);
    if (me == root && y != all)
      return "wrong data";
    if (me == root && plan.blocks("y", ranks) != lengthsOf(pattern, ranks, root))
      return "wrong lengths";
    if (me == root && plan.blocks("x", 1) != Lengths{lengthOf(pattern, me, root)})
      return "x has another length than the block in which it lies";
  }
  return "";
}

std::string scatterInPlace(coll::Communicator &comm, uint32_t root) {
  uint32_t me = comm.rank(), ranks = comm.size();
  Ints x(ranks * kRoom), y(kRoom);
  coll::Plan plan(comm, "scatterv_binomial_bounded");
  plan.inPlace().type<int32_t>().count(kRoom).set("root", root);
  if (me == root)
    plan.input("x", x);
  else
    plan.bind("y", y);
  for (Pattern pattern : kPatterns) {
    Ints all = blocksOf(pattern, ranks, root);
    std::copy(all.begin(), all.end(), x.begin());
    std::fill(y.begin(), y.end(), -1);
    if (me == root)
      plan.blocks("x", lengthsOf(pattern, ranks, root));
    pattern == kPatterns[0] ? plan.commit().run(20) : plan.run(20);
    if (plan.blocks("y", 1) != Lengths{lengthOf(pattern, me, root)})
      return "wrong length";
    if (me != root && !std::equal(y.begin(), y.end(), all.begin() + me * kRoom))
      return "wrong data";
  }
  return "";
}

TEST(ApiBlocks, inPlaceAtAllLengths) {
  for (uint32_t ranks : {1u, 2u, 4u, 5u})
    for (uint32_t root : {0u, ranks - 1}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, root " + std::to_string(root));
      auto on = [&](auto body) {
        return runRanks(ranks, [&](coll::Communicator &comm) { return body(comm, root); });
      };
      EXPECT_EQ(on(gatherInPlace), "");
      EXPECT_EQ(on(scatterInPlace), "");
    }
}

/// Blocks that change places and have other lengths: what was behind the shorter one stays.
std::string exchange(coll::Communicator &comm) {
  uint32_t me = comm.rank(), ranks = comm.size();
  auto lengthFor = [](uint32_t from, uint32_t to) { return (from * 2 + to * 3) % (kRoom + 1); };
  auto valueFor = [](uint32_t from, uint32_t to, uint64_t i) {
    return static_cast<int32_t>(from * 1000 + to * 100 + i);
  };
  Ints y(ranks * kRoom, -1);
  Lengths before, after;
  for (uint32_t r = 0; r < ranks; ++r) {
    before.push_back(lengthFor(me, r));
    after.push_back(lengthFor(r, me));
    for (uint64_t i = 0; i < before[r]; ++i)
      y[r * kRoom + i] = valueFor(me, r, i);
  }
  Ints expected = y;
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint64_t i = 0; i < after[r]; ++i)
      expected[r * kRoom + i] = valueFor(r, me, i);
  coll::Plan plan(comm, "alltoallv_exchange");
  plan.count(kRoom).bind("y", y).blocks("y", before).commit().run(20);
  if (plan.blocks("y", ranks) != after)
    return "wrong lengths";
  return y == expected ? "" : "wrong data";
}

TEST(ApiBlocks, bytesBehindALengthStay) {
  for (uint32_t ranks : {1u, 3u, 4u})
    EXPECT_EQ(runRanks(ranks, exchange), "") << ranks;
}

/// What happens to a plan of a library of tests/api/Inputs/blocks.coll; empty: it ran.
template <typename Describe> std::string outcome(const char *name, Describe describe) {
  return runRanks(1, [&](coll::Communicator &comm) {
    coll::Context context;
    coll::Library library(context, COLLDSL_BLOCKS);
    coll::Plan plan(comm, library, name);
    describe(plan);
    plan.commit().run(20);
    return std::string();
  });
}

TEST(ApiBlocks, theLengthOfAParameterInPlaceCounts) {
  Ints z{7, 8, 9, -1}, y{1, 2, -1, -1, -1, -1, -1, -1};
  std::string said = runRanks(1, [&](coll::Communicator &comm) -> std::string {
    coll::Context context;
    coll::Library library(context, COLLDSL_BLOCKS);
    coll::Plan plan(comm, library, "turned");
    plan.inPlace().count(4).input("z", z).bind("y", y);
    plan.blocks("x", Lengths{2}).blocks("z", Lengths{3}).commit().run(20);
    if (plan.blocks("y", 2) != Lengths{3, 2})
      return "wrong lengths";
    return y == Ints{7, 8, 9, -1, 1, 2, -1, -1} ? "" : "wrong data";
  });
  EXPECT_EQ(said, "");
}

void expectRefused(const std::string &said, const std::string &words) {
  EXPECT_NE(said.find(words), std::string::npos) << said;
}

TEST(ApiBlocks, whatWouldMeanNothingIsRefused) {
  Ints z(4), y(8);
  auto turned = [&](auto describe) {
    return outcome("turned", [&](coll::Plan &plan) {
      plan.count(4).input("z", z).bind("y", y);
      describe(plan);
    });
  };
  EXPECT_EQ(turned([](coll::Plan &p) { p.inPlace().blocks("z", Lengths{4}, Lengths{0}); }), "");
  expectRefused(turned([](coll::Plan &p) { p.inPlace().blocks("x", Lengths{5}); }),
                "'x' has a block of 5 elements, it holds 4");
  expectRefused(turned([](coll::Plan &p) {
                  p.inPlace().blocks("x", Lengths{1, 1});
                }),
                "'x' has 1 blocks, 2 lengths were given");
  expectRefused(turned([](coll::Plan &p) {
                  p.inPlace().blocks("y", Lengths{2, 0});
                }),
                "'y' is out: its blocks have no lengths before data arrives");
  expectRefused(turned([](coll::Plan &p) { p.inPlace().blocks("z", Lengths{2}, Lengths{1}); }),
                "block 0 of 'z' begins at element 0, not at 1");
  expectRefused(turned([](coll::Plan &p) { p.inPlace().blocks("x", Lengths{2}, Lengths{4}); }),
                "block 0 of 'x' begins at element 0, not at 4");
}

TEST(ApiBlocks, lengthsAndPlacesOfBlocksInPlace) {
  Ints v{1, 2, -1, -1}, w{5}, z(1);
  auto mixed = [&](auto describe) {
    return outcome("mixed", [&](coll::Plan &plan) {
      plan.inPlace().count(1).bind("v", v).input("w", w).bind("z", z);
      plan.blocks("v", Lengths{2, 2}, Lengths{0, 2});
      describe(plan);
    });
  };
  EXPECT_EQ(mixed([](coll::Plan &) {}), "");
  EXPECT_EQ(mixed([](coll::Plan &p) { p.blocks("u", Lengths{2}); }), "");
  expectRefused(mixed([](coll::Plan &p) { p.blocks("u", Lengths{1}); }),
                "'u' has 4 bytes, and lies in block 0 of 'v', which has 8");
  expectRefused(mixed([](coll::Plan &p) { p.blocks("u", Lengths{2}, Lengths{1}); }),
                "block 0 of 'u' begins at element 0, not at 1");
  expectRefused(mixed([](coll::Plan &p) { p.blocks("w", Lengths{1}); }),
                "'w' has no blocks of its own lengths");
}

TEST(ApiBlocks, aTypeThatNoBufferHas) {
  std::vector<double> x{0.5}, y{0};
  auto doubles = [&](auto type) {
    return outcome("doubles", [&](coll::Plan &plan) {
      plan.type<decltype(type)>().count(1);
      plan.input("x", x, coll::ownType).bind("y", y, coll::ownType);
    });
  };
  EXPECT_EQ(doubles(double()), "");
  expectRefused(doubles(float()),
                "'doubles' has no buffer of type f32, and none whose type can be set");
}

} // namespace
} // namespace colldsl::test
