#include "executor/Wavefront.h"
#include "tests/executor/Schedules.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace colldsl::test {
namespace {

constexpr Rank kMe{0};

std::vector<uint32_t> popAll(Wavefront &wavefront) {
  std::vector<uint32_t> ready;
  for (OpId op; (op = wavefront.pop()) != kNoOp;)
    ready.push_back(index(op));
  return ready;
}

using Ids = std::vector<uint32_t>;

struct Fixture {
  explicit Fixture(const Builder &b)
      : image(b.schedule), wavefront(image->rank(kMe).ops, image->rank(kMe).successors) {
    wavefront.restart();
  }
  LoadedImage image;
  Wavefront wavefront;
};

TEST(Wavefront, nothingToDoIsDone) {
  Fixture f(Builder(1));
  EXPECT_TRUE(f.wavefront.done());
  EXPECT_EQ(f.wavefront.pop(), kNoOp);
}

TEST(Wavefront, requiresWaitsForTheFinish) {
  Builder b(1);
  OpId a = b.calc(kMe, 0);
  b.calc(kMe, 0, {after(a)});
  Fixture f(b);
  EXPECT_EQ(popAll(f.wavefront), Ids{0});
  f.wavefront.start(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), Ids{});
  f.wavefront.finish(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), Ids{1});
  f.wavefront.start(OpId{1});
  EXPECT_FALSE(f.wavefront.done());
  f.wavefront.finish(OpId{1});
  EXPECT_TRUE(f.wavefront.done());
}

// b requires a, c requires b and d; e asks for the start of d alone.
TEST(Wavefront, aRunMayBeginWhereSomeOpsHaveFinished) {
  Builder b(1);
  OpId a = b.calc(kMe, 0);
  OpId second = b.calc(kMe, 0, {after(a)});
  OpId d = b.calc(kMe, 0);
  b.calc(kMe, 0, {after(second), after(d)});
  b.calc(kMe, 0, {afterStartOf(d)});
  Fixture f(b);
  auto finishAll = [&](Ids ops) {
    for (uint32_t op : ops) {
      f.wavefront.start(OpId{op});
      f.wavefront.finish(OpId{op});
    }
  };
  finishAll({0, 1, 2, 3, 4});
  ASSERT_TRUE(f.wavefront.done());
  popAll(f.wavefront);
  Ids finished = {0, 1};
  f.wavefront.restartAfter(finished);
  EXPECT_EQ(popAll(f.wavefront), Ids{2});
  f.wavefront.start(d);
  EXPECT_EQ(popAll(f.wavefront), Ids{4});
  finishAll({4});
  f.wavefront.finish(d);
  EXPECT_EQ(popAll(f.wavefront), Ids{3});
  finishAll({3});
  EXPECT_TRUE(f.wavefront.done());
  f.wavefront.restart();
  EXPECT_EQ(popAll(f.wavefront), (Ids{0, 2}));
}

TEST(Wavefront, irequiresWaitsForTheStart) {
  Builder b(1);
  OpId a = b.calc(kMe, 0);
  b.calc(kMe, 0, {afterStartOf(a)});
  Fixture f(b);
  EXPECT_EQ(popAll(f.wavefront), Ids{0});
  f.wavefront.start(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), Ids{1});
  f.wavefront.finish(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), Ids{});
}

TEST(Wavefront, bothKindsOfDependencyCount) {
  Builder b(1);
  OpId a = b.calc(kMe, 0), c = b.calc(kMe, 0);
  b.calc(kMe, 0, {after(a), afterStartOf(c)});
  Fixture f(b);
  EXPECT_EQ(popAll(f.wavefront), (Ids{0, 1}));
  f.wavefront.start(OpId{1});
  EXPECT_EQ(popAll(f.wavefront), Ids{});
  f.wavefront.start(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), Ids{});
  f.wavefront.finish(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), Ids{2});
}

