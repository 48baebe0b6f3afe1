// Instantiation: size classes, matching, limits, and that a schedule made at one size
// is the one made at another of its class.
#include "instantiate/Instantiate.h"
#include "compiler/Compile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace colldsl {
namespace {

/// Compiles a text on its own.
class Source {
public:
  explicit Source(const std::string &text)
      : path_(testing::TempDir() + "/colldsl-" + std::to_string(getpid()) + "-" +
              std::to_string(next_++) + ".coll") {
    std::ofstream(path_) << text;
    compilation_ = compileFiles({path_});
    for (const Diagnostic &d : compilation_.diagnostics())
      ADD_FAILURE() << compilation_.render(d);
  }
  ~Source() { std::filesystem::remove(path_); }

  InstantiateRequest request(const std::string &name, uint32_t ranks, uint64_t n) const {
    InstantiateRequest r;
    r.collective = program().find(name, DeclKind::Collective);
    r.ranks = ranks;
    r.elements = n;
    return r;
  }
  const Program &program() const { return compilation_.program(); }

private:
  static inline int next_ = 0;
  std::string path_;
  Compilation compilation_;
};

/// Edges of a rank's DAG as (op, dependency).
std::vector<std::pair<uint32_t, uint32_t>> edges(const Dag &dag) {
  std::vector<std::pair<uint32_t, uint32_t>> result;
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      result.push_back({i, index(dep.op)});
  std::sort(result.begin(), result.end());
  return result;
}

Schedule make(const Source &source, const InstantiateRequest &request) {
  Result<Schedule> schedule = instantiateAll(source.program(), request);
  EXPECT_TRUE(schedule.ok()) << (schedule.ok() ? "" : schedule.message());
  return schedule.ok() ? schedule.take() : Schedule();
}

/// Whether every edge follows from those of the DAG, directly or through others.
bool orders(const Dag &dag, const std::vector<std::pair<uint32_t, uint32_t>> &wanted) {
  std::vector<std::vector<bool>> before(dag.size(), std::vector<bool>(dag.size()));
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i])) {
      before[i][index(dep.op)] = true;
      for (uint32_t j = 0; j < index(dep.op); ++j)
        before[i][j] = before[i][j] || before[index(dep.op)][j];
    }
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](auto edge) { return before[edge.first][edge.second]; });
}

