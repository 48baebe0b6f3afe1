// The published rules: GOAL files with the parameters, number of events and finish times of
// LogGOPSim, its known faults corrected (tests/simulator/cases/README.md).
#include "ir/TextForm.h"
#include "simulator/Simulate.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace colldsl::sim {
namespace {

struct Case {
  std::string name;
  LogGop parameters;
  uint64_t events = 0;
  std::vector<uint64_t> finish;
};

std::ostream &operator<<(std::ostream &out, const Case &c) { return out << c.name; }

std::string readFile(const std::string &name) {
  std::ifstream in(std::string(COLLDSL_SIMULATOR_CASES "/") + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Case> readCases() {
  std::vector<Case> cases;
  std::istringstream table(readFile("expected.tsv"));
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    Case c;
    double G = 0, O = 0;
    LogGop &p = c.parameters;
    fields >> c.name >> p.L >> p.o >> p.g >> G >> O >> p.S >> c.events;
    p.G = PerByte::fromNs(G);
    p.O = PerByte::fromNs(O);
    for (uint64_t time; fields >> time;)
      c.finish.push_back(time);
    cases.push_back(c);
  }
  return cases;
}

class CasesTest : public testing::TestWithParam<Case> {};

TEST_P(CasesTest, finishesAsPublished) {
  const Case &c = GetParam();
  ParsedText parsed = parseText(readFile(c.name + ".goal"), c.name);
  ASSERT_TRUE(parsed.errors.empty());
  WorkloadOptions packing;
  packing.isPlainGoal = true;
  Result<Workload> workload = packSchedule(parsed.schedule, {}, packing);
  ASSERT_TRUE(workload.ok()) << workload.message();
  SimulateOptions options;
  options.model = MachineModel::flat(c.parameters);
  Result<Outcome> outcome = simulate(*workload, options);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(outcome->finish, c.finish);
  EXPECT_EQ(outcome->events, c.events);
}

INSTANTIATE_TEST_SUITE_P(LogGopSim, CasesTest, testing::ValuesIn(readCases()),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(CasesTest, allAreThere) { EXPECT_EQ(readCases().size(), 35u); }

} // namespace
} // namespace colldsl::sim
