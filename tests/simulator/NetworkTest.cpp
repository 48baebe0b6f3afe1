// The ways of messages through networks, and the times at which their first bytes arrive.
#include "simulator/Network.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <tuple>

namespace colldsl::sim {
namespace {

NetworkOptions optionsOf(const char *text) {
  Result<NetworkOptions> parsed = parseNetwork(text, PerByte());
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  return parsed.take();
}

std::string errorOf(const std::string &text) { return parseNetwork(text, PerByte()).message(); }

uint32_t below(std::mt19937 &random, uint32_t bound) {
  return static_cast<uint32_t>(random() % bound);
}

struct Travel {
  uint64_t at = 0; ///< the first byte's arrival
  size_t links = 0;
};

/// A message that enters the network at `at`.
Travel travel(Network &network, uint32_t from, uint32_t to, uint64_t at, uint64_t bytes) {
  constexpr size_t kTooMany = 1000;
  Travel travel{at, 0};
  for (uint32_t place = from; place != to && travel.links < kTooMany; ++travel.links) {
    Network::Step step = network.forward(place, to, travel.at, bytes);
    place = step.next;
    travel.at = step.arrival;
  }
  return travel;
}

/// Messages on the links from one node or switch to another, ascending.
std::vector<uint64_t> messagesBetween(const Network &network, uint32_t from, uint32_t to) {
  std::vector<uint64_t> counts;
  for (const LinkLoad &load : network.loads())
    if (load.from == from && load.to == to)
      counts.push_back(load.messages);
  std::sort(counts.begin(), counts.end());
  return counts;
}

TEST(NetworkTest, mistakes) {
  EXPECT_EQ(errorOf("torus:8,hop=1.5"),
            "network: hop is '1.5', not a whole number from 0 to 1099511627776");
  EXPECT_EQ(errorOf("torus:8,G=-1"), "network: G is '-1', not a number from 0 to 4294967296");
  EXPECT_EQ(errorOf("fattree:8,taper=0"),
            "network: taper is '0', not a whole number from 1 to 1024");
  EXPECT_EQ(errorOf("torus:8,hop=1,hop=2"), "network: hop is given twice, again as '2'");
  EXPECT_EQ(errorOf("torus:8,taper=2"),
            "network: 'taper=2' is no setting of it; there are hop=NS and G=NS");
  EXPECT_EQ(errorOf("torus:8,adaptive"),
            "network: 'adaptive' is no setting of it; there are hop=NS and G=NS");
  EXPECT_EQ(errorOf("fattree:8,global=2"), "network: 'global=2' is no setting of it; there are "
                                           "hop=NS, G=NS, taper=N and adaptive");
  EXPECT_EQ(errorOf("fattree:8,adaptive=1"), "network: adaptive takes no value, such as '1'");
  EXPECT_EQ(errorOf("fattree:8,adaptive,adaptive"),
            "network: adaptive is given twice, again as ''");
  EXPECT_EQ(errorOf("dragonfly:4x8"),
            "network: a dragonfly has 3 sizes, nodes per switch, switches per group and groups, as "
            "in dragonfly:4x8x16, not 2");
  EXPECT_EQ(errorOf("dragonfly:1x1x2,global=0"),
            "network: global is '0', not a whole number from 1 to 1024");
  EXPECT_EQ(errorOf("dragonfly:1x1x2,G=4294967296,taper=2"),
            "network: G on a global link, 2 times that of others, is more than 4294967296");
  EXPECT_EQ(errorOf("torus:16777217"), "network: it has more nodes than the limit of 16777216");
  std::string manyDims = "torus:16777216";
  for (int d = 0; d < 8; ++d)
    manyDims += "x1";
  EXPECT_EQ(errorOf(manyDims), "network: it has more links than the limit of 268435456");
  EXPECT_EQ(errorOf("dragonfly:1x1x16385"),
            "network: it has more links than the limit of 268435456");
  EXPECT_EQ(errorOf("dragonfly:1x1x16777216,global=1024"),
            "network: it has more links than the limit of 268435456");
}

// Two links lead up from the four nodes of each switch: switches 12 to 14, below switch 15.
TEST(NetworkTest, treesTakeTheLinkOfTheDestination) {
  Network tree(optionsOf("fattree:4x3,taper=2,hop=0,G=1"), true);
  EXPECT_EQ(travel(tree, 0, 4, 0, 100).at, 0u);
  EXPECT_EQ(travel(tree, 1, 8, 0, 100).at, 100u) << "the other link is free";
  EXPECT_EQ(travel(tree, 2, 9, 0, 100).at, 0u);
  EXPECT_EQ(messagesBetween(tree, 12, 15), (std::vector<uint64_t>{1, 2}));
}

TEST(NetworkTest, adaptiveTreesTakeTheLinkThatIsFreeFirst) {
  Network tree(optionsOf("fattree:4x3,taper=2,hop=0,G=1,adaptive"), true);
  EXPECT_EQ(travel(tree, 0, 4, 0, 100).at, 0u);
  EXPECT_EQ(travel(tree, 1, 8, 0, 150).at, 0u);
  // Link 0 is free at 100, link 1 at 150; then at 300 and 150.
  EXPECT_EQ(travel(tree, 2, 5, 0, 200).at, 100u) << "not the destination's";
  EXPECT_EQ(travel(tree, 3, 10, 0, 10).at, 150u);
  // Both are free: the destination's.
  EXPECT_EQ(travel(tree, 0, 5, 5000, 1).at, 5000u);
  EXPECT_EQ(travel(tree, 0, 7, 6000, 1).at, 6000u);
  EXPECT_EQ(messagesBetween(tree, 12, 15), (std::vector<uint64_t>{2, 4}));
  // On the way down the destination chooses still: 4 and 6 share a link, 4 and 5 do not.
  EXPECT_EQ(travel(tree, 8, 4, 9000, 100).at, 9000u);
  EXPECT_EQ(travel(tree, 9, 6, 9000, 100).at, 9100u);
  EXPECT_EQ(travel(tree, 10, 5, 9000, 100).at, 9100u) << "behind the first on its way up";
}

/// A fat tree by its description, with a map for its links.
struct PlainTree {
  std::vector<uint32_t> dims;
  uint64_t taper = 1;
  std::map<std::tuple<size_t, uint64_t, uint64_t, bool>, uint64_t> free;

