#include "tests/explorer/RemoteScenarios.h"

namespace colldsl::test {
namespace {

constexpr std::array kWays = {Way::Eager, Way::Read, Way::Written, Way::Fragments, Way::Announced};

std::string nameOf(const Scenario &scenario) {
  std::string name;
  for (const MessageSpec &m : scenario.messages)
    name += std::to_string(m.from) + " -> " + std::to_string(m.to) + " " + nameOf(m.way) +
            (m.isOfSecondPlan ? ", other plan; " : "; ");
  return name;
}

} // namespace

const char *nameOf(Way way) {
  switch (way) {
  case Way::Read:
    return "read";
  case Way::Written:
    return "written";
  case Way::Fragments:
    return "fragments";
  case Way::Announced:
    return "announced";
  case Way::Eager:
    return "eager";
  }
  return "";
}

std::string explore(const RemoteExploration &what) {
  uint64_t scenarios = 0, states = 0, ends = 0, incomplete = 0;
  std::string wrong;
  forEachScenario(what.ranks, what.messages, kWays, what.every, [&](Scenario scenario) {
    scenario.hasAllOrders = what.hasAllOrders;
    scenario.isLate = what.isLate;
    Exploration found = ReplayExplorer<RemoteWorld>(scenario).run(what.mostStates);
    ++scenarios;
    states += found.states;
    ends += found.ends;
    incomplete += !found.isComplete;
    if (!found.wrong.empty())
      wrong = nameOf(scenario) + found.wrong;
    return wrong.empty();
  });
  std::cout << scenarios << " scenarios, " << incomplete << " not completely, " << states
            << " states, " << ends << " ends" << std::endl;
  return wrong;
}

} // namespace colldsl::test
