// Plans on every transport, on real data.
#include "tests/executor/PlanBench.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/mman.h>
#include <thread>

namespace colldsl::test {
namespace {

class Plans : public ::testing::TestWithParam<TransportSetup> {
protected:
  void run(uint32_t numRanks, const Body &body) {
    EXPECT_EQ(GetParam().run(numRanks, body), "") << numRanks << " ranks";
  }
};

std::vector<TransportSetup> setupsForAnyOrder() {
  std::vector<TransportSetup> setups = allSetups();
  std::erase_if(setups, [](const TransportSetup &setup) { return setup.strict; });
  return setups;
}
std::string nameOf(const ::testing::TestParamInfo<TransportSetup> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Transports, Plans, ::testing::ValuesIn(setupsForAnyOrder()), nameOf);

/// Ends a run that start() began, in one of several ways.
std::string end(Plan &plan, int way) {
  bool isOver = false;
  for (int tries = way % 3; tries > 0 && !isOver; --tries)
    isOver = plan.tryFinish(way % 2 == 0 ? 0 : 1000);
  if (isOver && (plan.running() || plan.failed()))
    return "tryFinish: it is not over";
  for (int tests = way % 5; tests > 0 && !isOver; --tests) {
    isOver = plan.test();
    (void)plan.tryFinish(10); // may come again at any time
  }
  Status s = plan.wait(kLong);
  return s ? "" : "wait: " + s.message();
}

std::string allgather(Endpoint &endpoint, size_t n, int runs) {
  uint32_t numRanks = endpoint.numRanks();
  Ints x(n), y(n * numRanks);
  Bench bench(endpoint, ringAllgather(numRanks), {n, {bound(x), bound(y)}, {}});
  if (!bench.status)
    return bench.status.message();
  for (int run = 0; run < runs; ++run) {
    fill(x, endpoint.rank(), run);
    std::fill(y.begin(), y.end(), -1);
    if (auto s = bench.runOnce(); !s.empty())
      return s;
    for (uint32_t r = 0; r < numRanks; ++r)
      if (!std::equal(y.begin() + static_cast<std::ptrdiff_t>(r * n),
                      y.begin() + static_cast<std::ptrdiff_t>((r + 1) * n),
                      valuesOf(Rank{r}, run, n).begin()))
        return "wrong block " + std::to_string(r) + " in run " + std::to_string(run);
  }
  return "";
}

TEST_P(Plans, ringAllgather) {
  for (uint32_t numRanks = 1; numRanks <= 9; ++numRanks)
    run(numRanks, [](Endpoint &endpoint) { return allgather(endpoint, 5, 10); });
}

TEST_P(Plans, runsEndInManyWays) {
  for (uint32_t numRanks : {1, 2, 3, 5})
    run(numRanks, [](Endpoint &endpoint) -> std::string {
      constexpr size_t n = 3;
      uint32_t numRanks = endpoint.numRanks(), me = index(endpoint.rank());
      Ints x(n), y(n * numRanks), buf(n);
      Bench ring(endpoint, ringAllgather(numRanks), {n, {bound(x), bound(y)}, {}});
      Bench tree(endpoint, flatBroadcast(numRanks), {n, {bound(buf)}, {}});
      if (!ring.status || !tree.status)
        return "not opened";
      for (int run = 0; run < 60; ++run) {
        fill(x, endpoint.rank(), run);
        std::fill(y.begin(), y.end(), -1);
        fill(buf, endpoint.rank(), run);
        if (!tree.plan->start() || !ring.plan->start())
          return "not started";
        auto way = run + static_cast<int>(me) * 7;
        for (Plan *plan : {&*tree.plan, &*ring.plan})
          if (auto s = end(*plan, way); !s.empty())
            return s;
        if (buf != valuesOf(Rank{0}, run, n))
          return "wrong broadcast in run " + std::to_string(run);
        for (uint32_t r = 0; r < numRanks; ++r)
          if (Ints(y.begin() + r * n, y.begin() + (r + 1) * n) != valuesOf(Rank{r}, run, n))
            return "wrong block in run " + std::to_string(run);
      }
      return "";
    });
}

TEST_P(Plans, messagesWithoutBytes) {
  run(3, [](Endpoint &endpoint) { return allgather(endpoint, 0, 3); });
}

TEST_P(Plans, messagesOfEverySize) {
  run(3, [](Endpoint &endpoint) -> std::string {
    for (size_t n : {1, 12, 13, 64, 1000, 4096, 4097, 30000, 300000})
      if (auto s = allgather(endpoint, n, 2); !s.empty())
        return std::to_string(n) + " elements: " + s;
    return "";
  });
}

// Each rank sends the two halves of its block to rank 0, in pieces, which it copies its own to.
Schedule gatherOf(uint32_t numRanks, const Transfer &way) {
  Builder b(numRanks);
  BufferId x = b.buffer(BufferRole::In, 2), y = b.buffer(BufferRole::Out, 2 * numRanks);
  b.copy(Rank{0}, {b.blocks(x, 0, 2)}, {b.blocks(y, 0, 2)});
  for (uint32_t r = 1; r < numRanks; ++r) {
    b.send(Rank{r}, Rank{0}, {b.block(x, 1), b.block(x, 0)});
    b.recv(Rank{0}, Rank{r}, {b.block(y, 2 * r + 1), b.block(y, 2 * r)});
  }
  for (Dag &dag : b.schedule.ranks)
    for (Op &op : dag.ops)
      if (op.kind != OpKind::Copy)
        op.transfer = way;
  return b.schedule;
}

std::string gatherOver(Endpoint &endpoint, size_t n, const Transfer &way) {
  Ints x(2 * n), y(2 * n * endpoint.numRanks());
  Bench bench(endpoint, gatherOf(endpoint.numRanks(), way), {n, {bound(x), bound(y)}, {}});
  if (!bench.status)
    return bench.status.message();
  for (int run = 0; run < 3; ++run) {
    fill(x, endpoint.rank(), run);
    std::fill(y.begin(), y.end(), -1);
    if (auto s = bench.runOnce(); !s.empty())
      return s;
    for (size_t i = 0; i < y.size() && endpoint.rank() == Rank{0}; ++i)
      if (y[i] != valueOf(static_cast<uint32_t>(i / (2 * n)), run, i % (2 * n)))
        return "wrong element " + std::to_string(i);
  }
  return "";
}

TEST_P(Plans, messagesOfEveryWayToTravel) {
  run(3, [](Endpoint &endpoint) -> std::string {
    for (Mover mover : {Mover::Either, Mover::Reader, Mover::Writer})
      for (Protocol protocol :
           {Protocol::Any, Protocol::Eager, Protocol::Rendezvous, Protocol::Static})
        for (size_t n : {1, 5, 6, 128, 1024, 1025, 4096, 4097, 32767, 32768})
          if (auto s = gatherOver(endpoint, n, {.protocol = protocol, .mover = mover}); !s.empty())
            return std::to_string(n) + " elements: " + s;
    return "";
  });
}

// Ranks share a counter per rank; no rank leaves a barrier before all have entered it.
TEST_P(Plans, disseminationBarrierSynchronizes) {
  auto *entered = static_cast<std::atomic<int> *>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (uint32_t numRanks : {1, 2, 3, 5, 8, 9}) {
    for (uint32_t r = 0; r < numRanks; ++r)
      entered[r] = 0;
    run(numRanks, [entered](Endpoint &endpoint) -> std::string {
      uint32_t numRanks = endpoint.numRanks(), me = index(endpoint.rank());
      entered[me] = 0;
      Bench bench(endpoint, disseminationBarrier(numRanks), {1, {}, {}});
      if (!bench.status)
        return bench.status.message();
      if (auto s = bench.runOnce(); !s.empty())
        return s; // all have reset their counters
      for (int run = 1; run <= 20; ++run) {
        if (static_cast<uint32_t>(run) % numRanks == me)
          std::this_thread::sleep_for(std::chrono::microseconds(300));
        entered[me] = run;
        if (auto s = bench.runOnce(); !s.empty())
          return s;
        for (uint32_t r = 0; r < numRanks; ++r)
          if (entered[r] < run)
            return "left before rank " + std::to_string(r) + " entered";
      }
      return "";
    });
  }
  munmap(entered, 4096);
}

int32_t product(int32_t a, int32_t b) {
  auto matMul = findReduction(Reduction::MatMul, ElementType::I32, Side::After);
  auto *target = reinterpret_cast<std::byte *>(&a);
  (*matMul)(target, target, reinterpret_cast<const std::byte *>(&b), 4);
  return a;
}

TEST_P(Plans, reduceChainKeepsTheOrderOfItsOperands) {
  for (uint32_t numRanks : {1, 2, 5, 9})
    run(numRanks, [](Endpoint &endpoint) -> std::string {
      constexpr size_t n = 700;
      uint32_t numRanks = endpoint.numRanks();
      Ints x(n), y(n, -1);
      Bench bench(endpoint, reduceChain(numRanks, Reduction::MatMul),
                  {n, {bound(x), bound(y)}, {}});
      if (!bench.status)
        return bench.status.message();
      for (int run = 0; run < 5; ++run) {
        fill(x, endpoint.rank(), run);
        if (auto s = bench.runOnce(); !s.empty())
          return s;
        for (size_t i = 0; index(endpoint.rank()) + 1 == numRanks && i < n; ++i) {
          int32_t all = valueOf(0, run, i);
          for (uint32_t r = 1; r < numRanks; ++r)
            all = product(all, valueOf(r, run, i));
          if (y[i] != all)
            return "wrong product";
        }
      }
      return "";
    });
}

TEST_P(Plans, messagesToOneself) {
  run(2, [](Endpoint &endpoint) -> std::string {
    for (size_t n : {2, 500, 100000}) {
      Builder b(2);
      BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
      for (uint32_t r = 0; r < 2; ++r) {
        b.send(Rank{r}, Rank{r}, {b.block(x, 0)});
        b.recv(Rank{r}, Rank{r}, {b.block(y, 0)});
      }
      Ints in = valuesOf(endpoint.rank(), 0, n), out(n);
      Bench bench(endpoint, b.schedule, {n, {bound(in), bound(out)}, {}});
      if (!bench.status)
        return bench.status.message();
      for (int run = 0; run < 3; ++run) {
        std::fill(out.begin(), out.end(), 0);
        if (auto s = bench.runOnce(); !s.empty())
          return s;
        if (in != out)
          return "wrong bytes";
      }
    }
    return "";
  });
}

// Blocks that lie apart travel as one message and are received in other pieces.
TEST_P(Plans, listsOfSlices) {
  run(2, [](Endpoint &endpoint) -> std::string {
    for (size_t n : {1, 40, 20000}) {
      Builder b(2);
      BufferId x = b.buffer(BufferRole::In, 5), y = b.buffer(BufferRole::Out, 4);
      for (uint32_t r = 0; r < 2; ++r) {
        b.send(Rank{r}, Rank{1 - r}, {b.block(x, 4), b.blocks(x, 0, 2), b.block(x, 3)});
        b.recv(Rank{r}, Rank{1 - r}, {b.blocks(y, 1, 4), b.block(y, 0)});
      }
      Ints in = valuesOf(endpoint.rank(), 0, 5 * n), out(4 * n);
      Bench bench(endpoint, b.schedule, {n, {bound(in), bound(out)}, {}});
      if (!bench.status)
        return bench.status.message();
      if (auto s = bench.runOnce(); !s.empty())
        return s;
      Ints theirs = valuesOf(Rank{1 - index(endpoint.rank())}, 0, 5 * n);
      // y is received in the order 1 2 3 0, x sent in the order 4 0 1 3.
      for (auto [to, from] : {std::pair(1, 4), {2, 0}, {3, 1}, {0, 3}})
        if (!std::equal(&out[to * n], &out[to * n] + n, &theirs[from * n]))
          return "wrong block " + std::to_string(to);
    }
    return "";
  });
}

// Rank 0 needs nothing from rank 1, so it runs ahead as far as it can.
TEST_P(Plans, aFastRankDisturbsNoRunOfASlowOne) {
  run(3, [](Endpoint &endpoint) -> std::string {
    for (size_t n : {4, 500, 30000}) {
      Ints buf(n);
      Bench bench(endpoint, flatBroadcast(3), {n, {bound(buf)}, {}});
      if (!bench.status)
        return bench.status.message();
      for (int run = 0; run < 100; ++run) {
        if (endpoint.rank() == Rank{0})
          fill(buf, Rank{0}, run);
        if (auto s = bench.runOnce(); !s.empty())
          return s;
        if (endpoint.rank() != Rank{0} && run % 20 == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (buf != valuesOf(Rank{0}, run, n))
          return "run " + std::to_string(run) + " was overwritten or is wrong";
        // What another thread might do meanwhile.
        bench.plan->progress();
        if (buf != valuesOf(Rank{0}, run, n))
          return "progress between runs wrote to a buffer";
      }
    }
    return "";
  });
}

// Rank 0 waits for the plans in the order in which they were started, rank 1 in the
// opposite order: a wait for one plan must move the others.
TEST_P(Plans, severalPlansEndInAnyOrder) {
  run(2, [](Endpoint &endpoint) -> std::string {
    constexpr size_t kPlans = 4;
    constexpr size_t n = 30000;
    LoadedImage image(exchange());
    Engine engine(endpoint);
    std::vector<Ints> in(kPlans), out(kPlans, Ints(n));
    std::vector<std::unique_ptr<Plan>> plans;
    for (size_t p = 0; p < kPlans; ++p) {
      in[p] = valuesOf(endpoint.rank(), static_cast<int>(p), n);
      auto plan = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(),
                             {n, {bound(in[p]), bound(out[p])}, {}});
      if (!plan)
        return plan.message();
      plans.push_back(plan.take());
    }
    for (int run = 0; run < 5; ++run) {
      for (auto &plan : plans)
        if (Status s = plan->start(); !s)
          return s.message();
      for (size_t i = 0; i < kPlans; ++i) {
        size_t p = endpoint.rank() == Rank{0} ? i : kPlans - 1 - i;
        if (Status s = plans[p]->wait(kLong); !s)
          return s.message();
        if (out[p] != valuesOf(Rank{1 - index(endpoint.rank())}, static_cast<int>(p), n))
          return "wrong bytes in plan " + std::to_string(p);
      }
    }
    return "";
  });
}

TEST_P(Plans, testWithoutWaiting) {
  run(3, [](Endpoint &endpoint) -> std::string {
    Ints x = valuesOf(endpoint.rank(), 0, 9), y(27);
    Bench bench(endpoint, ringAllgather(3), {9, {bound(x), bound(y)}, {}});
    if (!bench.status)
      return bench.status.message();
    if (!bench.plan->test())
      return "busy before the first start";
    for (int run = 0; run < 20; ++run) {
      if (!bench.plan->start())
        return "not started";
      auto deadline = std::chrono::steady_clock::now() + kLong;
      while (!bench.plan->test())
        if (std::chrono::steady_clock::now() > deadline)
          return "never over";
      if (!bench.plan->status())
        return bench.plan->status().message();
    }
    return "";
  });
}

// Two threads of every rank progress one plan.
TEST_P(Plans, anyThreadMayProgress) {
  run(2, [](Endpoint &endpoint) -> std::string {
    constexpr size_t n = 20000;
    Ints x = valuesOf(endpoint.rank(), 0, n), y(n);
    Bench bench(endpoint, exchange(), {n, {bound(x), bound(y)}, {}});
    if (!bench.status)
      return bench.status.message();
    std::atomic<bool> stop = false;
    std::thread helper([&] {
      while (!stop) {
        bench.plan->progress();
        std::this_thread::yield();
      }
    });
    std::string complaint;
    for (int run = 0; run < 50 && complaint.empty(); ++run) {
      std::fill(y.begin(), y.end(), 0);
      complaint = bench.runOnce();
      if (complaint.empty() && y != valuesOf(Rank{1 - index(endpoint.rank())}, 0, n))
        complaint = "wrong bytes";
    }
    stop = true;
    helper.join();
    return complaint;
  });
}

TEST_P(Plans, boundAgainToOtherBuffersAndSizes) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Ints x = valuesOf(endpoint.rank(), 0, 10), y(10);
    Bench bench(endpoint, exchange(), {10, {bound(x), bound(y)}, {}});
    if (!bench.status)
      return bench.status.message();
    for (size_t n : {10, 3, 0, 50000, 100}) {
      Ints in = valuesOf(endpoint.rank(), 1, n), out(n);
      if (Status s = bench.plan->bind({n, {bound(in), bound(out)}, {}}); !s)
        return s.message();
      if (auto s = bench.runOnce(); !s.empty())
        return s;
      if (out != valuesOf(Rank{1 - index(endpoint.rank())}, 1, n))
        return "wrong bytes at " + std::to_string(n);
    }
    return "";
  });
}

