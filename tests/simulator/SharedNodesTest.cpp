// Interfaces and memory that the ranks of a node share, messages that readers and interfaces move,
// and costs that differ by size.
#include "simulator/SharedNodes.h"
#include "compiler/Compile.h"
#include "passes/PackProgram.h"
#include "simulator/Simulate.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace colldsl::sim {
namespace {

constexpr uint64_t kLong = 100'001; ///< bytes: G counts those behind the first
constexpr uint64_t kWireNs = 100'000;

Compilation &builtIn() {
  static Compilation compilation = compileFiles({});
  return compilation;
}

/// Nodes of so many ranks: between them G is 1 ns per byte, all else is free; within them as well.
struct SharedMachine {
  Topology topology;
  SimulateOptions options;
  std::vector<ExprId> arguments; ///< of the collective

  SharedMachine(uint32_t nodes, uint32_t ranksPerNode)
      : topology(Topology::make("node:" + std::to_string(nodes) +
                                    " core:" + std::to_string(ranksPerNode),
                                nodes * ranksPerNode)
                     .take()) {
    options.model = MachineModel::flat({0, 0, 0, PerByte::fromNs(1), PerByte(), 1000, 0, {}});
    options.topology = &topology;
  }
  NodeCosts &node() { return options.model.node; }

