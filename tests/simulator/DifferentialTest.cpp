// Random schedules, simulated fast and naively: the same times, to the nanosecond.
#include "NaiveLogGop.h"
#include "simulator/Simulate.h"

#include <gtest/gtest.h>
#include <random>

namespace colldsl::sim {
namespace {

struct Shape {
  bool wildcards = false;
  bool sharedTags = false;
  bool ports = false; ///< several processors and interfaces
};

class RandomGoal {
public:
  RandomGoal(uint64_t seed, Shape shape) : random_(seed), shape_(shape) {}

  Schedule make() {
    Schedule schedule;
    schedule.name = "random";
    schedule.isPlainGoal = true;
    schedule.ranks.resize(below(6) + 1);
    auto ranks = schedule.numRanks();
    std::vector<std::vector<Op>> ops(ranks);
    uint64_t commonBytes = bytes();
    uint64_t messages = below(5 * ranks + 1);
    for (uint32_t i = 0; i < messages; ++i)
      addMessage(ops, i, commonBytes);
    for (uint32_t r = 0; r < ranks; ++r) {
      for (uint64_t calcs = below(4); calcs > 0; --calcs) {
        Op calc;
        calc.amount = below(6);
        insert(ops[r], calc);
      }
      for (const Op &op : ops[r])
        addOp(schedule.ranks[r], op);
    }
    return schedule;
  }

  LogGop parameters() {
    LogGop p;
    uint64_t most = below(3) == 0 ? 2000 : 5;
    p.L = below(most);
    p.o = below(most);
    p.g = below(most);
    p.G = PerByte::fromNs(static_cast<double>(below(3)));
    p.O = PerByte::fromNs(static_cast<double>(below(3)));
    p.S = below(2) == 0 ? 65535 : below(12);
    return p;
  }

private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool oneIn(uint64_t n) { return below(n) == 0; }
  uint64_t bytes() {
    constexpr uint64_t kBytes[] = {0, 1, 2, 8, 11, 100000, uint64_t{5} << 32};
    return kBytes[below(7)];
  }

  void insert(std::vector<Op> &ops, const Op &op) {
    ops.insert(ops.begin() + static_cast<ptrdiff_t>(below(ops.size() + 1)), op);
  }

  void addMessage(std::vector<std::vector<Op>> &ops, uint32_t i, uint64_t commonBytes) {
    bool isUnique = !shape_.wildcards && !shape_.sharedTags;
    uint32_t from = static_cast<uint32_t>(below(ops.size()));
    uint32_t to = static_cast<uint32_t>(below(ops.size()));
    Op send, recv;
    send.kind = OpKind::Send;
    recv.kind = OpKind::Recv;
    send.peer = Rank{to};
    recv.peer = Rank{from};
    send.amount = recv.amount = isUnique ? bytes() : commonBytes;
    uint32_t tag = isUnique ? i : static_cast<uint32_t>(below(2));
    send.message = recv.message = makeMessageId(tag, 0);
    if (shape_.wildcards && oneIn(4))
      recv.peer = kNoRank;
    if (shape_.wildcards && oneIn(4))
      recv.message = makeMessageId(UINT32_MAX, 0);
    if (shape_.wildcards && oneIn(8))
      send.message = makeMessageId(UINT32_MAX, 0);
    insert(ops[from], send);
    insert(ops[to], recv);
  }

  void addOp(Dag &dag, Op op) {
    if (shape_.ports) {
      op.cpu = static_cast<uint8_t>(below(3));
      op.nic = op.kind == OpKind::Calc ? 0 : static_cast<uint8_t>(below(2));
    }
    std::vector<Dep> deps;
    uint64_t most = dag.size() > 0 && oneIn(2) ? below(4) : 0;
    for (uint64_t i = 0; i < most; ++i)
      deps.push_back({OpId{static_cast<uint32_t>(below(dag.size()))},
                      oneIn(3) ? DepKind::IRequires : DepKind::Requires});
    dag.add(op, {}, {}, deps);
  }

  std::mt19937_64 random_;
  Shape shape_;
};

/// How many of the cases came to an end.
int compare(Shape shape, uint64_t firstSeed, int cases, bool record) {
  int complete = 0;
  for (uint64_t seed = firstSeed; seed < firstSeed + static_cast<uint64_t>(cases); ++seed) {
    RandomGoal random(seed, shape);
    Schedule schedule = random.make();
    SimulateOptions options;
    options.model = MachineModel::flat(random.parameters());
    options.record = record;
    NaiveOutcome expected = simulateNaively(schedule, options.model.distances[0]);
    WorkloadOptions packing;
    packing.isPlainGoal = true;
    Result<Workload> workload = packSchedule(schedule, {}, packing);
    EXPECT_TRUE(workload.ok()) << "seed " << seed << ": " << workload.message();
    if (!workload)
      return complete;
    Result<Outcome> outcome = simulate(*workload, options);
    EXPECT_EQ(outcome.ok(), expected.isComplete) << "seed " << seed << ": " << outcome.message();
    if (!outcome || !expected.isComplete)
      continue;
    ++complete;
    EXPECT_EQ(outcome->finish, expected.finish) << "seed " << seed;
    EXPECT_EQ(outcome->events, expected.events) << "seed " << seed;
    if (testing::Test::HasFailure())
      return complete;
  }
  return complete;
}

TEST(DifferentialTest, uniqueTags) { EXPECT_GT(compare({}, 1, 5000, false), 1000); }
TEST(DifferentialTest, sharedTags) { EXPECT_GT(compare({false, true}, 1, 3000, false), 1000); }
TEST(DifferentialTest, wildcards) { EXPECT_GT(compare({true, true}, 1, 3000, false), 1000); }
TEST(DifferentialTest, severalProcessors) {
  EXPECT_GT(compare({false, false, true}, 1, 3000, false), 1000);
}
TEST(DifferentialTest, everything) { EXPECT_GT(compare({true, true, true}, 1, 3000, true), 1000); }
TEST(DifferentialTest, recorded) { EXPECT_GT(compare({}, 9000, 1000, true), 300); }

} // namespace
} // namespace colldsl::sim
