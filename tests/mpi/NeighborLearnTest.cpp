// Learning along graphs between nodes, with COLLDSL_LEARN=always: whichever way serves a call, each
// block is that of its edge. Graphs are random, with edges to oneself, parallel edges and ranks
// without edges. The oracle is a formula: all ranks know all edges.
#include "mpi/CallSummary.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/NeighborGraph.h"
#include "mpi/comm/ServedComm.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace colldsl::mpi::test {
namespace {

struct Link {
  int from, to, weight;
};

/// A communicator with a topology; by slot, the edges of this rank as indices into `links`.
struct Graph {
  int rank = 0, ranks = 1;
  std::vector<Link> links; ///< of all ranks
  std::vector<size_t> out, in;
  MPI_Comm comm = MPI_COMM_NULL;

  Graph() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  ~Graph() { MPI_Comm_free(&comm); }
  Graph(const Graph &) = delete;

  void add(int from, int to, int weight = 1) {
    if (from == rank)
      out.push_back(links.size());
    if (to == rank)
      in.push_back(links.size());
    links.push_back({from, to, weight});
  }

  void create(bool isWeighted = false) {
    std::vector<int> sources, targets, in_, out_;
    for (size_t link : in) {
      sources.push_back(links[link].from);
      in_.push_back(links[link].weight);
    }
    for (size_t link : out) {
      targets.push_back(links[link].to);
      out_.push_back(links[link].weight);
    }
    in_.push_back(0); // MPI_WEIGHTS_EMPTY is not needed
    out_.push_back(0);
    MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
        isWeighted ? in_.data() : MPI_UNWEIGHTED, static_cast<int>(targets.size()), targets.data(),
        isWeighted ? out_.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }

  NeighborGraph *known() const { return KnownComms::of(comm)->topology().graph().get(); }
};

/// Every third rank has no edges, save in graphs of one or two ranks.
void addRandom(Graph &graph, unsigned seed) {
  std::minstd_rand random(seed);
  auto hasEdges = [&](int r) { return graph.ranks < 3 || (r + static_cast<int>(seed)) % 3 != 0; };
  for (int from = 0; from < graph.ranks; ++from)
    for (int to = 0; to < graph.ranks; ++to)
      for (unsigned i = random() % 4; i > 0; --i)
        if (hasEdges(from) && hasEdges(to))
          graph.add(from, to);
}

/// Rank 0 and each other rank, both ways.
void addHub(Graph &graph) {
  for (int r = 1; r < graph.ranks; ++r) {
    graph.add(0, r);
    graph.add(r, 0);
  }
}

int valueOf(size_t block, int call, int i) {
  return static_cast<int>(block) * 1'000'003 + call * 7919 + i * 31;
}

/// So many ints go in the block of an edge, or of a rank.
using Counts = std::function<int(size_t block, int call)>;

int alikeIn(size_t, int call) { return call % 4 == 3 ? 6000 : 1 + call % 3 * 40; }
int ownOf(size_t block, int call) {
  constexpr int kCounts[] = {0, 1, 90, 3, 5000, 17, 128};
  return kCounts[(block * 3 + static_cast<size_t>(call % 3)) % 7];
}

/// A call and its data. Allgathers have the block of a rank in place of that of an edge.
class Call {
public:
  Call(const Graph &graph, CallKind kind, int number)
      : graph_(graph), kind_(kind), number_(number),
        isSame_(kind == CallKind::NeighborAllgather || kind == CallKind::NeighborAllgatherv),
        counts_(kind == CallKind::NeighborAllgather || kind == CallKind::NeighborAlltoall ? alikeIn
                                                                                          : ownOf) {
    if (isSame_)
      append(static_cast<size_t>(graph.rank), sent_, outCounts_, outPlaces_);
    for (size_t link : graph.out)
      if (!isSame_)
        append(link, sent_, outCounts_, outPlaces_);
    for (size_t link : graph.in)
      append(blockOf(link), expected_, inCounts_, inPlaces_);
    got_.assign(expected_.size() + 1, -1);
    sent_.push_back(0);
    types_.assign(graph.in.size() + graph.out.size() + 1, MPI_INT);
  }

