// Neighborhoods of all ranks, put together: every edge out must meet the edge in that the rule
// says. The rule is read here slot by slot, from the lists and coordinates of all ranks.
#include "mpi/comm/Neighborhood.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <tuple>

namespace colldsl::mpi::test {
namespace {

/// One message: from a slot of one rank to a slot of another one.
struct Message {
  int from, fromSlot, to, toSlot;

  auto operator<=>(const Message &) const = default;
};

void PrintTo(const Message &m, std::ostream *out) {
  *out << m.from << "[" << m.fromSlot << "]->" << m.to << "[" << m.toSlot << "]";
}

using Lists = std::vector<std::vector<int>>;

/// Peers and slots of one rank's edges, in their order.
struct Flat {
  static constexpr int kMax = 64;
  int numOut = 0, numIn = 0;
  std::array<Edge, kMax> out{}, in{};

  explicit Flat(const Neighborhood &n) : numOut(n.out.size()), numIn(n.in.size()) {
    EXPECT_LE(std::max(numOut, numIn), kMax);
    std::copy(n.out.begin(), n.out.end(), out.begin());
    std::copy(n.in.begin(), n.in.end(), in.begin());
  }
};

/// Of all ranks. One collective: on more ranks than cores it is what takes the time.
std::vector<Flat> gatherAll(MPI_Comm comm, const Neighborhood &own) {
  int numRanks = 0;
  MPI_Comm_size(comm, &numRanks);
  std::vector<Flat> all(numRanks, Flat(own));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(), sizeof(Flat), MPI_BYTE, comm);
  return all;
}

/// Slots by peer, in the order of the edges, which are grouped.
std::map<int, std::vector<int>> byPeer(const Edge *edges, int howMany) {
  std::map<int, std::vector<int>> slots;
  for (int e = 0; e < howMany; ++e) {
    EXPECT_TRUE(e == 0 || edges[e - 1].peer <= edges[e].peer) << "edges are not sorted by peer";
    slots[edges[e].peer].push_back(edges[e].slot);
  }
  return slots;
}

/// The k-th edge out meets the k-th edge in.
std::vector<Message> messagesOf(MPI_Comm comm, const Neighborhood &own) {
  std::vector<Flat> all = gatherAll(comm, own);
  std::vector<Message> messages;
  for (int p = 0; p < static_cast<int>(all.size()); ++p)
    for (const auto &[q, slots] : byPeer(all[p].out.data(), all[p].numOut)) {
      std::vector<int> theirs = byPeer(all[q].in.data(), all[q].numIn)[p];
      EXPECT_EQ(slots.size(), theirs.size()) << p << " to " << q;
      for (size_t k = 0; k < std::min(slots.size(), theirs.size()); ++k)
        messages.push_back({p, slots[k], q, theirs[k]});
    }
  std::sort(messages.begin(), messages.end());
  return messages;
}

/// The k-th q in p's list out meets the k-th p in q's list in, counted by hand.
std::vector<Message> listRule(const Lists &out, const Lists &in) {
  std::vector<Message> messages;
  for (int p = 0; p < static_cast<int>(out.size()); ++p)
    for (size_t s = 0; s < out[p].size(); ++s) {
      int q = out[p][s];
      auto earlier = std::count(out[p].begin(), out[p].begin() + s, q);
      for (size_t t = 0; t < in[q].size(); ++t)
        if (in[q][t] == p && earlier-- == 0)
          messages.push_back({p, static_cast<int>(s), q, static_cast<int>(t)});
    }
  std::sort(messages.begin(), messages.end());
  return messages;
}

Neighborhood neighborsOf(MPI_Comm comm) {
  Result<Neighborhood> found = neighborhoodOf(comm);
  EXPECT_TRUE(found) << found.message();
  return found.take();
}

int numRanks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// What is sent to one side arrives from the other side, computed from coordinates alone.
std::vector<Message> gridRule(MPI_Comm grid, const std::vector<int> &dims,
                              const std::vector<int> &periods) {
  std::vector<Message> messages;
  int size = 0;
  MPI_Comm_size(grid, &size);
  for (int p = 0; p < size; ++p)
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
      for (int side : {0, 1}) {
        std::vector<int> at(dims.size());
        MPI_Cart_coords(grid, p, dims.size(), at.data());
        at[d] += side ? 1 : -1;
        if (!periods[d] && (at[d] < 0 || at[d] >= dims[d]))
          continue;
        at[d] = (at[d] + dims[d]) % dims[d];
        int q = 0;
        MPI_Cart_rank(grid, at.data(), &q);
        messages.push_back({p, 2 * d + side, q, 2 * d + 1 - side});
      }
  std::sort(messages.begin(), messages.end());
  return messages;
}

void expectGrid(const std::vector<int> &dims, const std::vector<int> &periods) {
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, dims.size(), dims.data(), periods.data(), 1, &grid);
  if (grid == MPI_COMM_NULL)
    return;
  Neighborhood own = neighborsOf(grid);
  EXPECT_EQ(own.outdegree, 2 * static_cast<int>(dims.size()));
  EXPECT_EQ(own.indegree, own.outdegree);
  EXPECT_EQ(messagesOf(grid, own), gridRule(grid, dims, periods))
      << testing::PrintToString(dims) << " periodic " << testing::PrintToString(periods);
  MPI_Comm_free(&grid);
}