TEST(Wavefront, firstReadyFirstPopped) {
  Builder b(1);
  OpId a = b.calc(kMe, 0), c = b.calc(kMe, 0);
  b.calc(kMe, 0, {after(c)});
  b.calc(kMe, 0, {after(a)});
  Fixture f(b);
  popAll(f.wavefront);
  f.wavefront.start(OpId{1});
  f.wavefront.finish(OpId{1});
  f.wavefront.start(OpId{0});
  f.wavefront.finish(OpId{0});
  EXPECT_EQ(popAll(f.wavefront), (Ids{2, 3}));
}

TEST(Wavefront, opsPutFirstStartFirstInEveryRun) {
  Builder b(1);
  OpId before = b.calc(kMe, 0);
  b.calc(kMe, 0, {after(before)});
  b.calc(kMe, 0);
  b.calc(kMe, 0);
  Fixture f(b);
  f.wavefront.putFirst([](OpId op) { return index(op) >= 2; });
  for (int run = 0; run < 2; ++run) {
    Ids order;
    for (OpId op; (op = f.wavefront.pop()) != kNoOp;) {
      order.push_back(index(op));
      f.wavefront.start(op);
      f.wavefront.finish(op);
    }
    EXPECT_EQ(order, (Ids{2, 3, 0, 1})) << run;
    f.wavefront.restart();
  }
}

TEST(Wavefront, opsPutFirstStartFirstAmongThoseThatWaitForTheSame) {
  Builder b(1);
  OpId before = b.calc(kMe, 0);
  b.calc(kMe, 0, {after(before)});
  b.calc(kMe, 0, {after(before)});
  b.calc(kMe, 0, {afterStartOf(before)});
  b.calc(kMe, 0, {afterStartOf(before)});
  Fixture f(b);
  f.wavefront.putFirst([](OpId op) { return index(op) % 2 == 0; });
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(popAll(f.wavefront), Ids{0});
    f.wavefront.start(OpId{0});
    EXPECT_EQ(popAll(f.wavefront), (Ids{4, 3}));
    f.wavefront.finish(OpId{0});
    EXPECT_EQ(popAll(f.wavefront), (Ids{2, 1}));
    for (uint32_t op = 1; op < 5; ++op)
      f.wavefront.startAndFinish(OpId{op});
    f.wavefront.restart();
  }
}

// Random DAGs, ops finished in random order, several runs: each op exactly once per run,
// never before what it depends on.
TEST(Wavefront, everyRunRespectsEveryDependency) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    Builder b(1);
    uint32_t n = 1 + random() % 60;
    std::vector<std::vector<Dep>> deps(n);
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t d = 0; i > 0 && d < random() % 4; ++d)
        deps[i].push_back({OpId{static_cast<uint32_t>(random() % i)},
                           random() % 2 ? DepKind::Requires : DepKind::IRequires});
      b.calc(kMe, 0, deps[i]);
    }
    Fixture f(b);
    for (int run = 0; run < 4; ++run) {
      if (run > 0)
        f.wavefront.restart();
      std::vector<bool> started(n), finished(n);
      Ids open;
      while (!f.wavefront.done()) {
        if (OpId op = f.wavefront.pop(); op != kNoOp) {
          ASSERT_FALSE(started[index(op)]);
          for (const Dep &d : deps[index(op)])
            ASSERT_TRUE((d.kind == DepKind::Requires ? finished : started)[index(d.op)]);
          started[index(op)] = true;
          f.wavefront.start(op);
          open.push_back(index(op));
          if (random() % 2)
            continue;
        }
        ASSERT_FALSE(open.empty());
        std::swap(open[random() % open.size()], open.back());
        finished[open.back()] = true;
        f.wavefront.finish(OpId{open.back()});
        open.pop_back();
      }
      EXPECT_EQ(std::count(finished.begin(), finished.end(), true), n);
      EXPECT_EQ(f.wavefront.pop(), kNoOp);
    }
  }
}

} // namespace
} // namespace colldsl::test