// Plain GOAL has sizes, but no buffers, and computes.
TEST_P(Plans, messagesWithoutBuffersAndCalc) {
  run(2, [](Endpoint &endpoint) -> std::string {
    Builder b(2);
    for (uint32_t r = 0; r < 2; ++r) {
      OpId busy = b.calc(Rank{r}, 2000000);
      for (uint64_t bytes : {8, 100, 100000}) {
        b.send(Rank{r}, Rank{1 - r}, {}, {after(busy)});
        b.schedule.ranks[r].ops.back().amount = bytes;
        b.recv(Rank{r}, Rank{1 - r}, {});
        b.schedule.ranks[r].ops.back().amount = bytes;
      }
      b.calc(Rank{r}, 1000000, {after(busy)});
    }
    Bench bench(endpoint, b.schedule, {1, {}, {}});
    if (!bench.status)
      return bench.status.message();
    for (int run = 0; run < 3; ++run) {
      auto start = std::chrono::steady_clock::now();
      if (auto s = bench.runOnce(); !s.empty())
        return s;
      if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(3))
        return "too fast for what it computes";
    }
    return "";
  });
}

// Blocks whose lengths their owner alone knows go round the ring.
TEST_P(Plans, lengthsTravelWithCapacityBlocks) {
  run(4, [](Endpoint &endpoint) -> std::string {
    constexpr uint32_t P = 4;
    uint32_t me = index(endpoint.rank());
    for (size_t n : {3, 600, 40000}) {
      Builder b(P);
      BufferId y = b.buffer(BufferRole::InOut, P);
      auto whole = [&](uint32_t block) {
        Slice slice;
        slice.endScale = 1;
        slice.buffer = y;
        slice.block = block;
        return slice;
      };
      for (uint32_t r = 0; r < P; ++r) {
        Buffer &buffer = b.schedule.ranks[r].buffers[index(y)];
        buffer.layout = Layout::Capacity;
        buffer.blocks = P;
        // First one block, then two in one message.
        Rank me{r}, right = rightOf(me, 1, P), left = rightOf(me, P - 1, P);
        b.send(me, right, {whole(r)});
        OpId got = b.recv(me, left, {whole((r + 3) % P)});
        b.send(me, rightOf(me, 2, P), {whole((r + 3) % P), whole(r)}, {after(got)});
        b.recv(me, rightOf(me, 2, P), {whole((r + 1) % P), whole((r + 2) % P)});
      }
      Ints values(P * n);
      BlockTable table;
      auto lengthOf = [n](uint32_t r) { return r == 2 ? 0 : (r + 1) * n / P; };
      table.length.assign(P, 0);
      table.length[me] = lengthOf(me);
      Bench bench(endpoint, b.schedule, {n, {bound(values)}, {table}});
      if (!bench.status)
        return bench.status.message();
      for (int run = 0; run < 3; ++run) {
        std::fill(values.begin(), values.end(), -1);
        Ints own = valuesOf(endpoint.rank(), run, lengthOf(me));
        std::copy(own.begin(), own.end(), values.begin() + static_cast<std::ptrdiff_t>(me * n));
        if (auto s = bench.runOnce(); !s.empty())
          return s;
        for (uint32_t r = 0; r < P; ++r) {
          if (bench.plan->blockLengths(y)[r] != lengthOf(r))
            return "wrong length of block " + std::to_string(r);
          Ints theirs = valuesOf(Rank{r}, run, lengthOf(r));
          if (!std::equal(theirs.begin(), theirs.end(), &values[r * n]))
            return "wrong block " + std::to_string(r);
          if (lengthOf(r) < n && values[r * n + lengthOf(r)] != -1)
            return "written beyond the end of block " + std::to_string(r);
        }
      }
    }
    return "";
  });
}

