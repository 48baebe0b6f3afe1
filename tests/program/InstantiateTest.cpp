// Instantiation: size classes, matching, limits, and that a schedule made at one size
// is the one made at another of its class.
#include "program/Instantiate.h"
#include "compiler/Compile.h"

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
  EXPECT_NE(ops.message().find("more than 1000 ops"), std::string::npos) << ops.message();
  r.limits.maxOps = 16'000'000;
  r.limits.maxSteps = 5000;
  Result<Schedule> steps = instantiateAll(source.program(), r);
  ASSERT_FALSE(steps.ok());
  EXPECT_NE(steps.message().find("more than 5000 loop iterations"), std::string::npos);
}

TEST(Instantiate, CallsThatNotAllMembersMakeAreRefused) {
  Source source("collective c(inout x: T[n]) ensures x == x@0 {\n"
                "  if rank != 2 { bcast_flat(x, root = 0); }\n}\n");
  Result<Schedule> schedule = instantiateAll(source.program(), source.request("c", 4, 1));
  ASSERT_FALSE(schedule.ok());
  EXPECT_NE(schedule.message().find("of the 4 ranks of the group only 3"), std::string::npos)
      << schedule.message();
}

} // namespace
} // namespace colldsl
