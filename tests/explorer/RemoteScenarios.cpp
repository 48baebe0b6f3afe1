#include "tests/explorer/RemoteScenarios.h"

namespace colldsl::test {
namespace {

constexpr std::array kWays = {Way::Eager,    Way::Read,   Way::Written,  Way::Fragments,
                              Way::EarlyRtr, Way::Canary, Way::Announced};

std::string nameOf(const Scenario &scenario) {
  std::string name;
  for (const MessageSpec &m : scenario.messages)
    name += std::to_string(m.from) + " -> " + std::to_string(m.to) + " " + nameOf(m.way) +
            (m.isOfSecondPlan ? ", other plan; " : "; ");
  return name;
}

struct Totals {
  uint64_t scenarios = 0, states = 0, ends = 0, incomplete = 0;
  std::string wrong;

  // Of ranks that may fail, and then die, orders in which none does either are a part.
  bool add(const Scenario &scenario, uint64_t mostStates) {
    if (scenario.trouble == Trouble::None || scenario.trouble == Trouble::Fails)
      return true;
    Exploration found = ReplayExplorer<RemoteWorld>(scenario).run(mostStates);
    ++scenarios;
    states += found.states;
    ends += found.ends;
    incomplete += !found.isComplete;
    if (!found.wrong.empty())
      wrong = nameOf(scenario) + found.wrong;
    return wrong.empty();
  }
  std::string print(size_t every) const {
    std::cout << scenarios << " scenarios (one of " << every << "), " << incomplete
              << " not completely, " << states << " states, " << ends << " ends" << std::endl;
    return wrong;
  }
};

} // namespace

const char *nameOf(Way way) {
  switch (way) {
  case Way::Read:
    return "read";
  case Way::Written:
    return "written";
  case Way::Fragments:
    return "fragments";
  case Way::EarlyRtr:
    return "early-rtr";
  case Way::Canary:
    return "canary";
  case Way::Announced:
    return "announced";
  case Way::Eager:
    return "eager";
  case Way::Cooperative:
    return "cooperative";
  }
  return "";
}

std::string explore(const RemoteExploration &what) {
  Totals totals;
  forEachScenario(
      what.ranks, what.messages, kWays, what.every,
      [&](const Scenario &scenario) {
        Scenario explored = what.as;
        explored.ranks = scenario.ranks;
        explored.messages = scenario.messages;
        explored.trouble = scenario.trouble;
        explored.troubled = scenario.troubled;
        return totals.add(explored, what.mostStates);
      },
      what.first);
  return totals.print(what.every);
}

std::string explore(const Scenario &scenario, uint64_t mostStates) {
  Totals totals;
  visitTroubles(scenario,
                [&](const Scenario &explored) { return totals.add(explored, mostStates); });
  return totals.print(1);
}

} // namespace colldsl::test
