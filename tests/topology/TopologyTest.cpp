// Synthetic machines, against places counted by hand.
#include "topology/Topology.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

Topology make(std::string_view description, uint32_t numRanks) {
  Result<Topology> topology = Topology::make(description, numRanks);
  if (topology)
    return topology.take();
  ADD_FAILURE() << description << ": " << topology.message();
  return Topology::flat(numRanks);
}

std::string errorOf(std::string_view description, uint32_t numRanks = 1) {
  Result<Topology> topology = Topology::make(description, numRanks);
  return topology ? "no error" : topology.message();
}

std::vector<uint32_t> cores(const Topology &topology) {
  std::vector<uint32_t> cores;
  for (uint32_t r = 0; r < topology.numRanks(); ++r)
    cores.push_back(topology.place(Rank{r}).core);
  return cores;
}

std::vector<uint32_t> members(const Topology &topology, Level level, uint32_t group) {
  std::vector<uint32_t> ranks;
  for (Rank rank : topology.members(level, group))
    ranks.push_back(index(rank));
  return ranks;
}

using Numbers = std::vector<uint32_t>;

TEST(Topology, GroupsOfTwoNodesByCore) {
  Topology t = make("node:2 package:2 core:2 pu:1", 8);
  EXPECT_EQ(t.numGroups(Level::All), 1u);
  EXPECT_EQ(t.numGroups(Level::Node), 2u);
  EXPECT_EQ(t.numGroups(Level::Board), 2u);
  EXPECT_EQ(t.numGroups(Level::Socket), 4u);
  EXPECT_EQ(t.numGroups(Level::Numa), 4u);
  EXPECT_EQ(members(t, Level::All, 0), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(members(t, Level::Node, 1), (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(members(t, Level::Socket, 2), (Numbers{4, 5}));
  EXPECT_EQ(t.groupOf(Level::Socket, Rank{7}), 3u);
  EXPECT_EQ(t.groupOf(Level::All, Rank{7}), 0u);
  EXPECT_EQ(t.place(Rank{7}), (Place{1, 1, 3, 3, 7, 7, 3, 1}));
}

TEST(Topology, ScatterGoesRoundNodesThenSocketsThenNuma) {
  Topology t = make("node:2 package:2 numa:2 core:2 bind=scatter", 16);
  // A node has cores 0 1 | 2 3 || 4 5 | 6 7, NUMA nodes by |, sockets by ||.
  EXPECT_EQ(cores(t), (Numbers{0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}));
  EXPECT_EQ(members(t, Level::Node, 0), (Numbers{0, 2, 4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(members(t, Level::Numa, 1), (Numbers{4, 12}));
}

TEST(Topology, CrossSocketBindingOfAnEightSocketMachine) {
  Topology t = make("board:2 package:4 l3:1 core:6 bind=scatter", 48);
  for (uint32_t r = 0; r < 48; ++r)
    EXPECT_EQ(t.place(Rank{r}).core, (r % 8) * 6 + r / 8);
}

TEST(Topology, ListBindsRankToItsEntry) {
  Topology t = make("node:2 package:2 core:2 bind=7,0,4-5", 4);
  EXPECT_EQ(cores(t), (Numbers{7, 0, 4, 5}));
  EXPECT_EQ(members(t, Level::Node, 0), (Numbers{1}));
  EXPECT_EQ(members(t, Level::Node, 1), (Numbers{0, 2, 3}));
}

TEST(Topology, GroupsWithoutRanksAreLeftOut) {
  Topology t = make("node:4 package:2 core:2 bind=4,14", 2);
  EXPECT_EQ(t.numGroups(Level::Node), 2u);
  EXPECT_EQ(t.numGroups(Level::Socket), 2u);
  EXPECT_EQ(t.groupOf(Level::Node, Rank{0}), 0u);
  EXPECT_EQ(t.groupOf(Level::Node, Rank{1}), 1u);
  EXPECT_EQ(t.place(Rank{1}).core, 14u);
}

TEST(Topology, SecondHardwareThreadsComeAfterAllCores) {
  Topology t = make("node:2 core:2 pu:2", 6);
  EXPECT_EQ(cores(t), (Numbers{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(t.place(Rank{0}).pu, 0u);
  EXPECT_EQ(t.place(Rank{1}).pu, 2u);
  EXPECT_EQ(t.place(Rank{4}).pu, 1u);
  EXPECT_EQ(t.place(Rank{3}).pu, 2u) << "a node counts its own threads";
}

TEST(Topology, ThreadsOfAListedCoreInTurn) {
  Topology t = make("core:2 pu:2 bind=1,1", 2);
  EXPECT_EQ(t.place(Rank{0}).pu, 2u);
  EXPECT_EQ(t.place(Rank{1}).pu, 3u);
}

TEST(Topology, OversubscriptionBeginsAgain) {
  EXPECT_EQ(cores(make("core:3 oversubscribe", 7)), (Numbers{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(cores(make("core:3 bind=2,0 oversubscribe", 5)), (Numbers{2, 0, 2, 0, 2}));
  EXPECT_EQ(cores(make("node:2 core:2 bind=scatter oversubscribe", 5)), (Numbers{0, 2, 1, 3, 0}));
}

TEST(Topology, MoreRanksThanThreadsIsAnError) {
  EXPECT_EQ(cores(make("node:2 core:2 pu:2", 8)).size(), 8u);
  EXPECT_EQ(errorOf("node:2 core:2 pu:2", 9), "9 ranks do not fit on 8 hardware threads");
  EXPECT_EQ(errorOf("core:4 bind=0,1", 3), "the binding lists 2 cores for 3 ranks");
  EXPECT_EQ(errorOf("core:2 bind=0,0", 2),
            "the binding puts more ranks on core 0 than its 1 hardware thread");
  EXPECT_EQ(errorOf("core:2 bind=5", 1), "no core 5 to bind rank 0 to: the machine has 2 cores");
}

TEST(Topology, AllDistanceClasses) {
  Topology t = make("node:2 board:2 package:2 numa:2 l3:2 core:2", 64);
  EXPECT_EQ(t.distance(Rank{5}, Rank{5}), 0u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{1}), 1u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{2}), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{4}), 4u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{8}), 5u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{16}), 6u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{32}), 7u);
  EXPECT_EQ(t.distance(Rank{63}, Rank{0}), 7u);
}

TEST(Topology, SocketsMayShareAMemoryController) {
  Topology t = make("numa:2 package:2 core:2", 8);
  EXPECT_EQ(t.distance(Rank{0}, Rank{1}), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{2}), 3u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{4}), 5u);
  EXPECT_EQ(t.numGroups(Level::Numa), 2u);
  EXPECT_EQ(t.numGroups(Level::Socket), 4u);
}

TEST(Topology, CachesAreSharedBelowTheOutermost) {
  Topology t = make("package:1 l3:2 l2:2 core:2", 8);
  EXPECT_EQ(t.distance(Rank{0}, Rank{3}), 1u) << "another L2 below the same L3";
  EXPECT_EQ(t.distance(Rank{0}, Rank{4}), 2u);
  Topology onlyL2 = make("package:1 l2:2 core:2", 4);
  EXPECT_EQ(onlyL2.distance(Rank{0}, Rank{1}), 1u);
  EXPECT_EQ(onlyL2.distance(Rank{0}, Rank{2}), 2u);
}

TEST(Topology, ThreadsOfACoreShareItsCaches) {
  Topology t = make("package:1 core:2 pu:2", 4);
  EXPECT_EQ(t.distance(Rank{0}, Rank{2}), 1u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{1}), 2u);
}

TEST(Topology, EdgesOfTheEightSocketMachine) {
  // Ma 2012, 4.4.2: within a socket 1, to another socket of the board 5, beyond 6.
  Topology t = make("board:2 package:4 l3:1 core:6", 48);
  Numbers pairs(kMaxDistance + 1, 0);
  for (uint32_t a = 0; a < 48; ++a)
    for (uint32_t b = a + 1; b < 48; ++b)
      ++pairs[t.distance(Rank{a}, Rank{b})];
  EXPECT_EQ(pairs, (Numbers{0, 8 * 15, 0, 0, 0, 2 * 6 * 36, 24 * 24, 0, 0}));
}

TEST(Topology, SwitchesLieAboveNodes) {
  Topology t = make("switch:2 node:3 core:2", 12);
  EXPECT_EQ(t.distance(Rank{0}, Rank{1}), 2u);
  EXPECT_EQ(t.distance(Rank{0}, Rank{5}), 7u);
  EXPECT_EQ(t.distance(Rank{5}, Rank{6}), 8u);
  EXPECT_EQ(t.place(Rank{6}).node, 3u);
  EXPECT_EQ(make("switch:3 core:2", 6).distance(Rank{1}, Rank{2}), 8u); // a node each
  EXPECT_EQ(make("node:2 core:2", 4).distance(Rank{1}, Rank{2}), 7u);
  EXPECT_EQ(make("switch:2 node:2 core:1 bind=scatter", 4).distance(Rank{1}, Rank{2}), 8u);
  EXPECT_EQ(make("switch:2 node:1 local", 2).distance(Rank{0}, Rank{1}),
            make("local", 2).distance(Rank{0}, Rank{1}));
}

TEST(Topology, FlatHasNoStructure) {
  Topology t = make("flat", 5);
  for (Level level : kLevels)
    EXPECT_EQ(t.numGroups(level), 1u) << spelling(level);
  EXPECT_EQ(members(t, Level::Socket, 0), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(t.distance(Rank{1}, Rank{4}), 2u);
  EXPECT_EQ(t.place(Rank{3}).pu, kNoPu);
  EXPECT_EQ(cores(t), (Numbers{0, 1, 2, 3, 4}));
}

TEST(Topology, ErrorsNameTheFault) {
  EXPECT_EQ(errorOf(""), "topology: no machine is described");
  EXPECT_EQ(errorOf("oversubscribe"), "topology: no machine is described");
  EXPECT_EQ(errorOf("node:4 rack:2"), "topology: no level is called 'rack'");
  EXPECT_EQ(errorOf("node:0"), "topology: level 'node' needs a count of at least 1, not '0'");
  EXPECT_EQ(errorOf("node:-1"), "topology: level 'node' needs a count of at least 1, not '-1'");
  EXPECT_EQ(errorOf("core:"), "topology: level 'core' needs a count of at least 1, not ''");
  EXPECT_EQ(errorOf("core:2x"), "topology: level 'core' needs a count of at least 1, not '2x'");
  EXPECT_EQ(errorOf("core:2 node:4"),
            "topology: level 'node' contains level 'core' and must come before it");
  EXPECT_EQ(errorOf("package:2 socket:2"), "topology: level 'socket' is given twice");
  EXPECT_EQ(errorOf("numa:2 package:2 numa:2"), "topology: level 'numa' is given twice");
  EXPECT_EQ(errorOf("core:4 nonsense"), "topology: cannot make sense of 'nonsense'");
  EXPECT_EQ(errorOf("flat local"), "topology: both 'flat' and 'local' name a machine");
  EXPECT_EQ(errorOf("local core:2"),
            "topology: only levels 'group', 'switch' and 'node' go with 'local'");
  EXPECT_EQ(errorOf("flat bind=scatter"),
            "topology: 'flat' has neither nodes nor cores to bind to");
  EXPECT_EQ(errorOf("core:4 bind=1,,2"), "topology: cannot make sense of '' in a binding");
  EXPECT_EQ(errorOf("core:4 bind=3-1"), "topology: cannot make sense of '3-1' in a binding");
  EXPECT_EQ(errorOf("flat", 0), "a topology needs at least one rank");
}

TEST(Topology, HugeCountsAreRefused) {
  std::string tooMany = "topology: more than 16777216 hardware threads";
  EXPECT_EQ(errorOf("node:16777217"), tooMany);
  EXPECT_EQ(errorOf("node:18446744073709551615"), tooMany);
  EXPECT_EQ(errorOf("node:4096 core:4097"), tooMany);
  EXPECT_EQ(errorOf("core:4 bind=0-4294967295"),
            "topology: a binding takes fewer than 16777216 cores");
}

TEST(Topology, LevelsSpellAndParse) {
  for (Level level : kLevels)
    EXPECT_EQ(parseLevel(spelling(level)), level);
  EXPECT_EQ(parseLevel("rack"), std::nullopt);
}

TEST(Topology, AMillionRanks) {
  constexpr uint32_t ranks = 1u << 20;
  for (std::string_view binding : {"bind=core", "bind=scatter"}) {
    Topology t = make("node:16384 package:2 numa:4 l3:2 core:4 " + std::string(binding), ranks);
    EXPECT_EQ(t.numGroups(Level::Node), 16384u);
    EXPECT_EQ(t.numGroups(Level::Numa), 16384u * 8);
    uint64_t counted = 0;
    for (uint32_t group = 0; group < t.numGroups(Level::Numa); ++group)
      for (Rank rank : t.members(Level::Numa, group))
        counted += t.groupOf(Level::Numa, rank) == group;
    EXPECT_EQ(counted, ranks);
  }
}

TEST(Topology, NodesCountForThemselves) {
  std::vector<Place> places = {{0, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 1, 1}, {5, 0, 1, 1, 1, 1}};
  Topology t = Topology::fromNodes(places);
  EXPECT_EQ(t.numGroups(Level::Node), 2u);
  EXPECT_EQ(t.numGroups(Level::Board), 2u);
  for (Level level : {Level::Socket, Level::Numa})
    EXPECT_EQ(t.numGroups(level), 3u);
  EXPECT_NE(t.place(Rank{1}).cache, t.place(Rank{2}).cache);
  EXPECT_NE(t.place(Rank{1}).core, t.place(Rank{2}).core);
  EXPECT_EQ(t.distance(Rank{1}, Rank{2}), kOtherNode);
}

TEST(Topology, PlacesMayHaveGaps) {
  std::vector<Place> places = {{7, 7, 70, 70, 700, 900, 3}, {2, 2, 20, 20, 200, 901, 4}};
  Topology t = Topology::fromPlaces(places);
  EXPECT_EQ(t.numGroups(Level::Socket), 2u);
  EXPECT_EQ(t.groupOf(Level::Node, Rank{0}), 1u);
  EXPECT_EQ(members(t, Level::Socket, 0), (Numbers{1}));
  EXPECT_EQ(t.place(Rank{0}), (Place{1, 1, 1, 1, 700, 900, 3}));
}

TEST(Topology, LevelsAboveTheNode) {
  Topology t = make("group:2 switch:2 node:2 core:2", 16);
  ASSERT_EQ(t.outerLevels().size(), 2u);
  EXPECT_EQ(t.outerLevels()[0].name, "group");
  EXPECT_EQ(t.outerLevels()[1].name, "switch");
  EXPECT_EQ(t.outerGroupOf(0, Rank{8}), 1u);
  EXPECT_EQ(t.outerGroupOf(1, Rank{8}), 2u);
  std::vector<unsigned> crossed;
  for (uint32_t r : {1, 2, 4, 8})
    crossed.push_back(t.levelsCrossed(Rank{0}, Rank{r}));
  EXPECT_EQ(crossed, (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(t.distance(Rank{0}, Rank{4}), 8u);
  EXPECT_EQ(make("group:2 switch:2 node:2 core:1 bind=7,6,0", 3).outerGroupOf(0, Rank{0}), 1u);
  EXPECT_EQ(make("group:3 switch:2 node:2 core:1 bind=11,10", 2).outerGroupOf(1, Rank{0}), 0u)
      << "groups without ranks have no number";
  EXPECT_EQ(errorOf("switch:2 group:2"),
            "topology: level 'group' contains level 'switch' and must come before it");
}

TEST(Topology, HashesItsGroupsAndDistances) {
  auto hash = [](const char *description, uint32_t ranks) {
    return make(description, ranks).hash();
  };
  EXPECT_EQ(hash("node:2 core:4", 8), hash("node:2 core:4", 8));
  EXPECT_EQ(hash("node:1 core:4", 4), hash("core:4", 4));
  EXPECT_NE(hash("node:2 core:4", 8), hash("core:8", 8));
  EXPECT_NE(hash("node:2 core:4", 8), hash("node:2 core:4 bind=scatter", 8));
  EXPECT_NE(hash("package:2 core:2", 4), hash("numa:2 core:2", 4));
  EXPECT_NE(hash("switch:2 node:1", 2), hash("node:2", 2));
  EXPECT_NE(hash("core:4", 3), hash("core:4", 4));
}

} // namespace
} // namespace colldsl
