// The protocol over shared memory under weak memory, by the code that runs: all executions of small
// scenarios. And each memory order of its sources, weakened: then some scenario must go wrong.
#include "tests/explorer/weak/WeakOrders.h"
#include "tests/explorer/weak/WeakScenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test::weak {
namespace {

std::string identifier(std::string text) {
  for (char &c : text)
    c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return text;
}

class WeakScenario : public ::testing::TestWithParam<NamedScenario> {};

TEST_P(WeakScenario, isRight) {
  WeakExplorer explorer(GetParam().make);
  Exploration found = explorer.run();
  EXPECT_EQ(found.wrong, "");
  EXPECT_GT(found.ends, 0u);
  std::cout << found.states << " states\n";
}

INSTANTIATE_TEST_SUITE_P(All, WeakScenario, ::testing::ValuesIn(allScenarios()),
                         [](const auto &info) { return identifier(info.param.name); });

/// The lines that each scenario meets, so that a weakening is walked where it matters.
const std::vector<std::set<std::string>> &metByScenario() {
  static const std::vector<std::set<std::string>> met = [] {
    std::vector<std::set<std::string>> found;
    for (const NamedScenario &scenario : allScenarios()) {
      WeakExplorer explorer(scenario.make);
      explorer.run();
      found.push_back(explorer.met());
    }
    return found;
  }();
  return met;
}

bool meets(size_t scenario, const Weakening &weakening) {
  for (uint32_t line : weakening.lines)
    if (metByScenario()[scenario].count(weakening.file + ":" + std::to_string(line)))
      return true;
  return false;
}

void expectFound(const WeakOrder &order) {
  bool isMet = false, isFound = false;
  for (size_t i = 0; i < allScenarios().size() && !isFound; ++i) {
    if (!meets(i, order.weakening))
      continue;
    isMet = true;
    std::string wrong = WeakExplorer(allScenarios()[i].make, order.weakening).run().wrong;
    isFound = !wrong.empty();
    if (isFound)
      std::cout << order.name << ": " << allScenarios()[i].name << ": "
                << wrong.substr(0, wrong.find('\n')) << "\n";
  }
  EXPECT_EQ(isMet, order.isWalked) << order.name << "\n" << order.text;
  EXPECT_EQ(isFound, order.why.empty()) << order.name << "\n" << order.text;
}

// In one process, as all need the lines that the scenarios meet.
TEST(WeakOrders, areFound) {
  for (const std::string &file : filesOfWeakOrders())
    for (const WeakOrder &order : weakOrdersOf(COLLDSL_TREE, file))
      expectFound(order);
}

TEST(WeakReasons, areOfOrders) {
  EXPECT_EQ(unusedReasons(COLLDSL_TREE), std::vector<std::string>());
}

} // namespace
} // namespace colldsl::test::weak
