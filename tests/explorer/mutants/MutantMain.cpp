// Walks the interleavings of a protocol one rule of which was broken, until that is found.
//   mutant FINDING [late] [PART...] WAY...
// FINDING: a part of what is to be found. WAY: of a message of rank 0 to rank 1. PART: of what is
// explored; without it nothing is found.
#include "tests/explorer/RemoteScenarios.h"

#include <iostream>
#include <string_view>

namespace colldsl::test {
namespace {

constexpr uint64_t kMaxStates = 20000;

bool addMessage(Scenario &scenario, std::string_view name) {
  for (Way way : {Way::Read, Way::Written, Way::Fragments, Way::EarlyRtr, Way::Canary,
                  Way::Announced, Way::Eager})
    if (name == nameOf(way)) {
      scenario.messages.push_back({.from = 0, .to = 1, .way = way});
      return true;
    }
  return false;
}

bool addPart(Scenario &scenario, std::string_view name) {
  bool hasWindow = name == "window", refusesWrites = name == "refuses-writes";
  scenario.windowBytes = hasWindow ? 100 : scenario.windowBytes;
  scenario.refused |= refusesWrites ? maskOf(network::Access::Write) : 0;
  scenario.runs = name == "runs" ? 2 : scenario.runs;
  scenario.opensLate |= name == "opens";
  scenario.disconnects |= name == "leaves";
  return hasWindow || refusesWrites || name == "runs" || name == "opens" || name == "leaves";
}

std::string findWrong(Scenario scenario) {
  for (Trouble trouble : {Trouble::None, Trouble::Fails, Trouble::Dies})
    for (uint8_t rank = 0; rank < scenario.ranks; ++rank) {
      scenario.trouble = trouble;
      scenario.troubled = rank;
      Exploration found = ReplayExplorer<RemoteWorld>(scenario).run(kMaxStates);
      if (!found.wrong.empty())
        return found.wrong;
    }
  return "";
}

} // namespace
} // namespace colldsl::test

int main(int argc, char **argv) {
  using namespace colldsl::test;
  Scenario without;
  for (int i = 2; i < argc; ++i)
    if (std::string_view(argv[i]) == "late")
      without.isLate = true;
    else if (Scenario ignored; !addPart(ignored, argv[i]) && !addMessage(without, argv[i]))
      return 2;
  Scenario scenario = without;
  bool hasParts = false;
  for (int i = 2; i < argc; ++i)
    hasParts |= addPart(scenario, argv[i]);
  std::string found = argc > 2 ? findWrong(scenario) : "";
  std::string other = hasParts ? findWrong(without) : "";
  std::cout << found << "\n" << other << std::endl;
  return found.empty() || found.find(argv[1]) == std::string::npos || !other.empty();
}
