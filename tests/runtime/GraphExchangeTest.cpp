// Exchanges along graphs by the schedules that passes make of them: the same decision on all ranks,
// and the bytes of each message at its receiver, whatever their lengths.
#include "runtime/graph/GraphExchange.h"
#include "executor/Plan.h"
#include "ir/Concat.h"
#include "runtime/job/LocalRanks.h"
#include "topology/KnownModels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace colldsl {
namespace {

constexpr uint32_t kNodes = 4, kPerNode = 4, kRanks = kNodes * kPerNode;
constexpr int kRuns = 3;

Topology nodes() { return Topology::make("node:4 core:4", kRanks).take(); }

bool areOnOneNode(uint32_t a, uint32_t b) { return a / kPerNode == b / kPerNode; }

/// Rank 0 and each of other nodes; and the others' own edges, one of `sparseness` there can be.
PeerLists randomPeers(std::mt19937 &random, bool hasHub, uint32_t sparseness) {
  PeerLists peers(kRanks);
  for (uint32_t from = 0; from < kRanks; ++from)
    for (uint32_t to = 0; to < kRanks; ++to) {
      bool isOfHub = hasHub && (from == 0 || to == 0);
      bool isDrawn = sparseness > 0 && random() % sparseness == 0;
      if (!areOnOneNode(from, to) && (isOfHub || isDrawn))
        peers[from].push_back(to);
    }
  return peers;
}

Result<std::unique_ptr<Library>> standardLibrary() {
  return Library::open(COLLDSL_STANDARD_LIBRARY);
}

/// What each of a message's bytes is, and how many there are: known to both ends.
std::byte byteOf(uint32_t from, uint32_t to, int run, uint64_t i) {
  return static_cast<std::byte>(from * 31 + to * 7 + static_cast<uint32_t>(run) * 3 + i);
}
uint64_t lengthOf(uint32_t from, uint32_t to, uint64_t most) {
  return from % 5 == 4 ? 0 : (from * 7919 + to * 104729) % (most + 1);
}

struct Side {
  Side(size_t blocks, uint64_t most) : most_(most), memory(blocks * most) {}
  std::byte *at(size_t block) { return memory.data() + block * most_; }
  uint64_t most_;
  std::vector<std::byte> memory;
};

/// All messages of some runs; `same`: each rank sends all peers what it sends itself.
Status exchange(Endpoint &endpoint, const GraphExchange &way, bool same) {
  uint32_t self = index(endpoint.rank());
  auto addressee = [&](uint32_t from, uint32_t to) { return same ? from : to; };
  Side sent(same ? 1 : way.to.size(), way.capacityBytes);
  Side received(way.from.size(), way.capacityBytes);
  Binding binding;
  binding.elements = way.capacityBytes;
  binding.buffers = {BoundBuffer::in(sent.memory.data(), sent.memory.size()),
                     {received.memory.data(), received.memory.size()}};
  binding.blocks.resize(1);
  std::vector<uint32_t> blocks = same ? std::vector<uint32_t>{self} : way.to;
  for (uint32_t to : blocks)
    binding.blocks[0].length.push_back(lengthOf(self, addressee(self, to), way.capacityBytes));
  Engine engine(endpoint);
  auto plan = Plan::open(engine, way.schedule.view(), way.schedule.sizeClass(), binding);
  if (!plan)
    return plan.status();
  for (int run = 0; run < kRuns; ++run) {
    for (size_t i = 0; i < blocks.size(); ++i)
      for (uint64_t b = 0; b < binding.blocks[0].length[i]; ++b)
        sent.at(i)[b] = byteOf(self, addressee(self, blocks[i]), run, b);
    if (Status s = (*plan)->start(); !s)
      return s;
    if (Status s = (*plan)->wait(std::chrono::seconds(60)); !s)
      return s;
    for (size_t i = 0; i < way.from.size(); ++i) {
      uint32_t from = way.from[i], to = addressee(from, self);
      uint64_t length = (*plan)->blockLengths(BufferId{1})[i];
      if (length != lengthOf(from, to, way.capacityBytes))
        return Status::error(concat("rank ", self, ": ", length, " bytes from rank ", from));
      for (uint64_t b = 0; b < length; ++b)
        if (received.at(i)[b] != byteOf(from, to, run, b))
          return Status::error(concat("rank ", self, ": wrong byte ", b, " from rank ", from));
    }
  }
  return {};
}

std::vector<std::byte> bytesOf(const std::string &text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The way that is chosen; by the model the fastest of those that are better than `direct`.
const GraphExchange &bestOf(const std::vector<GraphExchange> &ways) {
  auto best = std::find_if(ways.begin(), ways.end(), [](const auto &way) { return way.isBetter; });
  return best == ways.end() ? ways.front() : *best;
}

/// How all ranks exchange by the best way, or by all ways one after the other if all are wanted; a
/// message if they differ, or if something went wrong.
std::string decide(const PeerLists &peers, bool same, const MachineModel &machine,
                   bool wantsAll = false, const PeerLists &weights = {}) {
  Topology topology = nodes();
  LocalOptions local;
  local.numRanks = kRanks;
  local.timeout = std::chrono::seconds(120);
  auto outcomes = runLocalRanks(local, [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    auto library = standardLibrary();
    if (!library)
      return library.status();
    auto ways =
        waysAlong(**library, {peers, topology, machine, endpoint.rank(), same, weights, wantsAll});
    if (!ways)
      return ways.status();
    std::string text;
    for (const GraphExchange &way : *ways) {
      if (!wantsAll && &way != &bestOf(*ways))
        continue;
      if (way.capacityBytes > 0)
        if (Status s = exchange(endpoint, way, same); !s)
          return s;
      if (wantsAll)
        text += way.name + ": ";
      text += concat(way.passes, "; ", way.beforeNs, "; ", way.afterNs, "; ", way.capacityBytes);
      text += wantsAll ? "\n" : "";
    }
    return bytesOf(text);
  });
  if (!outcomes)
    return outcomes.message();
  if (Status s = firstFailure(*outcomes); !s)
    return s.message();
  for (const RankOutcome &outcome : *outcomes)
    if (outcome.bytes != outcomes->front().bytes)
      return "ranks decided differently";
  const std::vector<std::byte> &bytes = outcomes->front().bytes;
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

TEST(GraphExchange, CombinesTheMessagesOfAHub) {
  std::mt19937 random(1);
  PeerLists hub = randomPeers(random, true, 0);
  for (bool same : {false, true}) {
    std::string said = decide(hub, same, knownModel(KnownModel::Ethernet));
    EXPECT_EQ(said.rfind("combine-messages", 0), 0u) << said;
  }
}

TEST(GraphExchange, DeliversAlongRandomGraphs) {
  std::mt19937 random(2);
  MachineModel dear = knownModel(KnownModel::Ethernet);
  dear.distances[kOtherNode].o *= 1000; // anything is better than a message
  int better = 0;
  for (uint32_t sparseness : {0, 1, 3, 9})
    for (bool hasHub : {false, true})
      for (bool same : {false, true}) {
        std::string said = decide(randomPeers(random, hasHub, sparseness), same, dear);
        EXPECT_NE(said.find("; "), std::string::npos) << said;
        better += said.rfind("combine-messages", 0) == 0;
      }
  EXPECT_GT(better, 8);
}

PeerLists randomWeights(std::mt19937 &random, const PeerLists &peers) {
  PeerLists weights;
  for (const std::vector<uint32_t> &list : peers)
    for (weights.emplace_back(); weights.back().size() < list.size();)
      weights.back().push_back(random() % 8 == 0 ? 1000 : random() % 100);
  return weights;
}

// Blocks of one unit, and of some: each way moves them as a whole.
TEST(GraphExchange, EveryWayDeliversAlongRandomGraphs) {
  std::mt19937 random(3);
  size_t ways = 0;
  for (uint32_t sparseness : {0, 3})
    for (bool areWeighted : {false, true})
      for (bool same : {false, true}) {
        PeerLists peers = randomPeers(random, true, sparseness);
        PeerLists weights = areWeighted ? randomWeights(random, peers) : PeerLists();
        std::string said = decide(peers, same, knownModel(KnownModel::Ethernet), true, weights);
        EXPECT_EQ(said.rfind("direct: ; ", 0), 0u) << said;
        for (const char *name : {"direct_in_rounds: ", "by_node: ", "by_node_busiest: "})
          EXPECT_NE(said.find(name), std::string::npos) << said;
        ways += static_cast<size_t>(std::count(said.begin(), said.end(), '\n'));
      }
  EXPECT_GT(ways, 32u) << "trees are among them";
}

// A rank that sends long messages to all takes longer than the mean says; where all are heavy
// nothing changes.
TEST(GraphExchange, WeightsAreLengths) {
  std::mt19937 random(4);
  PeerLists all = randomPeers(random, false, 1);
  auto predicted = [&](uint32_t ofRank0, uint32_t ofOthers) {
    PeerLists weights;
    for (uint32_t r = 0; r < kRanks; ++r)
      weights.emplace_back(all[r].size(), r == 0 ? ofRank0 : ofOthers);
    Topology topology = nodes();
    auto library = standardLibrary();
    auto ways = waysAlong(
        **library, {all, topology, knownModel(KnownModel::Ethernet), Rank{3}, false, weights});
    return ways ? ways->front().afterNs : 0;
  };
  EXPECT_GT(predicted(7, 7), 0u);
  EXPECT_EQ(predicted(7, 7), predicted(1, 1));
  EXPECT_EQ(predicted(0, 0), predicted(1, 1));
  EXPECT_GT(predicted(9, 1), predicted(2, 1));
  EXPECT_GT(predicted(2, 1), predicted(1, 1));
}

TEST(GraphExchange, LeavesWhatIsGoodAsItIs) {
  PeerLists ring(kRanks);
  for (uint32_t r = 0; r < kRanks; r += kPerNode)
    ring[r].push_back((r + kPerNode) % kRanks);
  std::string said = decide(ring, false, knownModel(KnownModel::Ethernet));
  EXPECT_EQ(said.rfind("; ", 0), 0u) << said;
  EXPECT_EQ(said.substr(said.rfind("; ")), "; 0") << said;
}

} // namespace
} // namespace colldsl
