#include "passes/EdgeColoring.h"

#include "instantiate/graphs/coloring/PortGraph.h"
#include "passes/MessageEnds.h"
#include "passes/SendOrder.h"

#include <algorithm>
#include <utility>

namespace colldsl {

void EdgeColoring::describe(PassOptions &options) {
  options.choice("algorithm", "optimal|welsh-powell", "how rounds are found (default: optimal)",
                 algorithm, {"optimal", "welsh-powell"});
  options.flag("always", "true|false",
               "also where the model says that it does not help (default: false)", always);
}

namespace {

/// A message with its level and round.
struct ColoredMessage {
  uint32_t message;
  uint32_t level;
  uint32_t color = 0;
};

/// Colors the edges. An order that is good already stays as it is.
EdgeColors roundsOf(const PortGraph &graph, EdgeColoring::Algorithm algorithm) {
  if (std::optional<EdgeColors> inOrder = colorInOrder(graph))
    return std::move(*inOrder);
  return algorithm == EdgeColoring::Algorithm::Optimal ? colorOptimally(graph)
                                                       : colorGreedily(graph);
}

/// Rounds of the messages of one level.
uint32_t colorLevel(const std::vector<MessageEnds> &messages, uint32_t numRanks,
                    EdgeColoring::Algorithm algorithm, std::span<ColoredMessage> level) {
  PortGraph graph{numRanks, numRanks, {}, {}};
  for (const ColoredMessage &m : level)
    graph.add(index(messages[m.message].from), index(messages[m.message].to));
  EdgeColors colors = roundsOf(graph, algorithm);
  for (size_t i = 0; i < level.size(); ++i)
    level[i].color = colors.color[i];
  return colors.rounds;
}

Status orderAll(Schedule &schedule, const std::vector<MessageEnds> &messages,
                const std::vector<ColoredMessage> &colored) {
  std::vector<std::vector<DueSend>> sends(schedule.numRanks());
  for (const ColoredMessage &c : colored) {
    const MessageEnds &m = messages[c.message];
    sends[index(m.from)].push_back({m.send, m.to, c.level, c.color});
  }
  for (uint32_t r = 0; r < schedule.numRanks(); ++r)
    if (!sends[r].empty())
      if (Status s = orderSends(schedule.ranks[r], std::move(sends[r])); !s)
        return s;
  return {};
}

} // namespace

Result<DagOutcome> colorSends(Schedule schedule, const EdgeColoring &options,
                              const DagContext &context) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  Result<std::vector<uint32_t>> levels = sendLevels(schedule, *messages);
  if (!levels)
    return DagOutcome{std::move(schedule), "left as it is: " + levels.message()};
  std::vector<ColoredMessage> colored;
  for (uint32_t m = 0; m < messages->size(); ++m)
    colored.push_back({m, (*levels)[m]});
  std::stable_sort(colored.begin(), colored.end(),
                   [](const auto &a, const auto &b) { return a.level < b.level; });
  uint32_t rounds = 0;
  for (size_t i = 0, end; i < colored.size(); i = end) {
    for (end = i; end < colored.size() && colored[end].level == colored[i].level; ++end)
      ;
    rounds += colorLevel(*messages, schedule.numRanks(), options.algorithm,
                         std::span(colored).subspan(i, end - i));
  }
  DagOutcome outcome{schedule, std::to_string(messages->size()) + " messages in " +
                                   std::to_string(rounds) + " rounds"};
  if (Status s = orderAll(outcome.schedule, *messages, colored); !s)
    return s;
  if (options.always)
    return outcome;
  return keepFaster(std::move(schedule), std::move(outcome), context);
}

} // namespace colldsl
