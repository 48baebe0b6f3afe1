// Every DAG pass on every collective of the standard library that can be had with its defaults.
#include "passes/Pipeline.h"
#include "tests/passes/Make.h"

#include <fstream>
#include <gtest/gtest.h>

namespace colldsl {
namespace {

std::string noSuggestion(std::string_view, const std::vector<std::string_view> &) { return {}; }

struct Made {
  std::string name;
  Schedule schedule;
  std::vector<std::pair<std::string, std::string>> arguments;
};

std::vector<Made> allCollectives(uint32_t ranks, const Topology &topology) {
  std::vector<Made> all;
  const std::vector<Decl> decls = stdlibForTests().program().decls;
  for (const Decl &decl : decls) {
    std::string name = stdlibForTests().program().nameOf(decl);
    if (decl.kind != DeclKind::Collective)
      continue;
    std::vector<std::pair<std::string, std::string>> arguments;
    bool hasCallTimeBlocks = false;
    for (const Param &param : decl.params) {
      DimKind dim = param.buffer.dim[param.buffer.dims - 1].kind;
      hasCallTimeBlocks |= param.isBuffer && (dim == DimKind::CallTime || dim == DimKind::Capacity);
      std::string word = stdlibForTests().program().nameOf(param);
      if (!param.isBuffer && param.type == ValueType::Graph)
        arguments.emplace_back(word, "torus([2, " + std::to_string(ranks / 2) + "])");
    }
    Result<Schedule> made = makeForTest(name, ranks, 48, arguments, &topology);
    if (made && !hasCallTimeBlocks)
      all.push_back({name, made.take(), arguments});
  }
  return all;
}

class EachPass : public testing::TestWithParam<const char *> {};

TEST_P(EachPass, IsProvedAndNeverSlower) {
  constexpr uint32_t kRanks = 8;
  Topology topology = *Topology::make("node:2 package:2 core:2", kRanks);
  Pipeline pipeline = *Pipeline::parse(GetParam(), noSuggestion);
  size_t tried = 0;
  for (const auto &[name, schedule, arguments] : allCollectives(kRanks, topology)) {
    std::vector<Sizes> sizes = sizesForTest(schedule);
    Result<Schedule> made = pipeline.run(schedule, {topology, sizes, CostModel()});
    ASSERT_TRUE(made.ok()) << name << ": " << made.message();
    EXPECT_EQ(refusalForTest(*made), "") << name;
    EXPECT_LE(timeForTest(*made), timeForTest(schedule)) << name;
    ++tried;
  }
  EXPECT_GT(tried, 60u);
}

INSTANTIATE_TEST_SUITE_P(Defaults, EachPass,
                         testing::Values("edge-coloring", "tree-rebalance", "combine-messages",
                                         "combine-messages{by=node}", "fuse", "protocol",
                                         "direction", "canary-rte", "rtr-tree", "choose"));

struct Place {
  uint32_t ranks;
  const char *topology;
};

void PrintTo(const Place &place, std::ostream *out) {
  *out << place.ranks << " ranks on " << place.topology;
}

/// On a flat machine, or as the file in topology/models says.
CostModel costFor(bool isFlat) {
  CostModel cost;
  if (!isFlat) {
    std::ifstream file(COLLDSL_MODELS "/cluster.json");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    cost.machine = *MachineModel::parse(text);
  }
  return cost;
}

/// Notes all that was chosen.
class Listener : public PassObserver {
public:
  Status ran(std::string_view, const DagOutcome &outcome, double) override {
    told += outcome.remark + "\n";
    return {};
  }
  Status bound(std::string_view, const BindOutcome &outcome, double) override {
    told += outcome.remark + "\n";
    return {};
  }
  std::string told;
};

/// Times of a collective without and with a pipeline.
struct Times {
  uint64_t before = 0, after = 0;
};

Times improve(const Made &made, const Place &place, uint64_t elements, const Topology &topology,
              const Pipeline &pipeline, const CostModel &cost, Listener &listener) {
  const Program &stdlib = stdlibForTests().program();
  InstantiateRequest request =
      *requestForTest(made.name, place.ranks, elements, made.arguments, &topology);
  Schedule plain = *instantiateAll(stdlib, request);
  Result<BindOutcome> bound = pipeline.bind({stdlib, request, cost}, &listener);
  EXPECT_TRUE(bound.ok()) << made.name << ": " << bound.message();
  for (const ParameterBinding &binding : bound->bindings)
    bindTo(binding, request);
  request.leaders = bound->leaders.get();
  std::vector<Sizes> sizes = sizesForTest(plain);
  Result<Schedule> better =
      pipeline.run(*instantiateAll(stdlib, request), {topology, sizes, cost}, &listener);
  EXPECT_TRUE(better.ok()) << made.name << ": " << better.message();
  EXPECT_EQ(refusalForTest(*better), "") << made.name;
  return {*cost.makespanNs(plain, sizes, topology), *cost.makespanNs(*better, sizes, topology)};
}

class DefaultPipeline
    : public testing::TestWithParam<std::tuple<Place, bool, const char *, uint64_t>> {};

// Tuning parameters bound as the simulator says, then what helps.
TEST_P(DefaultPipeline, NeverMakesACollectiveSlower) {
  const auto &[place, isFlat, passes, elements] = GetParam();
  Topology topology = *Topology::make(place.topology, place.ranks);
  CostModel cost = costFor(isFlat);
  Pipeline pipeline = *Pipeline::parse(passes, noSuggestion);
  Listener listener;
  size_t tried = 0, faster = 0;
  for (const Made &made : allCollectives(place.ranks, topology)) {
    Times times = improve(made, place, elements, topology, pipeline, cost, listener);
    EXPECT_LE(times.after, times.before) << made.name;
    faster += times.after < times.before;
    ++tried;
  }
  EXPECT_GT(tried, 60u);
  EXPECT_GT(faster, 5u);
}

INSTANTIATE_TEST_SUITE_P(Machines, DefaultPipeline,
                         testing::Combine(testing::Values(Place{8, "node:2 package:2 core:2"},
                                                          Place{8, "node:4 core:2 bind=scatter"},
                                                          Place{12, "node:2 package:2 core:3"},
                                                          Place{12, "node:6 core:2 bind=scatter"}),
                                          testing::Bool(),
                                          testing::Values("default", "tune,choose{static=true}"),
                                          testing::Values(16, 4096)));

// There is a collective for each pass for which the default takes what that pass makes; leaders,
// rings and plain protocols have their turn in lit tests.
TEST(DefaultPipeline, TakesTheResultOfAnyPass) {
  Listener listener;
  for (const Place &place : {Place{12, "node:6 core:2 bind=scatter"}, Place{12, "l3:4 core:3"}})
    for (uint64_t elements : {2, 4096, 1 << 16}) {
      Topology topology = *Topology::make(place.topology, place.ranks);
      Pipeline pipeline = *Pipeline::parse("tune,choose{static=true}", noSuggestion);
      for (const Made &made : allCollectives(place.ranks, topology))
        improve(made, place, elements, topology, pipeline, costFor(false), listener);
    }
  for (const char *pass : {"fuse", "combine-messages", "combine-messages{by=node}", "direction",
                           "tree-rebalance", "edge-coloring", "protocol{static=true}", "canary-rte",
                           "rtr-tree", "optimal-tree", "distance-tree", "segment = "})
    EXPECT_NE(listener.told.find(pass), std::string::npos) << pass;
}

class EachPassAnyway : public testing::TestWithParam<const char *> {};

// Where the model says that it does not help, too.
TEST_P(EachPassAnyway, IsProved) {
  constexpr uint32_t kRanks = 6;
  Topology topology = *Topology::make("node:2 package:1 core:3", kRanks);
  Pipeline pipeline = *Pipeline::parse(GetParam(), noSuggestion);
  for (const auto &[name, schedule, arguments] : allCollectives(kRanks, topology)) {
    std::vector<Sizes> sizes = sizesForTest(schedule);
    Result<Schedule> made = pipeline.run(schedule, {topology, sizes, CostModel()});
    ASSERT_TRUE(made.ok()) << name << ": " << made.message();
    EXPECT_EQ(refusalForTest(*made), "") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forced, EachPassAnyway,
    testing::Values("edge-coloring{always=true}",
                    "edge-coloring{always=true;algorithm=welsh-powell}",
                    "protocol{static=true;eager=0x0x0x0},canary-rte{most=1MiB},rtr-tree{degree=1}",
                    "fuse,protocol{static=true},edge-coloring{always=true},rtr-tree"));

// Every pass is told of, and has options with help.
TEST(Passes, AllHaveNamesAndHelp) {
  for (const PassInfo &info : allPasses()) {
    EXPECT_EQ(findPass(info.name), &info);
    EXPECT_FALSE(info.summary.empty());
    std::unique_ptr<Pass> pass = info.make();
    PassOptions options = pass->options();
    for (const PassOptions::Option &option : options.all())
      EXPECT_FALSE(option.help.empty()) << info.name << " " << option.name;
  }
}

} // namespace
} // namespace colldsl