// No image has such ops, but views may be made without one.
TEST(PlansWithoutPeers, opsWithoutAPeerDoNothing) {
  fake::World world(1);
  auto endpoint = world.attach(Rank{0});
  LoadedImage image(ringAllgather(2));
  RankView view = image->rank(Rank{0});
  std::vector<ImageOp> ops(view.ops.begin(), view.ops.end());
  for (ImageOp &op : ops)
    op.peer = kNoRank;
  view.ops = ops;
  Ints x = {5, 6}, y = {0, 0, -1, -1};
  Engine engine(*endpoint);
  auto plan = Plan::open(engine, view, image->sizeClass(), {2, {bound(x), bound(y)}, {}});
  ASSERT_TRUE(plan.ok()) << plan.message();
  ASSERT_TRUE((*plan)->start().ok());
  EXPECT_TRUE((*plan)->wait(kLong).ok());
  EXPECT_EQ(y, (Ints{5, 6, -1, -1}));
}

// A strict transport runs what its finite slots allow.
TEST(PlansOnStrictEdges, ringAllgather) {
  fake::Options options;
  options.slotsPerEdge = 1;
  TransportSetup setup = onFake("strict", options, 5);
  EXPECT_EQ(setup.run(5, [](Endpoint &endpoint) { return allgather(endpoint, 40, 5); }), "");
}