  Outcome run(const char *collective, uint64_t bytes) const {
    WorkloadOptions packing;
    packing.model = &options.model;
    packing.topology = &topology;
    InstantiateRequest request;
    request.collective = builtIn().program().find(collective, DeclKind::Collective);
    request.ranks = topology.numRanks();
    request.elements = bytes;
    request.type = ElementType::U8;
    request.topology = &topology;
    request.arguments = arguments;
    Result<Workload> workload = packProgram(builtIn().program(), request, packing, 1);
    EXPECT_TRUE(workload.ok()) << workload.message();
    Result<Outcome> outcome = simulate(*workload, options);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    return outcome.take();
  }
  uint64_t timeOf(const char *collective, uint64_t bytes) const {
    return run(collective, bytes).makespan;
  }
};

TEST(SharedNodesTest, fairInterfacesServeLongMessagesTogether) {
  SharedMachine inOrder(8, 1), fair(8, 1);
  inOrder.node() = {1, 0, PerByte::fromNs(1), false, 0};
  fair.node() = {1, 0, PerByte::fromNs(1), true, 0};
  // Seven children below the root get their data one after the other, or all at the end.
  std::vector<uint64_t> first = inOrder.run("bcast_flat", kLong).finish;
  std::vector<uint64_t> all = fair.run("bcast_flat", kLong).finish;
  EXPECT_NEAR(*std::min_element(first.begin() + 1, first.end()), kWireNs, 100);
  EXPECT_NEAR(*std::min_element(all.begin() + 1, all.end()), 7 * kWireNs, 100);
  EXPECT_NEAR(*std::max_element(all.begin() + 1, all.end()), 7 * kWireNs, 100);
  // So a binomial tree of 2^k ranks takes k + (k - 1) + ... + 1 messages, in place of k.
  EXPECT_NEAR(inOrder.timeOf("bcast_binomial", kLong), 3 * kWireNs, 100);
  EXPECT_NEAR(fair.timeOf("bcast_binomial", kLong), (3 + 2 + 1) * kWireNs, 100);
  // Short messages go one by one in both.
  EXPECT_EQ(inOrder.timeOf("bcast_binomial", 900), fair.timeOf("bcast_binomial", 900));
}

TEST(SharedNodesTest, receivingInterfacesAreSharedToo) {
  for (bool isFair : {false, true}) {
    SharedMachine machine(8, 1);
    machine.node() = {1, 0, PerByte::fromNs(1), isFair, 0};
    EXPECT_NEAR(machine.timeOf("gather_linear", kLong), 7 * kWireNs, 100) << isFair;
    EXPECT_NEAR(machine.timeOf("alltoall_rotated", kLong), 7 * kWireNs, 200) << isFair;
  }
}

TEST(SharedNodesTest, ranksTakeTheInterfacesByTurns) {
  // Four ranks of each node send to the other node at once; in the node nothing is in the way.
  // In order, a message may wait for one ahead of it whose receiver is busy.
  for (bool isFair : {false, true})
    for (uint32_t interfaces : isFair ? std::vector<uint32_t>{1, 2, 4} : std::vector<uint32_t>{1}) {
      SharedMachine machine(2, 4);
      for (unsigned d = 0; d < kOtherNode; ++d)
        machine.options.model.distances[d].G = PerByte();
      machine.node() = {interfaces, 0, PerByte::fromNs(1), isFair, 0};
      EXPECT_NEAR(machine.timeOf("alltoall_rotated", kLong), 16 * kWireNs / interfaces, 500)
          << interfaces << isFair;
    }
}

// A rank with six neighbors, and as many interfaces in its node, sends six messages in the time of
// one, and receives six.
TEST(SharedNodesTest, messagesTakeTheInterfaceThatIsFreeFirst) {
  for (bool isFair : {false, true})
    for (MovedBy movedBy : {MovedBy::Processors, MovedBy::Interfaces}) {
      SharedMachine machine(7, 1);
      machine.options.model.changeAll([&](LogGop &p) { p.movedBy = movedBy; });
      machine.node() = {6, 0, PerByte::fromNs(1), isFair, 0, Spread::Messages};
      EXPECT_EQ(machine.timeOf("bcast_flat", kLong), kLong);
      EXPECT_EQ(machine.timeOf("gather_linear", kLong), kLong);
      EXPECT_EQ(machine.timeOf("alltoall_rotated", kLong), kLong);
      EXPECT_EQ(machine.timeOf("alltoall_rotated", 900), 900u) << "short messages, one by one";
      machine.node().interfaces = 3;
      EXPECT_EQ(machine.timeOf("bcast_flat", kLong), 2 * kLong);
      EXPECT_EQ(machine.timeOf("alltoall_rotated", 900), 2 * 900u);
      machine.node().interfaces = 4; // two carry two messages each
      EXPECT_EQ(machine.timeOf("alltoall_rotated", kLong), 2 * kLong);
      machine.node() = {6, 0, PerByte::fromNs(1), isFair, 0};
      EXPECT_NEAR(machine.timeOf("alltoall_rotated", kLong), 6 * kWireNs, 100) << "one rank, one";
    }
}

// The first of two ranks sends a long and a short message, then the second one a short one: on the
// interface that the first one's short message left free.
TEST(SharedNodesTest, freeInterfacesServeAllRanksOfANode) {
  SharedMachine machine(2, 2);
  machine.node() = {2, 0, PerByte::fromNs(1), false, 0, Spread::Messages};
  SharedNodes nodes(machine.node(), &machine.topology, 4);
  uint32_t first = nodes.sending(0, false);
  EXPECT_EQ(nodes.pass(first, 0, 1000), 0u);
  uint32_t second = nodes.sending(0, false);
  EXPECT_NE(second, first);
  EXPECT_EQ(nodes.pass(second, 0, 10), 0u);
  EXPECT_EQ(nodes.sending(1, false), second);
  EXPECT_EQ(nodes.pass(second, 5, 10), 10u);
  EXPECT_TRUE(nodes.isSending(first));
  EXPECT_EQ(nodes.receiving(0, false), 4u) << "behind those of both nodes that send";
  EXPECT_EQ(nodes.sending(2, false), 2u) << "the other node's";
}

// The other costs of a message: processors one after the other, the wire, and g of the rank.
TEST(SharedNodesTest, messagesOfOneRankFollowEachOther) {
  SharedMachine machine(7, 1);
  machine.options.model.changeAll([](LogGop &p) {
    p.L = 1000;
    p.o = 20;
    p.g = 50;
    p.O = PerByte::fromNs(0.5);
  });
  machine.node() = {6, 0, PerByte::fromNs(1), false, 0, Spread::Messages};
  // 900 bytes: the sender's processor works 20 + 449 for each; the last leaves at 5 * 469 + 20,
  // is there L + 900 later, and the receiver works 20 + 449.
  EXPECT_EQ(machine.timeOf("bcast_flat", 900), 5 * 469 + 20 + 1000 + 900 + 469u);
  machine.options.model.changeAll([](LogGop &p) { p.O = PerByte(); });
  EXPECT_EQ(machine.timeOf("bcast_flat", 900), 5 * 50 + 20 + 1000 + 900 + 20u);
}

// All six neighbors on a torus: each message has a link, and links are slower than interfaces.
TEST(SharedNodesTest, aTorusCarriesTheMessagesOfItsNodesAtOnce) {
  static const Result<ExprId> torus = builtIn().addArgument(
      builtIn().program().find("neighbor_alltoall", DeclKind::Collective), "g", "torus([3, 3, 3])");
  ASSERT_TRUE(torus.ok());
  for (bool isFair : {false, true}) {
    SharedMachine machine(27, 1);
    machine.arguments = {*torus};
    machine.node() = {6, 0, PerByte::fromNs(1), isFair, 0, Spread::Messages};
    machine.options.network = *parseNetwork("torus:3x3x3,hop=70,G=2", PerByte());
    EXPECT_EQ(machine.timeOf("neighbor_alltoall", kLong), 70 + 2 * kWireNs) << isFair;
    EXPECT_EQ(machine.timeOf("neighbor_alltoall", 901), 70 + 2 * 900u) << isFair;
    machine.node().G = PerByte::fromNs(3); // slower than the links
    EXPECT_EQ(machine.timeOf("neighbor_alltoall", 901), 70 + 3 * 901u) << isFair;
  }
}

TEST(SharedNodesTest, interfacesHaveARateOfMessages) {
  SharedMachine machine(2, 4);
  machine.node() = {1, 5000, PerByte(), false, 0};
  EXPECT_NEAR(machine.timeOf("alltoall_rotated", 1), 16 * 5000, 5001);
}

TEST(SharedNodesTest, copiesOfANodeShareItsMemory) {
  SharedMachine machine(2, 8);
  machine.options.model.copy.shortest = {0, PerByte::fromNs(1)};
  for (LogGop &p : machine.options.model.distances)
    p.G = PerByte();
  uint64_t alone = machine.timeOf("allgather_rotated", kLong);
  EXPECT_NEAR(alone, kLong, 10);
  machine.node().copiers = 2;
  EXPECT_NEAR(machine.timeOf("allgather_rotated", kLong), 4 * alone, 10);
  machine.node().copiers = 8;
  EXPECT_NEAR(machine.timeOf("allgather_rotated", kLong), alone, 10);
}

TEST(SharedNodesTest, readersCopyAtTheSameTime) {
  // A root that writes to 47 others takes 47 times as long as readers that copy at once.
  SharedMachine machine(1, 48);
  for (LogGop &p : machine.options.model.distances)
    p.O = p.G;
  EXPECT_NEAR(machine.timeOf("bcast_flat", kLong), 47 * kWireNs, 1000);
  for (LogGop &p : machine.options.model.distances)
    p.movedBy = MovedBy::Reader;
  EXPECT_NEAR(machine.timeOf("bcast_flat", kLong), kWireNs, 1000);
  EXPECT_NEAR(machine.timeOf("bcast_flat", 900), 47 * 899, 100) << "short messages are sent";
}

TEST(SharedNodesTest, interfacesMoveMessagesWhileProcessorsWork) {
  // A chain of 16 segments over 4 ranks. A processor that takes a segment as it arrives cannot pass
  // on the one before at the same time.
  SharedMachine machine(4, 1);
  for (LogGop &p : machine.options.model.distances)
    p.O = p.G;
  uint64_t byProcessors = machine.timeOf("bcast_chain", 1 << 20);
  EXPECT_GT(byProcessors, 2 * 16 << 16);
  for (LogGop &p : machine.options.model.distances) {
    p.O = PerByte();
    p.movedBy = MovedBy::Interfaces;
  }
  EXPECT_NEAR(machine.timeOf("bcast_chain", 1 << 20), (16 + 2) << 16, 1000);
}

TEST(SharedNodesTest, costsDifferBySize) {
  SharedMachine machine(2, 1);
  LogGop longer = machine.options.model.distances[kOtherNode];
  longer.L = 7000;
  machine.options.model.longer[kOtherNode] = {{500, longer}};
  EXPECT_EQ(machine.timeOf("bcast_binomial", 499), 498u);
  EXPECT_EQ(machine.timeOf("bcast_binomial", 500), 7000 + 499u);
  machine.options.model.combine = {{3, PerByte()}, {{500, {11, PerByte::fromNs(2)}}}};
  EXPECT_EQ(machine.timeOf("reduce_binomial", 499), 498 + 3u);
  EXPECT_EQ(machine.timeOf("reduce_binomial", 500), 7000 + 499 + 11 + 1000u);
}

// Small steps of time, in which each message gets its share, against the virtual time of
// SharedNodes.
TEST(SharedNodesTest, sharesAreThoseOfSmallSteps) {
  struct Message {
    uint64_t begin, bytes;
    double left;
    double end = 0;
  };
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Message> messages;
    uint64_t time = 0;
    for (int i = 0; i < 12; ++i) {
      uint64_t bytes = 1 + random() % 1000;
      messages.push_back({time += random() % 300, bytes, static_cast<double>(bytes)});
    }
    auto isLeft = [](const Message &m) { return m.left > 0; };
    constexpr double kStep = 1.0 / 16;
    for (double now = 0; std::any_of(messages.begin(), messages.end(), isLeft); now += kStep) {
      auto isActive = [&](const Message &m) {
        return static_cast<double>(m.begin) <= now && isLeft(m);
      };
      auto active = static_cast<double>(std::count_if(messages.begin(), messages.end(), isActive));
      for (Message &m : messages)
        if (isActive(m) && (m.left -= kStep / active) <= 0)
          m.end = now;
    }
    SharedNodes nodes({1, 0, PerByte::fromNs(1), true, 0}, nullptr, 1);
    std::vector<uint64_t> ends(messages.size());
    auto takeUntil = [&](uint64_t limit) {
      for (auto next = nodes.nextThrough(0); next && *next <= limit; next = nodes.nextThrough(0))
        ends[*nodes.takeThrough(0, *next)] = *next;
    };
    for (uint32_t i = 0; i < messages.size(); ++i) {
      takeUntil(messages[i].begin);
      nodes.join(0, messages[i].begin, messages[i].bytes, i);
    }
    takeUntil(UINT64_MAX);
    for (size_t i = 0; i < messages.size(); ++i)
      EXPECT_NEAR(static_cast<double>(ends[i]), messages[i].end, 4) << round << ", " << i;
  }
}

} // namespace
} // namespace colldsl::sim