TEST(Neighborhood, GridsOfAllShapes) {
  int n = numRanks();
  for (int x = 1; x <= n; ++x)
    for (int y = 1; x * y <= n; ++y)
      if (n % (x * y) == 0)
        for (int periodic : {0, 7, x + 2 * y})
          expectGrid({x, y, n / (x * y)}, {periodic & 1, periodic >> 1 & 1, periodic >> 2 & 1});
}

TEST(Neighborhood, LinesAndFewerRanksThanAreThere) {
  for (int periodic : {0, 1}) {
    expectGrid({numRanks()}, {periodic});
    expectGrid({(numRanks() + 1) / 2}, {periodic});
  }
  expectGrid({1, 1, 1, numRanks()}, {1, 0, 1, 1});
}

TEST(Neighborhood, GridWithoutDimensions) {
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &grid);
  if (grid == MPI_COMM_NULL)
    return;
  Neighborhood own = neighborsOf(grid);
  EXPECT_EQ(own.outdegree + own.indegree, 0);
  EXPECT_TRUE(own.out.empty() && own.in.empty());
  MPI_Comm_free(&grid);
}

/// Random edges, the same at all ranks; several from one rank to another, and to itself.
std::vector<std::pair<int, int>> randomEdges(std::mt19937 &random, int howMany) {
  std::vector<std::pair<int, int>> edges;
  for (int e = 0; e < howMany; ++e)
    edges.emplace_back(random() % numRanks(), random() % numRanks());
  return edges;
}

/// An empty list has an address too, or MPICH complains.
std::vector<int> withRoom(std::vector<int> list) {
  list.push_back(0);
  return list;
}

TEST(Neighborhood, DistributedGraphs) {
  int self = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    Lists out(numRanks()), in(numRanks());
    auto edges = randomEdges(random, 5 * seed);
    for (auto [from, to] : edges)
      out[from].push_back(to);
    std::shuffle(edges.begin(), edges.end(), random);
    for (auto [from, to] : edges)
      in[to].push_back(from);
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in[self].size(), withRoom(in[self]).data(),
                                   MPI_UNWEIGHTED, out[self].size(), withRoom(out[self]).data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    Neighborhood own = neighborsOf(graph);
    EXPECT_EQ(own.outdegree, static_cast<int>(out[self].size()));
    EXPECT_EQ(own.indegree, static_cast<int>(in[self].size()));
    EXPECT_EQ(messagesOf(graph, own), listRule(out, in)) << "seed " << seed;
    MPI_Comm_free(&graph);
  }
}

TEST(Neighborhood, DistributedGraphsThatOneRankDescribes) {
  int self = 0, n = numRanks();
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  std::mt19937 random(7);
  std::vector<int> sources(n), degrees(n), targets, weights;
  for (int p = 0; p < n; ++p) {
    sources[p] = p;
    degrees[p] = random() % 5;
    for (int e = 0; e < degrees[p]; ++e) {
      targets.push_back(random() % n);
      weights.push_back(1 + random() % 9);
    }
  }
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create(MPI_COMM_WORLD, self == 0 ? n : 0, sources.data(), degrees.data(),
                        withRoom(targets).data(), withRoom(weights).data(), MPI_INFO_NULL, 0,
                        &graph);
  Neighborhood own = neighborsOf(graph);
  EXPECT_EQ(own.outdegree, degrees[self]);
  EXPECT_EQ(own.indegree, std::count(targets.begin(), targets.end(), self));
  EXPECT_EQ(messagesOf(graph, own).size(), targets.size());
  MPI_Comm_free(&graph);
}

TEST(Neighborhood, Graphs) {
  int n = numRanks();
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    Lists lists(n);
    for (auto [a, b] : randomEdges(random, 3 * seed)) {
      lists[a].push_back(b); // counts are symmetric: an edge to oneself is two
      lists[b].push_back(a);
    }
    std::vector<int> ends, edges;
    for (std::vector<int> &list : lists) {
      std::shuffle(list.begin(), list.end(), random);
      edges.insert(edges.end(), list.begin(), list.end());
      ends.push_back(edges.size());
    }
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Graph_create(MPI_COMM_WORLD, n, ends.data(), withRoom(edges).data(), 0, &graph);
    EXPECT_EQ(messagesOf(graph, neighborsOf(graph)), listRule(lists, lists)) << "seed " << seed;
    MPI_Comm_free(&graph);
  }
}

TEST(Neighborhood, NoTopologyIsAnError) {
  Result<Neighborhood> found = neighborhoodOf(MPI_COMM_WORLD);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.message(), "a communicator without a topology has no neighbours");
}

} // namespace
} // namespace colldsl::mpi::test