// An observer hears of every op once, starts before finishes, in an order that the
// dependencies allow.
class Recorder : public Observer {
public:
  void runStarted() override { events.push_back("run"); }
  void opStarted(OpId op) override { events.push_back("start " + std::to_string(index(op))); }
  void opFinished(OpId op) override { events.push_back("finish " + std::to_string(index(op))); }
  void runFinished() override { events.push_back("over"); }
  std::vector<std::string> events;
};

TEST(PlanObserver, hearsOfEveryOp) {
  fake::World world(1);
  auto endpoint = world.attach(Rank{0});
  Builder b(1);
  BufferId x = b.buffer(BufferRole::InOut, 2);
  OpId first = b.copy(Rank{0}, {b.block(x, 0)}, {b.block(x, 1)});
  b.calc(Rank{0}, 0, {after(first)});
  Ints values(2);
  Bench bench(*endpoint, b.schedule, {1, {bound(values)}, {}});
  Recorder recorder;
  bench.plan->setObserver(&recorder);
  EXPECT_EQ(bench.runOnce(), "");
  EXPECT_EQ(recorder.events, (std::vector<std::string>{"run", "start 0", "finish 0", "start 1",
                                                       "finish 1", "over"}));
  bench.plan->setObserver(nullptr);
  EXPECT_EQ(bench.runOnce(), "");
  EXPECT_EQ(recorder.events.size(), 6u);
}

