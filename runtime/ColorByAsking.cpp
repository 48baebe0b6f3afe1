#include "runtime/ColorByAsking.h"

#include "passes/coloring/Distributed.h"
#include "runtime/NeighborExchange.h"

#include <algorithm>

namespace colldsl {
namespace {

/// Questions go along all edges in each turn, because nobody knows who asks whom: the first word
/// tells whether it is one, the others are the rounds taken.
struct Asking {
  NeighborExchange &questions, &answers;
  RankColoring &mine;

  void ask(uint32_t turn) {
    for (uint32_t i = 0; i < mine.numTurns(); ++i)
      questions.outgoing(i)[0] = 0;
    if (turn >= mine.numTurns())
      return;
    std::span<uint64_t> words = questions.outgoing(turn);
    std::vector<uint64_t> taken = mine.ask(turn).taken;
    std::fill(words.begin(), words.end(), 0);
    words[0] = 1;
    std::copy(taken.begin(), taken.end(), words.begin() + 1);
  }

  void answer(uint32_t turn) {
    for (uint32_t i = 0; i < mine.inColors().size(); ++i) {
      std::span<const uint64_t> words = questions.incoming(i);
      if (words[0] != 0)
        answers.outgoing(i)[0] =
            mine.answer(i, {turn, std::vector<uint64_t>(words.begin() + 1, words.end())});
    }
  }

  Status takeTurn(uint32_t turn) {
    ask(turn);
    if (Status s = questions.run(); !s)
      return s;
    answer(turn);
    if (Status s = answers.run(); !s)
      return s;
    if (turn < mine.numTurns())
      mine.take(turn, static_cast<uint32_t>(answers.incoming(turn)[0]));
    return {};
  }
};

/// Whether slots are rounds already: of the edges to a rank no two have the same one. Told to all.
Result<bool> slotsAreRounds(Communicator &communicator, NeighborExchange &exchange, size_t outEdges,
                            size_t inEdges) {
  for (size_t i = 0; i < outEdges; ++i)
    exchange.outgoing(i)[0] = i;
  if (Status s = exchange.run(); !s)
    return s;
  std::vector<uint64_t> slots;
  for (size_t i = 0; i < inEdges; ++i)
    slots.push_back(exchange.incoming(i)[0]);
  std::sort(slots.begin(), slots.end());
  bool mine = std::adjacent_find(slots.begin(), slots.end()) == slots.end();
  Result<std::vector<uint8_t>> all = communicator.allgatherOne<uint8_t>(mine);
  if (!all)
    return all.status();
  return std::find(all->begin(), all->end(), 0) == all->end();
}

} // namespace

Result<GraphOrder> colorByAsking(Communicator &communicator, const std::vector<Rank> &to,
                                 const std::vector<Rank> &from, uint32_t turns, uint32_t degree) {
  uint32_t takenWords = (2 * degree - 1 + 63) / 64;
  auto questions = NeighborExchange::open(communicator, to, from, 1 + takenWords);
  if (!questions)
    return questions.status();
  Result<bool> inOrder = slotsAreRounds(communicator, **questions, to.size(), from.size());
  if (!inOrder)
    return inOrder.status();
  if (*inOrder)
    return GraphOrder{turns, {}};
  auto answers = NeighborExchange::open(communicator, from, to, 1);
  if (!answers)
    return answers.status();
  RankColoring mine(static_cast<uint32_t>(to.size()), static_cast<uint32_t>(from.size()));
  Asking asking{**questions, **answers, mine};
  for (uint32_t turn = 0; turn < turns; ++turn)
    if (Status s = asking.takeTurn(turn); !s)
      return s;
  std::span<const uint32_t> colors = mine.outColors();
  uint32_t rounds = colors.empty() ? 0 : *std::max_element(colors.begin(), colors.end()) + 1;
  Result<std::vector<uint32_t>> all = communicator.allgatherOne(rounds);
  if (!all)
    return all.status();
  return GraphOrder{*std::max_element(all->begin(), all->end()), {colors.begin(), colors.end()}};
}

} // namespace colldsl
