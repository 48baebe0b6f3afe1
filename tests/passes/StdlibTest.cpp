// Every DAG pass on every collective of the standard library that can be had with its defaults.
#include "passes/Pipeline.h"
#include "tests/passes/Make.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

std::string noSuggestion(std::string_view, const std::vector<std::string_view> &) { return {}; }

struct Made {
  std::string name;
  Schedule schedule;
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
      all.push_back({name, made.take()});
  }
  return all;
}

class EachPass : public testing::TestWithParam<const char *> {};

TEST_P(EachPass, IsProvedAndNeverSlower) {
  constexpr uint32_t kRanks = 8;
  Topology topology = *Topology::make("node:2 package:2 core:2", kRanks);
  Pipeline pipeline = *Pipeline::parse(GetParam(), noSuggestion);
  size_t tried = 0;
  for (const auto &[name, schedule] : allCollectives(kRanks, topology)) {
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

class EachPassAnyway : public testing::TestWithParam<const char *> {};

// Where the model says that it does not help, too.
TEST_P(EachPassAnyway, IsProved) {
  constexpr uint32_t kRanks = 6;
  Topology topology = *Topology::make("node:2 package:1 core:3", kRanks);
  Pipeline pipeline = *Pipeline::parse(GetParam(), noSuggestion);
  for (const auto &[name, schedule] : allCollectives(kRanks, topology)) {
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