// The first op of a run, among a send and a receive of the same peer, in this order.
TEST(PlanObserver, aReceiveOverTheNetworkBegins) {
  for (bool isNetwork : {false, true}) {
    fake::Options options;
    options.startsFirst = isNetwork;
    fake::World world(2, options);
    Builder b(2);
    BufferId x = b.buffer(BufferRole::InOut, 2);
    OpId send, recv;
    for (uint32_t r = 0; r < 2; ++r) {
      send = b.send(Rank{r}, Rank{1 - r}, {b.block(x, 0)});
      recv = b.recv(Rank{r}, Rank{1 - r}, {b.block(x, 1)});
    }
    auto endpoint = world.attach(Rank{0});
    auto peer = world.attach(Rank{1});
    constexpr uint32_t kLongBlock = 5000; // is not buffered
    Ints values(2 * kLongBlock), others(2 * kLongBlock);
    Bench bench(*endpoint, b.schedule, {kLongBlock, {bound(values)}, {}});
    Bench other(*peer, b.schedule, {kLongBlock, {bound(others)}, {}});
    Recorder recorder;
    bench.plan->setObserver(&recorder);
    ASSERT_TRUE(bench.plan->start().ok());
    ASSERT_GE(recorder.events.size(), 2u);
    EXPECT_EQ(recorder.events[1], "start " + std::to_string(index(isNetwork ? recv : send)));
    ASSERT_TRUE(other.plan->start().ok());
    for (bool isOver = false; !isOver;) {
      isOver = bench.plan->test();
      isOver &= other.plan->test();
    }
  }
}

