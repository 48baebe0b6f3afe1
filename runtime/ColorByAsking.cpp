#include "runtime/ColorByAsking.h"

#include "passes/coloring/Distributed.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

/// A rank that queries this one, and when.
struct Asker {
  uint64_t turn;
  uint32_t inEdge;
  Rank rank;
};

/// One rank's part.
struct Asking {
  Communicator &communicator;
  const std::vector<Rank> &to;
  size_t takenWords; ///< of all rounds that there can be
  RankColoring mine;

  Status takeTurn(uint32_t turn, std::span<const Asker> askers);
};

/// In turn k a rank queries along its k-th edge, and announces that first. In the order of turns.
Result<std::vector<Asker>> exchangeTurns(Communicator &communicator, const std::vector<Rank> &to,
                                         const std::vector<Rank> &from) {
  std::vector<uint64_t> turns(to.size());
  std::iota(turns.begin(), turns.end(), 0);
  Result<std::vector<uint64_t>> arrived = communicator.exchange(to, from, turns, 1);
  if (!arrived)
    return arrived.status();
  std::vector<Asker> askers;
  for (uint32_t i = 0; i < from.size(); ++i)
    askers.push_back({(*arrived)[i], i, from[i]});
  std::stable_sort(askers.begin(), askers.end(),
                   [](const Asker &a, const Asker &b) { return a.turn < b.turn; });
  return askers;
}

/// Whether slots are rounds already: of the edges to a rank no two have the same one. The same
/// answer on all ranks.
Result<bool> slotsAreRounds(Communicator &communicator, const std::vector<Asker> &askers) {
  auto twice = std::adjacent_find(askers.begin(), askers.end(),
                                  [](const Asker &a, const Asker &b) { return a.turn == b.turn; });
  Result<std::vector<uint8_t>> all = communicator.allgatherOne<uint8_t>(twice == askers.end());
  if (!all)
    return all.status();
  return std::find(all->begin(), all->end(), 0) == all->end();
}

// A plan for each turn: one along all edges would carry degree times as many messages.
Status Asking::takeTurn(uint32_t turn, std::span<const Asker> askers) {
  bool asks = turn < to.size();
  auto asked = std::span(to).subspan(asks ? turn : 0, asks);
  std::vector<Rank> asking;
  for (const Asker &a : askers)
    asking.push_back(a.rank);
  std::vector<uint64_t> taken = asks ? mine.ask(turn).taken : std::vector<uint64_t>();
  taken.resize(asks ? takenWords : 0);
  Result<std::vector<uint64_t>> questions = communicator.exchange(asked, asking, taken, takenWords);
  if (!questions)
    return questions.status();
  std::vector<uint64_t> rounds;
  for (size_t i = 0; i < askers.size(); ++i) {
    auto theirs = questions->begin() + static_cast<ptrdiff_t>(i * takenWords);
    rounds.push_back(mine.answer(askers[i].inEdge,
                                 {turn, {theirs, theirs + static_cast<ptrdiff_t>(takenWords)}}));
  }
  Result<std::vector<uint64_t>> answers = communicator.exchange(asking, asked, rounds, 1);
  if (!answers)
    return answers.status();
  if (asks)
    mine.take(turn, static_cast<uint32_t>(answers->front()));
  return {};
}

} // namespace

Result<GraphOrder> colorByAsking(Communicator &communicator, const std::vector<Rank> &to,
                                 const std::vector<Rank> &from, uint32_t turns, uint32_t degree) {
  Result<std::vector<Asker>> askers = exchangeTurns(communicator, to, from);
  if (!askers)
    return askers.status();
  Result<bool> inOrder = slotsAreRounds(communicator, *askers);
  if (!inOrder)
    return inOrder.status();
  if (*inOrder)
    return GraphOrder{turns, {}};
  Asking asking{communicator,
                to,
                (2 * size_t{degree} - 1 + 63) / 64,
                {static_cast<uint32_t>(to.size()), static_cast<uint32_t>(from.size())}};
  auto next = askers->begin();
  for (uint32_t turn = 0; turn < turns; ++turn) {
    auto first = next;
    next = std::find_if(first, askers->end(), [&](const Asker &a) { return a.turn != turn; });
    if (Status s = asking.takeTurn(turn, {first, next}); !s)
      return s;
  }
  std::span<const uint32_t> colors = asking.mine.outColors();
  uint32_t rounds = colors.empty() ? 0 : *std::max_element(colors.begin(), colors.end()) + 1;
  Result<std::vector<uint32_t>> all = communicator.allgatherOne(rounds);
  if (!all)
    return all.status();
  return GraphOrder{*std::max_element(all->begin(), all->end()), {colors.begin(), colors.end()}};
}

} // namespace colldsl