  uint64_t below(size_t level) const {
    uint64_t nodes = 1;
    for (size_t l = 0; l < level; ++l)
      nodes *= dims[l];
    return nodes;
  }
  uint64_t ways(size_t level) const {
    uint64_t ways = below(level);
    for (size_t l = 0; l < level; ++l)
      ways /= taper;
    return std::max<uint64_t>(1, ways);
  }
  uint64_t travel(uint32_t from, uint32_t to, uint64_t at, uint64_t bytes) {
    size_t top = 0;
    for (; from / below(top) != to / below(top); ++top) {
      uint64_t count = ways(top), usual = to % count, best = usual;
      auto freeAt = [&](uint64_t way) {
        return std::max(at, free[{top, from / below(top), way, true}]);
      };
      for (uint64_t i = 0; i < count; ++i)
        if (freeAt((usual + i) % count) < freeAt(best))
          best = (usual + i) % count;
      at = freeAt(best);
      free[{top, from / below(top), best, true}] = at + bytes;
    }
    while (top-- > 0) {
      uint64_t &link = free[{top, to / below(top), to % ways(top), false}];
      at = std::max(at, link);
      link = at + bytes;
    }
    return at;
  }
};

TEST(NetworkTest, adaptiveTreesAreAsDescribed) {
  std::mt19937 random(11);
  using Case = std::tuple<const char *, std::vector<uint32_t>, uint64_t>;
  for (const auto &[text, dims, taper] :
       {Case{"fattree:4x2x3,hop=0,G=1,adaptive", {4, 2, 3}, 1},
        Case{"fattree:6x6,taper=2,hop=0,G=1,adaptive", {6, 6}, 2},
        Case{"fattree:3x3x3,taper=3,hop=0,G=1,adaptive", {3, 3, 3}, 3}}) {
    Network tree(optionsOf(text), false);
    PlainTree plain{dims, taper, {}};
    auto nodes = static_cast<uint32_t>(plain.below(dims.size()));
    for (uint64_t i = 0, now = 0; i < 2000; ++i) {
      uint32_t from = below(random, nodes), to = below(random, nodes);
      uint64_t bytes = below(random, 50);
      now += below(random, 10);
      ASSERT_EQ(travel(tree, from, to, now, bytes).at, plain.travel(from, to, now, bytes))
          << text << ", message " << i;
    }
  }
}

/// The switch of group `a` that holds link `number` to group `b`.
uint32_t holder(uint32_t a, uint32_t b, uint32_t number, uint32_t switches, uint32_t groups,
                uint32_t parallel) {
  uint32_t groupsOn = (b + groups - a) % groups;
  return a * switches + ((groupsOn - 1) * parallel + number) % switches;
}

TEST(NetworkTest, dragonfliesRouteByTheHoldersOfGlobalLinks) {
  constexpr uint32_t kNodes = 2, kSwitches = 3, kGroups = 5, kParallel = 2;
  constexpr uint32_t kAll = kNodes * kSwitches * kGroups;
  NetworkOptions options = optionsOf("dragonfly:2x3x5,global=2,hop=1,G=0");
  Network network(options, true);
  ASSERT_EQ(options.numNodes(), kAll);
  for (uint32_t from = 0; from < kAll; ++from)
    for (uint32_t to = 0; to < kAll; ++to) {
      uint32_t a = from / kNodes, b = to / kNodes, links = 2 + (a != b);
      uint32_t groupA = a / kSwitches, groupB = b / kSwitches;
      if (groupA != groupB) {
        uint32_t number = to % kParallel;
        links = 3 + (a != holder(groupA, groupB, number, kSwitches, kGroups, kParallel)) +
                (b != holder(groupB, groupA, number, kSwitches, kGroups, kParallel));
      }
      uint64_t at = 100 * (kAll * from + to); // one after the other
      Travel took = travel(network, from, to, at, 1);
      EXPECT_EQ(took.links, from == to ? 0 : links) << from << " to " << to;
      EXPECT_EQ(took.at, at + took.links);
    }
  // Every link was used, in both directions. Eight global ones for three switches: two or three.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> ends;
  std::map<uint32_t, uint32_t> globals;
  for (const LinkLoad &load : network.loads()) {
    ++ends[{load.from, load.to}];
    bool isSwitch = load.from >= kAll && load.to >= kAll;
    globals[load.from] +=
        isSwitch && (load.from - kAll) / kSwitches != (load.to - kAll) / kSwitches;
  }
  EXPECT_EQ(network.loads().size(), options.numLinks());
  for (const auto &[link, count] : ends)
    EXPECT_EQ((ends[{link.second, link.first}]), count) << link.first << ", " << link.second;
  for (uint32_t s = kAll; s < kAll + kSwitches * kGroups; ++s)
    EXPECT_TRUE(globals[s] == 2 || globals[s] == 3) << s << ": " << globals[s];
}

TEST(NetworkTest, globalLinksAreTapered) {
  Network network(optionsOf("dragonfly:2x1x2,hop=0,G=1,taper=3"), false);
  EXPECT_EQ(travel(network, 0, 2, 0, 100).at, 0u);
  EXPECT_EQ(travel(network, 1, 3, 0, 100).at, 300u);
  EXPECT_EQ(travel(network, 1, 0, 0, 100).at, 100u) << "behind its own message";
  EXPECT_EQ(network.slowestG(0, 2), PerByte::fromNs(3));
  EXPECT_EQ(network.slowestG(0, 1), PerByte::fromNs(1));
}

TEST(NetworkTest, parallelGlobalLinks) {
  for (bool isAdaptive : {false, true}) {
    std::string text = "dragonfly:4x1x2,global=2,hop=0,G=1";
    Network network(optionsOf((text + (isAdaptive ? ",adaptive" : "")).c_str()), false);
    EXPECT_EQ(travel(network, 0, 4, 0, 100).at, 0u);
    EXPECT_EQ(travel(network, 1, 6, 0, 100).at, isAdaptive ? 0u : 100u);
    EXPECT_EQ(travel(network, 2, 5, 0, 100).at, isAdaptive ? 100u : 0u);
  }
}

// Five nodes of group 0 send to group 1 at once; one link leads there, one to group 2.
TEST(NetworkTest, detoursAreTakenIfTheyWaitLessThanHalf) {
  Network minimal(optionsOf("dragonfly:5x1x3,hop=0,G=1"), false);
  Network adaptive(optionsOf("dragonfly:5x1x3,hop=0,G=1,adaptive"), true);
  // The direct link's wait, and the detour's: 0; 100 and 0; 100 and 100; 200 and 100; 300 and 100.
  constexpr std::array<uint64_t, 5> kAdaptive = {0, 0, 100, 200, 100};
  constexpr std::array<size_t, 5> kLinks = {3, 4, 3, 3, 4};
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(travel(minimal, i, 5 + i, 0, 100).at, 100 * i);
    Travel took = travel(adaptive, i, 5 + i, 0, 100);
    EXPECT_EQ(took.at, kAdaptive[i]) << i;
    EXPECT_EQ(took.links, kLinks[i]) << i;
  }
  EXPECT_EQ(messagesBetween(adaptive, 15, 16), std::vector<uint64_t>{3});
  EXPECT_EQ(messagesBetween(adaptive, 15, 17), std::vector<uint64_t>{2});
  EXPECT_EQ(messagesBetween(adaptive, 17, 16), std::vector<uint64_t>{2});
}

TEST(NetworkTest, detoursTakeTheOtherGroupsByTurns) {
  Network network(optionsOf("dragonfly:5x1x5,hop=0,G=1,adaptive"), true);
  for (uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(travel(network, i, 10 + i, 0, 100).at, i < 4 ? 0u : 100u) << i;
  EXPECT_EQ(messagesBetween(network, 25, 27), std::vector<uint64_t>{2}) << "direct";
  for (uint32_t between : {26, 28, 29})
    EXPECT_EQ(messagesBetween(network, 25, between), std::vector<uint64_t>{1}) << between;
}

// The wait for the link to the switch that holds the global one counts, its hop does not.
TEST(NetworkTest, idleDragonfliesAreMinimal) {
  NetworkOptions options = optionsOf("dragonfly:2x3x5,global=2,hop=7,G=1");
  Network minimal(options, false);
  options.isAdaptive = true;
  Network adaptive(options, false);
  for (uint32_t from = 0; from < 30; ++from)
    for (uint32_t to = 0; to < 30; ++to) {
      uint64_t at = 10000 * (30 * from + to);
      size_t links = travel(minimal, from, to, at, 10).links;
      Travel took = travel(adaptive, from, to, at, 10);
      // An adaptive message takes that of two free links which it enters first.
      EXPECT_LE(took.links, links) << from << " to " << to;
      EXPECT_EQ(took.at, at + 7 * took.links);
    }
}

TEST(NetworkTest, messagesDetourOnce) {
  std::mt19937 random(5);
  Network network(optionsOf("dragonfly:2x4x6,global=2,hop=1,G=1,adaptive"), false);
  size_t longest = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    // Mostly to the next group.
    uint32_t from = below(random, 48), to = (from / 8 * 8 + 8 + below(random, 8)) % 48;
    longest = std::max(longest, travel(network, from, to, i, 20).links);
  }
  EXPECT_EQ(longest, 7u) << "node, switch, local, global, local, global, local, node";
}

} // namespace
} // namespace colldsl::sim
