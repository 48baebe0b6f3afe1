// Rules that are found from times, and the regrets of rules.
#include "driver/regret/FindRules.h"
#include "driver/regret/RulesRequest.h"
#include "driver/rules/Rules.h"
#include "stdlib/StdlibFiles.h"

#include <cmath>
#include <gtest/gtest.h>

namespace colldsl::driver {
namespace {

const Program &noProgram() {
  static const Program program;
  return program;
}

/// Calls of bcast on 2 to 64 nodes, with these times.
template <typename Times> std::vector<RuleCosts> costsOf(Times times) {
  std::vector<RuleCosts> costs;
  for (uint32_t nodes = 2; nodes <= 64; nodes *= 2)
    for (uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 8) {
      RuleCosts one;
      one.call = {0, {nodes, 1, nodes}, "bcast", bytes};
      times(one);
      costs.push_back(one);
    }
  return costs;
}

TEST(RegretTest, findsTheBoundsBetweenAlgorithms) {
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    one.ns["short"] = one.call.bytes <= 4096 ? 100 : 300;
    one.ns["long"] = one.call.bytes <= 4096 ? 400 : 100;
  });
  EXPECT_EQ(findRules(noProgram(), costs, {0.5, 1.4, 2}),
            (std::vector<std::string>{"bcast bytes ..16KiB nodes 2.. use short",
                                      "bcast nodes 2.. use long"}));
}

TEST(RegretTest, oneRuleServesWhereASplitGainsLittle) {
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    one.ns["always"] = 100;
    one.ns["hardly"] = one.call.bytes == 64 ? 99 : 120;
  });
  EXPECT_EQ(findRules(noProgram(), costs, {}), std::vector<std::string>{"bcast use always"});
}

TEST(RegretTest, noRuleNamesACollectiveThatCannotServe) {
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    if (one.call.shape.nodes != 16)
      one.ns["most"] = 100;
    one.ns["all"] = 130;
  });
  EXPECT_EQ(findRules(noProgram(), costs, {0.01, 1.4, 1}),
            std::vector<std::string>{"bcast use all"})
      << "other numbers of nodes, which are not among the calls, may be like 16";
}

TEST(RegretTest, theBytesOfAllRanksAreACondition) {
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    one.call.function = "allgather";
    bool isShort = one.call.bytes * one.call.shape.ranks <= 64 << 10;
    one.ns["short"] = isShort ? 100 : 300;
    one.ns["long"] = isShort ? 300 : 100;
  });
  EXPECT_EQ(findRules(noProgram(), costs, {}),
            (std::vector<std::string>{"allgather total ..64KiB use short", "allgather use long"}));
}

TEST(RegretTest, rulesThatRequireTcpComeFirst) {
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    one.call.isTcp = one.call.bytes > 64 && one.call.shape.nodes % 4 == 0;
    one.ns["wire"] = one.call.isTcp ? 300 : 100;
    one.ns["kernel"] = one.call.isTcp ? 100 : 300;
  });
  EXPECT_EQ(
      findRules(noProgram(), costs, {0.5, 1.4, 2}),
      (std::vector<std::string>{"bcast nodes 2.. tcp use kernel", "bcast nodes 2.. use wire"}));
}

TEST(RegretTest, splitsByTwoConditions) {
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    bool isOne = (one.call.bytes <= 4096) == (one.call.shape.nodes <= 8);
    one.ns["one"] = isOne ? 100 : 300;
    one.ns["other"] = isOne ? 300 : 100;
  });
  EXPECT_EQ(findRules(noProgram(), costs, {}).size(), 4u);
}

TEST(RegretTest, noRuleIsToBeSlowerThanThoseOfOthers) {
  auto costs = [](uint64_t bar) {
    return costsOf([bar](RuleCosts &one) {
      bool isOdd = one.call.bytes == 4096;
      one.ns["fast"] = isOdd ? 120 : 100;
      one.ns["even"] = 104;
      one.bar = isOdd ? bar : 0;
    });
  };
  EXPECT_EQ(findRules(noProgram(), costs(0), {100, 1.4, 1}),
            std::vector<std::string>{"bcast use fast"});
  EXPECT_EQ(findRules(noProgram(), costs(104), {100, 1.4, 1}),
            std::vector<std::string>{"bcast use even"});
}

TEST(RegretTest, farRegretsCountMore) {
  // "steady" is worse in the mean, and never bad.
  std::vector<RuleCosts> costs = costsOf([](RuleCosts &one) {
    one.ns["best"] = one.call.bytes == 8 && one.call.shape.nodes == 2 ? 2000 : 100;
    one.ns["steady"] = 104;
  });
  EXPECT_EQ(findRules(noProgram(), costs, {10, 1.4, 1}),
            std::vector<std::string>{"bcast use steady"});
}

TEST(RegretTest, judgesByTheBestOfTheLibrary) {
  Compilation library = compileFiles({});
  Result<std::vector<SelectionRule>> rules =
      readRules("own", "bcast bytes ..1KiB use bcast_flat\nbcast use bcast_binomial\n", library);
  ASSERT_TRUE(rules.ok()) << rules.message();
  RulesRequest request;
  request.shapes = "16x1";
  request.bytes = "8,64KiB";
  Result<RuleGrid> grid = request.grid(*rules);
  ASSERT_TRUE(grid.ok()) << grid.message();
  Result<std::vector<RuleCosts>> costs = predictCosts(library.program(), *rules, *grid, {});
  ASSERT_TRUE(costs.ok()) << costs.message();
  ASSERT_EQ(costs->size(), 2u);
  std::vector<RuleChoice> choices = judgeRules(library.program(), *rules, *grid, *costs);
  EXPECT_EQ(choices[0].chosen, "bcast_flat");
  EXPECT_EQ(choices[1].chosen, "bcast_binomial");
  for (const RuleChoice &choice : choices) {
    const RuleCosts &of = (*costs)[choice.call];
    EXPECT_EQ(choice.ns, of.ns.at(choice.chosen));
    EXPECT_DOUBLE_EQ(of.regret(choice.ns),
                     static_cast<double>(choice.ns) / static_cast<double>(of.best()));
    EXPECT_GE(of.regret(choice.ns), 1);
    EXPECT_GT(of.ns.size(), 5u) << "all of the library are candidates";
  }
}

TEST(RegretTest, shapesMayBeUneven) {
  Compilation library = compileFiles({});
  Result<std::vector<SelectionRule>> rules = readRules("own", "bcast use bcast_flat\n", library);
  ASSERT_TRUE(rules.ok());
  RulesRequest request;
  request.shapes = "3x4-2";
  Result<RuleGrid> grid = request.grid(*rules);
  ASSERT_TRUE(grid.ok()) << grid.message();
  EXPECT_EQ(grid->shapes.front().ranks, 10u);
  EXPECT_EQ(grid->shapes.front().words(), "3x4 less 2");
  for (const char *wrong : {"3", "0x4", "3x4-4", "3x4-x", "70000x2"}) {
    request.shapes = wrong;
    EXPECT_FALSE(request.grid(*rules).ok()) << wrong;
  }
}

} // namespace
} // namespace colldsl::driver
