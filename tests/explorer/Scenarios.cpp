#include "tests/explorer/Scenarios.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace colldsl::test {
namespace {

using List = std::vector<MessageSpec>;

/// All messages that so many ranks can send each other.
List messagesAmong(uint8_t ranks, llvm::ArrayRef<Way> ways) {
  List all;
  for (uint8_t from = 0; from < ranks; ++from)
    for (uint8_t to = 0; to < ranks; ++to)
      for (Way way : ways)
        if (from != to)
          all.push_back({from, to, way});
  return all;
}

auto keyOf(const MessageSpec &m) { return std::tuple(m.from, m.to, m.way, m.isOfSecondPlan); }

/// Whether no other naming of the ranks makes a smaller list.
bool isLeast(const List &list, uint8_t ranks) {
  auto less = [](const MessageSpec &a, const MessageSpec &b) { return keyOf(a) < keyOf(b); };
  List own = list;
  std::sort(own.begin(), own.end(), less);
  std::array<uint8_t, kMaxRanks> names{0, 1, 2};
  do {
    List renamed = list;
    for (MessageSpec &m : renamed)
      m = {names[m.from], names[m.to], m.way, m.isOfSecondPlan};
    std::sort(renamed.begin(), renamed.end(), less);
    if (std::lexicographical_compare(renamed.begin(), renamed.end(), own.begin(), own.end(), less))
      return false;
  } while (std::next_permutation(names.begin(), names.begin() + ranks));
  return true;
}

} // namespace

bool visitTroubles(Scenario scenario, const std::function<bool(const Scenario &)> &visit) {
  if (!visit(scenario))
    return false;
  for (Trouble trouble : {Trouble::Fails, Trouble::FailsAndDies, Trouble::Dies})
    for (uint8_t rank = 0; rank < scenario.ranks; ++rank) {
      scenario.trouble = trouble;
      scenario.troubled = rank;
      if (!visit(scenario))
        return false;
    }
  return true;
}

void forEachScenario(uint8_t ranks, size_t messages, llvm::ArrayRef<Way> ways, size_t every,
                     const std::function<bool(const Scenario &)> &visit, size_t first) {
  size_t number = 0;
  bool goesOn = true;
  forEachList(messagesAmong(ranks, ways), messages, [&](List list) {
    for (size_t second = 0; second <= list.size() && goesOn; ++second) {
      for (size_t m = 0; m < list.size(); ++m)
        list[m].isOfSecondPlan = m == second;
      if (isLeast(list, ranks) && number++ % every == first)
        goesOn = visitTroubles({.ranks = ranks, .messages = list}, visit);
    }
  });
}

} // namespace colldsl::test