/// At small sizes pieces are empty and conflict with nothing: then a schedule made for
/// larger ones has more edges than needed, never fewer.
TEST(Instantiate, OneScheduleServesEverySizeOfItsClass) {
  Source source("");
  for (const char *name : {"allgather_ring", "allreduce_ring", "bcast_tree"}) {
    Schedule one = make(source, source.request(name, 5, 30'000));
    for (uint64_t n : {one.sizeClass.min, one.sizeClass.min + 1, uint64_t{7}, uint64_t{30'001}}) {
      if (!one.sizeClass.contains(n))
        continue;
      Schedule other = make(source, source.request(name, 5, n));
      for (uint32_t r = 0; r < 5; ++r) {
        EXPECT_TRUE(orders(one.ranks[r], edges(other.ranks[r]))) << name << " at " << n;
        EXPECT_EQ(one.ranks[r].slices, other.ranks[r].slices) << name << " at " << n;
      }
    }
    Schedule larger = make(source, source.request(name, 5, 30'003));
    ASSERT_TRUE(one.sizeClass.contains(30'003));
    EXPECT_EQ(edges(one.ranks[1]), edges(larger.ranks[1])) << name;
    EXPECT_EQ(one.sizeClass.min, larger.sizeClass.min) << name;
    EXPECT_EQ(one.sizeClass.max, larger.sizeClass.max) << name;
  }
}

TEST(Instantiate, SegmentCountsBoundTheClass) {
  Source source("");
  InstantiateRequest r = source.request("bcast_tree", 4, 40'000); // 160,000 B in 64 KiB: 3
  Schedule schedule = make(source, r);
  EXPECT_EQ(schedule.sizeClass.min, 2u * 16'384 + 1);
  EXPECT_EQ(schedule.sizeClass.max, 3u * 16'384);
}

TEST(Instantiate, UsingTheSizeAsANumberPinsIt) {
  Source source("collective c(inout x: T[n], root: rank = 0) ensures x == x@root {\n"
                "  if n > 10 { bcast_binomial(x, root); } else { bcast_flat(x, root); }\n}\n");
  Schedule schedule = make(source, source.request("c", 3, 12));
  EXPECT_EQ(schedule.sizeClass.min, 12u);
  EXPECT_EQ(schedule.sizeClass.max, 12u);
}

TEST(Instantiate, OneRankAloneIsTheRankOfAll) {
  Source source("");
  for (const char *name :
       {"allreduce_recursive_doubling", "bcast_hierarchical", "alltoall_rotated"}) {
    InstantiateRequest r = source.request(name, 6, 100);
    Schedule all = make(source, r);
    Instantiator alone(source.program(), r);
    Dag dag;
    for (uint32_t rank : {5u, 0u, 3u}) {
      ASSERT_TRUE(alone.instantiate(Rank{rank}, dag).ok());
      EXPECT_EQ(edges(dag), edges(all.ranks[rank])) << name;
      EXPECT_EQ(dag.size(), all.ranks[rank].size()) << name;
    }
  }
}

TEST(Instantiate, TheIdsOfOneRankAloneMeet) {
  Source source("");
  InstantiateRequest r = source.request("allgather_recursive_doubling", 7, 10);
  Instantiator instantiator(source.program(), r);
  std::vector<std::tuple<uint32_t, uint32_t, uint64_t>> sends, receives;
  Dag dag;
  for (uint32_t rank = 0; rank < 7; ++rank) {
    ASSERT_TRUE(instantiator.instantiate(Rank{rank}, dag).ok());
    for (const Op &op : dag.ops)
      if (sendsMessage(op.kind))
        sends.push_back({rank, index(op.peer), value(op.message)});
      else if (receivesMessage(op.kind))
        receives.push_back({index(op.peer), rank, value(op.message)});
  }
  std::sort(sends.begin(), sends.end());
  std::sort(receives.begin(), receives.end());
  EXPECT_FALSE(sends.empty());
  EXPECT_EQ(sends, receives);
  EXPECT_EQ(std::unique(sends.begin(), sends.end()), sends.end());
}

TEST(Instantiate, LimitsEndWithAMessage) {
  Source source("collective c(inout x: T[n]) { for i in 0..1000000000 { calc 1ns; } }\n");
  InstantiateRequest r = source.request("c", 1, 1);
  r.limits.maxOps = 1000;
  Result<Schedule> ops = instantiateAll(source.program(), r);
  ASSERT_FALSE(ops.ok());
  EXPECT_EQ(ops.message(), "with this statement the rank has 1001 ops, the limit is 1000");
  r.limits.maxOps = 16'000'000;
  r.limits.maxSteps = 5000;
  Result<Schedule> steps = instantiateAll(source.program(), r);
  ASSERT_FALSE(steps.ok());
  EXPECT_NE(steps.message().find("more than 5000 loop iterations"), std::string::npos);
}

/// Each of the copies of all of x follows those that write its parts, whose number grows.
TEST(Instantiate, DependenciesEndWithAMessage) {
  Source source("collective c(inout x: T[n], inout y: T[n]) {\n"
                "  for i in 1..100 {\n"
                "    copy y[0..1] to x[i - 1..i];\n"
                "    send x to rank;\n"
                "  }\n"
                "  for i in 1..100 { recv y from rank; }\n"
                "}\n");
  InstantiateRequest r = source.request("c", 1, 1000);
  r.limits.maxDeps = 2000;
  Result<Schedule> deps = instantiateAll(source.program(), r);
  ASSERT_FALSE(deps.ok());
  const Diagnostic &d = deps.status().diagnostic();
  EXPECT_EQ(d.message.find("with this statement the rank has 20"), 0u) << d.message;
  EXPECT_NE(d.message.find(" dependencies, the limit is 2000"), std::string::npos) << d.message;
  EXPECT_EQ(d.hint, "raise the limit with --max-deps, or let fewer ops touch the same elements");
  EXPECT_TRUE(d.loc.line == 3 || d.loc.line == 4) << d.loc.line;
  ASSERT_FALSE(d.notes.empty());
  EXPECT_EQ(d.notes[0].message, "in 'c'");
  EXPECT_EQ(d.notes[0].loc.line, 1u);

  r.limits.maxDeps = 1'000'000;
  Schedule schedule = make(source, r);
  uint64_t count = 0;
  for (const Op &op : schedule.ranks[0].ops)
    count += op.depCount;
  r.limits.maxDeps = count;
  r.limits.maxTotalDeps = count;
  EXPECT_TRUE(instantiateAll(source.program(), r).ok());
  r.limits.maxTotalDeps = count - 1;
  Result<Schedule> total = instantiateAll(source.program(), r);
  ASSERT_FALSE(total.ok());
  EXPECT_EQ(total.message(), "the first 1 of 1 ranks of 'c' have " + std::to_string(count) +
                                 " dependencies, the limit for all is " +
                                 std::to_string(count - 1));
}

TEST(Instantiate, CallsThatNotAllMembersMakeAreRefused) {
  Source source("collective c(inout x: T[n]) ensures x == x@0 {\n"
                "  if rank != 2 { bcast_flat(x, root = 0); }\n}\n");
  Result<Schedule> schedule = instantiateAll(source.program(), source.request("c", 4, 1));
  ASSERT_FALSE(schedule.ok());
  EXPECT_NE(schedule.message().find("of the 4 ranks of the group only 3"), std::string::npos)
      << schedule.message();
}

/// The kinds and peers of a rank's ops.
std::vector<std::array<uint64_t, 4>> opsOf(const Dag &dag) {
  std::vector<std::array<uint64_t, 4>> ops;
  for (const Op &op : dag.ops)
    ops.push_back({static_cast<uint64_t>(op.kind), index(op.peer),
                   static_cast<uint64_t>(op.message), op.depCount});
  return ops;
}

const char *const kGroups = R"(
/// The first and second leaders of the nodes, with and without a rank that must lead.
collective all_who_lead(in x: T[n], root: rank = 7) {
  let heads = leaders(node, include = root);
  for i in 0..heads.size { if rank != heads.member(i) { signal to heads.member(i); } }
  let usual = leaders(node);
  for i in 0..usual.size { if rank != usual.member(i) { signal to usual.member(i); } }
  for k in 0..2 {
    let far = leader(socket, include = root, index = k);
    let near = leader(socket, index = k);
    if far != none and far != rank { signal to far; }
    if near != none and near != rank { signal to near; }
  }
}
)";

// Groups and views of trees are kept from rank to rank: each rank is as it is alone.
TEST(Instantiate, CachesBetweenRanksChangeNothing) {
  constexpr uint32_t kRanks = 12;
  Source source(kGroups);
  Topology topology = *Topology::make("node:2 package:2 core:3 bind=scatter", kRanks);
  LeaderOrder backwards;
  std::vector<uint32_t> places;
  for (uint32_t r = 0; r < kRanks; ++r)
    places.push_back(kRanks - r);
  backwards.places.fill(places);
  for (const char *name :
       {"all_who_lead", "allgather_distance_ring", "allgather_leaders",
        "allgather_concurrent_bcast", "bcast_hierarchical", "reduce_two_leaders"})
    for (const LeaderOrder *leaders : {static_cast<const LeaderOrder *>(nullptr),
                                       static_cast<const LeaderOrder *>(&backwards)}) {
      InstantiateRequest request = source.request(name, kRanks, 48);
      request.topology = &topology;
      request.leaders = leaders;
      Instantiator all(source.program(), request);
      for (uint32_t i = 0; i < 2 * kRanks; ++i) {
        Rank rank{i * 5 % kRanks};
        Dag kept, alone;
        ASSERT_TRUE(all.instantiate(rank, kept).ok()) << name;
        ASSERT_TRUE(Instantiator(source.program(), request).instantiate(rank, alone).ok());
        EXPECT_EQ(opsOf(kept), opsOf(alone)) << name << ", rank " << index(rank);
      }
    }
}

// Ranks 3, 7 and 11 share a socket.
TEST(Instantiate, ADemandedRankLeadsAndTheOthersFollow) {
  Source source(kGroups);
  Topology topology = *Topology::make("node:2 package:2 core:3 bind=scatter", 12);
  InstantiateRequest request = source.request("all_who_lead", 12, 48);
  request.topology = &topology;
  Dag dag;
  ASSERT_TRUE(Instantiator(source.program(), request).instantiate(Rank{11}, dag).ok());
  std::vector<uint32_t> peers;
  for (const Op &op : dag.ops)
    peers.push_back(index(op.peer));
  EXPECT_EQ(peers, (std::vector<uint32_t>{0, 7, 0, 1, 7, 3, 3, 7}));
}

// A tree as a value is the tree in the language with the same edges.
TEST(Instantiate, ATreeMayBeGivenAsAValue) {
  constexpr uint32_t kRanks = 5;
  Source source("");
  InstantiateRequest request = source.request("bcast_tree", kRanks, 100);
  const Decl &decl = source.program().decl(request.collective);
  size_t t = 0;
  while (source.program().nameOf(decl.params[t]) != "t")
    ++t;
  auto chain = std::make_shared<GivenTree>(kRanks);
  for (uint32_t r = 1; r < kRanks; ++r)
    chain->connect(Rank{r - 1}, Rank{r});
  request.values.resize(decl.params.size());
  request.values[t] = chain;
  Schedule given = make(source, request);
  Schedule written = make(source, source.request("bcast_chain", kRanks, 100));
  for (uint32_t r = 0; r < kRanks; ++r)
    EXPECT_EQ(given.ranks[r].size(), written.ranks[r].size());
  EXPECT_EQ(given.ranks[1].ops.front().peer, Rank{0});

  auto wrong = std::make_shared<GivenTree>(kRanks);
  wrong->connect(Rank{0}, Rank{1});
  request.values[t] = std::shared_ptr<const GivenTree>(wrong);
  Result<Schedule> refused = instantiateAll(source.program(), request);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("the tree that was given over 5 ranks: it has 4 roots"),
            std::string::npos)
      << refused.message();
  request.values[t] = std::make_shared<const GivenTree>(kRanks + 1);
  refused = instantiateAll(source.program(), request);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("has 6 ranks, but it is used by 5"), std::string::npos)
      << refused.message();
}

TEST(Instantiate, ExpressionsOverParametersHaveValues) {
  Source source("collective c(inout x: T[n], root: rank = ranks - 2, t: tree = chain(root),\n"
                "             k: int = 2 in 1..ranks) { bcast_tree(x, root = root, t = t); }\n"
                "collective d(inout x: T[n], root: rank) { }\n");
  InstantiateRequest request = source.request("c", 7, 10);
  const Decl &decl = source.program().decl(request.collective);
  EXPECT_EQ(*evaluateAtEntry(source.program(), request, decl.params[2].defaultValue), 5);
  EXPECT_EQ(*evaluateAtEntry(source.program(), request, decl.params[3].candidates[0].hi), 7);
  Result<int64_t> none = evaluateAtEntry(source.program(), source.request("d", 7, 10),
                                         decl.params[3].candidates[0].hi);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.message().rfind("parameter 'root' has no value", 0), 0u) << none.message();
}

} // namespace
} // namespace colldsl
