/// All scenarios of so many ranks and messages, and all interleavings of each: no byte moves into
/// or out of memory after its owner was told that the message ended, everybody gets an end, and
/// nothing is left.
#pragma once

#include "tests/explorer/Explorer.h"
#include "tests/explorer/Scenario.h"

#include <functional>
#include <iostream>
#include <llvm/ADT/ArrayRef.h>

namespace colldsl::test {

/// Calls visit(list) for all lists of `count` of them, in any order but one.
template <typename Spec, typename Visit>
void forEachList(const std::vector<Spec> &all, size_t count, Visit visit,
                 std::vector<Spec> list = {}, size_t first = 0) {
  if (list.size() == count)
    return visit(list);
  for (size_t i = first; i < all.size(); ++i) {
    list.push_back(all[i]);
    forEachList(all, count, visit, list, i);
    list.pop_back();
  }
}

/// Calls visit(scenario) with no trouble, and with each rank in each kind of trouble, until it
/// returns false; whether it never did.
bool visitTroubles(Scenario scenario, const std::function<bool(const Scenario &)> &visit);

/// Calls visit(scenario) for each `every`-th until it returns false. All messages are of the first
/// plan, or all but one. Ranks have no names: of scenarios that differ in these alone one is
/// visited. `first`: of the first `every` of them, the one that is visited.
void forEachScenario(uint8_t ranks, size_t messages, llvm::ArrayRef<Way> ways, size_t every,
                     const std::function<bool(const Scenario &)> &visit, size_t first = 0);

/// What was found wrong first; empty: nothing. `every`, `first`: as in forEachScenario().
template <typename Machine>
std::string explore(uint8_t ranks, size_t messages, size_t every,
                    typename Machine::Mutant mutant = Machine::Mutant::None, size_t first = 0,
                    llvm::ArrayRef<Way> ways = Machine::kWays) {
  uint64_t scenarios = 0, states = 0, ends = 0;
  std::string wrong;
  auto visit = [&](const Scenario &scenario) {
    Exploration found = Explorer(Machine(scenario, mutant)).run();
    ++scenarios;
    states += found.states;
    ends += found.ends;
    wrong = found.wrong;
    return wrong.empty();
  };
  forEachScenario(ranks, messages, ways, every, visit, first);
  std::cout << scenarios << " scenarios (one of " << every << "), " << states << " states, " << ends
            << " ends" << std::endl;
  return wrong;
}

} // namespace colldsl::test