  int block() {
    MPI_Comm comm = graph_.comm;
    int count = counts_(0, number_);
    switch (kind_) {
    case CallKind::NeighborAllgather:
      return MPI_Neighbor_allgather(sent_.data(), count, MPI_INT, got_.data(), count, MPI_INT,
                                    comm);
    case CallKind::NeighborAllgatherv:
      return MPI_Neighbor_allgatherv(sent_.data(), outCounts_[0], MPI_INT, got_.data(),
                                     inCounts_.data(), inPlaces_.data(), MPI_INT, comm);
    case CallKind::NeighborAlltoall:
      return MPI_Neighbor_alltoall(sent_.data(), count, MPI_INT, got_.data(), count, MPI_INT, comm);
    case CallKind::NeighborAlltoallv:
      return MPI_Neighbor_alltoallv(sent_.data(), outCounts_.data(), outPlaces_.data(), MPI_INT,
                                    got_.data(), inCounts_.data(), inPlaces_.data(), MPI_INT, comm);
    default:
      return MPI_Neighbor_alltoallw(sent_.data(), outCounts_.data(), bytesOf(outPlaces_, outBytes_),
                                    types_.data(), got_.data(), inCounts_.data(),
                                    bytesOf(inPlaces_, inBytes_), types_.data(), comm);
    }
  }
  int begin() {
    return MPI_Ineighbor_alltoallv(sent_.data(), outCounts_.data(), outPlaces_.data(), MPI_INT,
                                   got_.data(), inCounts_.data(), inPlaces_.data(), MPI_INT,
                                   graph_.comm, &request);
  }
  int initialize() {
    return COLLDSL_MPI_PERSISTENT(Neighbor_alltoallv_init)(
        sent_.data(), outCounts_.data(), outPlaces_.data(), MPI_INT, got_.data(), inCounts_.data(),
        inPlaces_.data(), MPI_INT, graph_.comm, MPI_INFO_NULL, &request);
  }

  bool isRight() const { return std::equal(expected_.begin(), expected_.end(), got_.begin()); }

  MPI_Request request = MPI_REQUEST_NULL;

private:
  size_t blockOf(size_t link) const {
    return isSame_ ? static_cast<size_t>(graph_.links[link].from) : link;
  }
  void append(size_t block, std::vector<int> &data, std::vector<int> &counts,
              std::vector<int> &places) {
    counts.push_back(counts_(block, number_));
    places.push_back(static_cast<int>(data.size()));
    for (int i = 0; i < counts.back(); ++i)
      data.push_back(valueOf(block, number_, i));
  }
  static const MPI_Aint *bytesOf(const std::vector<int> &places, std::vector<MPI_Aint> &bytes) {
    for (int place : places)
      bytes.push_back(place * static_cast<MPI_Aint>(sizeof(int)));
    bytes.push_back(0);
    return bytes.data();
  }

  const Graph &graph_;
  CallKind kind_;
  int number_;
  bool isSame_;
  Counts counts_;
  std::vector<int> sent_, got_, expected_, outCounts_, outPlaces_, inCounts_, inPlaces_;
  std::vector<MPI_Aint> outBytes_, inBytes_;
  std::vector<MPI_Datatype> types_;
};

constexpr CallKind kKinds[] = {CallKind::NeighborAllgather, CallKind::NeighborAllgatherv,
                               CallKind::NeighborAlltoall, CallKind::NeighborAlltoallv,
                               CallKind::NeighborAlltoallw};

std::shared_ptr<LearnedClass> classOf(MPI_Comm comm, CallKind kind) {
  return KnownComms::of(comm)->learner()->find({kind});
}

/// Until it is decided what serves such calls, and some more; without a graph some calls.
void repeat(const Graph &graph, CallKind kind) {
  constexpr int kMost = 900, kMore = 12;
  int more = kMore;
  for (int number = 0; number < kMost && more > 0; ++number) {
    Call call(graph, kind, number);
    ASSERT_EQ(call.block(), MPI_SUCCESS) << "call " << number;
    ASSERT_TRUE(call.isRight()) << factsOf(kind).name << ", call " << number;
    std::shared_ptr<LearnedClass> learned =
        graph.known() ? classOf(graph.comm, kind) : std::shared_ptr<LearnedClass>();
    ASSERT_EQ(learned != nullptr, graph.known() != nullptr);
    more -= !learned || learned->trials.isOver();
  }
  EXPECT_EQ(more, 0) << "nothing was decided";
}

class NeighborLearn : public ::testing::Test {
protected:
  void SetUp() override {
    if (!Settings::all().learnsAlways())
      GTEST_SKIP() << "with COLLDSL_LEARN=always";
  }
};

TEST_F(NeighborLearn, EveryWayDeliversAlongRandomGraphs) {
  std::set<std::string> tried;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Graph graph;
    addRandom(graph, seed);
    graph.create();
    for (CallKind kind : kKinds) {
      repeat(graph, kind);
      if (HasFatalFailure())
        return;
      if (!graph.known())
        continue;
      std::shared_ptr<LearnedClass> learned = classOf(graph.comm, kind);
      EXPECT_TRUE(learned->trials.isDecided());
      for (const TunedCollective &what : learned->what)
        tried.insert(what.name);
    }
  }
  if (Job::current()->remote() && Job::current()->topology().numRanks() > 4) {
    EXPECT_TRUE(tried.count("direct_in_rounds"));
    EXPECT_TRUE(tried.count("by_node") || tried.count("by_node_busiest"));
  }
}

