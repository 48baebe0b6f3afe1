#include "runtime/graph/ColorByQueries.h"

#include "instantiate/graphs/coloring/Distributed.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

/// A rank that queries this one, and its turn.
struct Querier {
  uint64_t turn;
  uint32_t inEdge;
  Rank rank;
};

/// The part of one rank.
struct Querying {
  Communicator &communicator;
  const std::vector<Rank> &to;
  size_t takenWords; ///< for all possible rounds
  RankColoring mine;

  Status takeTurn(uint32_t turn, std::span<const Querier> queriers);
};

/// In turn k a rank queries along its k-th edge, and announces that first. Returns the queriers of
/// this rank, in the order of turns.
Result<std::vector<Querier>> exchangeTurns(Communicator &communicator, const std::vector<Rank> &to,
                                           const std::vector<Rank> &from) {
  std::vector<uint64_t> turns(to.size());
  std::iota(turns.begin(), turns.end(), 0);
  Result<std::vector<uint64_t>> arrived = communicator.exchange(to, from, turns, 1);
  if (!arrived)
    return arrived.status();
  std::vector<Querier> queriers;
  for (uint32_t i = 0; i < from.size(); ++i)
    queriers.push_back({(*arrived)[i], i, from[i]});
  std::stable_sort(queriers.begin(), queriers.end(),
                   [](const Querier &a, const Querier &b) { return a.turn < b.turn; });
  return queriers;
}

/// True if slots are rounds already: no two of the edges to any rank have the same slot. The same
/// answer on all ranks.
Result<bool> slotsAreRounds(Communicator &communicator, const std::vector<Querier> &queriers) {
  auto twice =
      std::adjacent_find(queriers.begin(), queriers.end(),
                         [](const Querier &a, const Querier &b) { return a.turn == b.turn; });
  Result<std::vector<uint8_t>> all = communicator.allgatherOne<uint8_t>(twice == queriers.end());
  if (!all)
    return all.status();
  return std::find(all->begin(), all->end(), 0) == all->end();
}

// A plan for each turn: one along all edges would carry degree times as many messages.
Status Querying::takeTurn(uint32_t turn, std::span<const Querier> queriers) {
  bool queries = turn < to.size();
  auto queried = std::span(to).subspan(queries ? turn : 0, queries);
  std::vector<Rank> querying;
  for (const Querier &a : queriers)
    querying.push_back(a.rank);
  std::vector<uint64_t> taken = queries ? mine.query(turn).taken : std::vector<uint64_t>();
  taken.resize(queries ? takenWords : 0);
  Result<std::vector<uint64_t>> received =
      communicator.exchange(queried, querying, taken, takenWords);
  if (!received)
    return received.status();
  std::vector<uint64_t> rounds;
  for (size_t i = 0; i < queriers.size(); ++i) {
    auto theirs = received->begin() + static_cast<ptrdiff_t>(i * takenWords);
    rounds.push_back(mine.reply(queriers[i].inEdge,
                                {turn, {theirs, theirs + static_cast<ptrdiff_t>(takenWords)}}));
  }
  Result<std::vector<uint64_t>> replies = communicator.exchange(querying, queried, rounds, 1);
  if (!replies)
    return replies.status();
  if (queries)
    mine.take(turn, static_cast<uint32_t>(replies->front()));
  return {};
}

} // namespace

Result<GraphOrder> colorByQueries(Communicator &communicator, const std::vector<Rank> &to,
                                  const std::vector<Rank> &from, uint32_t turns, uint32_t degree) {
  Result<std::vector<Querier>> queriers = exchangeTurns(communicator, to, from);
  if (!queriers)
    return queriers.status();
  Result<bool> inOrder = slotsAreRounds(communicator, *queriers);
  if (!inOrder)
    return inOrder.status();
  if (*inOrder)
    return GraphOrder{turns, {}};
  Querying querying{communicator,
                    to,
                    (2 * size_t{degree} - 1 + 63) / 64,
                    {static_cast<uint32_t>(to.size()), static_cast<uint32_t>(from.size())}};
  auto next = queriers->begin();
  for (uint32_t turn = 0; turn < turns; ++turn) {
    auto first = next;
    next = std::find_if(first, queriers->end(), [&](const Querier &a) { return a.turn != turn; });
    if (Status s = querying.takeTurn(turn, {first, next}); !s)
      return s;
  }
  std::span<const uint32_t> colors = querying.mine.outColors();
  uint32_t rounds = colors.empty() ? 0 : *std::max_element(colors.begin(), colors.end()) + 1;
  Result<std::vector<uint32_t>> all = communicator.allgatherOne(rounds);
  if (!all)
    return all.status();
  return GraphOrder{*std::max_element(all->begin(), all->end()), {colors.begin(), colors.end()}};
}

} // namespace colldsl