// A rank that has nothing to do any more may not poll for long, so its messages have left before.
TEST(PlansThatFlush, aRunIsOverOnceItsMessagesHaveLeft) {
  fake::Options options;
  options.flushPolls = 3;
  fake::World world(2, options);
  Builder b(2);
  BufferId x = b.buffer(BufferRole::InOut, 1);
  b.send(Rank{0}, Rank{1}, {b.block(x, 0)});
  b.recv(Rank{1}, Rank{0}, {b.block(x, 0)});
  auto endpoint = world.attach(Rank{0});
  auto peer = world.attach(Rank{1});
  Ints values(4), others(4);
  Bench bench(*endpoint, b.schedule, {4, {bound(values)}, {}});
  Bench other(*peer, b.schedule, {4, {bound(others)}, {}});
  ASSERT_TRUE(bench.plan->start().ok());
  ASSERT_TRUE(other.plan->start().ok());
  EXPECT_TRUE(bench.plan->running());
  int tests = 0;
  while (!bench.plan->test())
    ++tests;
  EXPECT_GE(tests, 1);
  while (!other.plan->test()) {
  }
}

// One thread drives all ranks: the same seed gives the same virtual time.
uint64_t driveAll(uint64_t seed, uint32_t numRanks) {
  fake::Options options;
  options.seed = seed;
  fake::World world(numRanks, options);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::vector<std::unique_ptr<Bench>> benches;
  std::vector<Ints> x, y(numRanks, Ints(numRanks * 4));
  for (uint32_t r = 0; r < numRanks; ++r) {
    x.push_back(valuesOf(Rank{r}, 0, 4));
    endpoints.push_back(world.attach(Rank{r}));
    benches.push_back(std::make_unique<Bench>(*endpoints[r], ringAllgather(numRanks),
                                              Binding{4, {bound(x[r]), bound(y[r])}, {}}));
    EXPECT_TRUE(benches[r]->plan->start().ok());
  }
  bool all = false;
  for (int turn = 0; turn < 100000 && !all; ++turn) {
    all = true;
    for (auto &bench : benches)
      all &= bench->plan->test();
  }
  EXPECT_TRUE(all);
  for (uint32_t r = 0; r < numRanks; ++r)
    EXPECT_EQ(y[r], y[0]);
  return world.ticks();
}

TEST(PlansOnTheFake, sameSeedSameRun) {
  std::vector<uint64_t> ticks;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ticks.push_back(driveAll(seed, 6));
    EXPECT_EQ(ticks.back(), driveAll(seed, 6));
  }
  EXPECT_NE(std::count(ticks.begin(), ticks.end(), ticks[0]), 20) << "the seed changes nothing";
}

} // namespace
} // namespace colldsl::test