TEST_F(NeighborLearn, AllRanksTryTheSameWaysAndDecideAlike) {
  Graph graph;
  addHub(graph);
  graph.create();
  if (!graph.known())
    GTEST_SKIP() << "for several nodes";
  CallKind kind = CallKind::NeighborAlltoall;
  auto runsOf = [&](const std::string &name) { return Summary::all().algorithm(kind, name).runs; };
  const auto &ways = graph.known()->ways(false);
  std::vector<uint64_t> before;
  for (const NeighborGraph::Way &way : ways)
    before.push_back(runsOf(way->name));
  repeat(graph, kind);
  std::shared_ptr<LearnedClass> learned = classOf(graph.comm, kind);
  ASSERT_TRUE(learned->trials.isDecided());
  EXPECT_EQ(learned->what.size(), ways.size()) << "all are tried";
  std::vector<uint64_t> mine = {learned->trials.best(), learned->trials.trialCalls()};
  for (size_t i = 0; i < ways.size(); ++i) {
    mine.push_back(runsOf(ways[i]->name) - before[i]);
    EXPECT_EQ(mine.back() > 0, ways[i]->name != learned->what[Trials::kShipped].name)
        << ways[i]->name;
  }
  mine.resize(2 + Trials::kMostCandidates);
  std::vector<uint64_t> least(mine.size()), most(mine.size());
  auto count = static_cast<int>(mine.size());
  PMPI_Allreduce(mine.data(), least.data(), count, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  PMPI_Allreduce(mine.data(), most.data(), count, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
}

TEST_F(NeighborLearn, OtherFormsRunBesideTrialsAndAcrossTheDecision) {
  Graph graph;
  addHub(graph);
  addRandom(graph, 7);
  graph.create();
  for (int number = 0; number < 80; ++number) {
    Call first(graph, CallKind::NeighborAlltoallv, number);
    Call second(graph, CallKind::NeighborAlltoallv, number + 1);
    Call between(graph, CallKind::NeighborAlltoallv, number + 2);
    Call kept(graph, CallKind::NeighborAlltoallv, number + 3);
    ASSERT_EQ(first.begin(), MPI_SUCCESS);
    bool isPersistent = number % 20 == 0;
    if (isPersistent) {
      ASSERT_EQ(kept.initialize(), MPI_SUCCESS);
    }
    ASSERT_EQ(between.block(), MPI_SUCCESS);
    ASSERT_EQ(second.begin(), MPI_SUCCESS);
    if (isPersistent) {
      ASSERT_EQ(MPI_Start(&kept.request), MPI_SUCCESS);
    }
    for (Call *call : {&second, &kept, &first})
      ASSERT_EQ(MPI_Wait(&call->request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_TRUE(first.isRight() && second.isRight() && between.isRight()) << number;
    if (isPersistent) {
      ASSERT_TRUE(kept.isRight()) << number;
      MPI_Request_free(&kept.request);
    }
  }
}

// Slots of a grid without a neighbor beyond the border, and dimensions of one and two places.
TEST_F(NeighborLearn, GridsAreGraphsToo) {
  Graph graph;
  std::vector<int> sizes = {graph.ranks, 1}, periods = {0, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes.data(), periods.data(), 0, &graph.comm);
  for (int number = 0; number < 300; ++number) {
    int sent[4], got[4] = {-1, -1, -1, -1};
    for (int slot = 0; slot < 4; ++slot)
      sent[slot] = number * 1000 + graph.rank * 4 + slot;
    ASSERT_EQ(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, graph.comm), MPI_SUCCESS);
    int below = graph.rank - 1, above = graph.rank + 1;
    EXPECT_EQ(got[0], below < 0 ? -1 : number * 1000 + below * 4 + 1);
    EXPECT_EQ(got[1], above == graph.ranks ? -1 : number * 1000 + above * 4);
    EXPECT_EQ(got[2], sent[3]);
    EXPECT_EQ(got[3], sent[2]);
  }
  EXPECT_TRUE(!graph.known() ||
              classOf(graph.comm, CallKind::NeighborAlltoall)->trials.isDecided());
}

// Edges that weigh more are longer in the model, so that it predicts another time.
TEST_F(NeighborLearn, WeightsAreLengths) {
  auto predicted = [](int ofRank0, int ofOthers, bool isWeighted) {
    Graph graph;
    for (int from = 0; from < graph.ranks; ++from)
      for (int to = 0; to < graph.ranks; ++to)
        if (from != to)
          graph.add(from, to, from == 0 ? ofRank0 : ofOthers);
    graph.create(isWeighted);
    return graph.known() ? graph.known()->ways(false).front()->afterNs : 0;
  };
  uint64_t alike = predicted(1, 1, false);
  EXPECT_EQ(predicted(40, 40, true), alike);
  uint64_t heavy = predicted(64, 1, true);
  EXPECT_EQ(heavy > alike, alike > 0);
  EXPECT_EQ(predicted(64, 1, false), alike) << "weights that MPI was not told";
}

} // namespace
} // namespace colldsl::mpi::test
