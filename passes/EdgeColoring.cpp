#include "passes/EdgeColoring.h"

#include "passes/DagEditor.h"
#include "passes/Messages.h"
#include "passes/coloring/PortGraph.h"

#include <algorithm>
#include <map>
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

/// Of parallel messages the one that is sent first in the program gets the first round.
void sortParallel(const std::vector<MessageEnds> &messages, std::span<ColoredMessage> level) {
  auto ends = [&](const ColoredMessage &m) {
    const MessageEnds &e = messages[m.message];
    return std::tuple(e.from, e.to, m.message);
  };
  auto sameEnds = [&](const ColoredMessage &a, const ColoredMessage &b) {
    const MessageEnds &x = messages[a.message], &y = messages[b.message];
    return x.from == y.from && x.to == y.to;
  };
  std::sort(level.begin(), level.end(),
            [&](const ColoredMessage &a, const ColoredMessage &b) { return ends(a) < ends(b); });
  std::vector<uint32_t> colors;
  for (size_t i = 0, end; i < level.size(); i = end) {
    colors.clear();
    for (end = i; end < level.size() && sameEnds(level[i], level[end]); ++end)
      colors.push_back(level[end].color);
    std::sort(colors.begin(), colors.end());
    for (size_t k = i; k < end; ++k)
      level[k].color = colors[k - i];
  }
}

/// A good order is left as it is.
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
  sortParallel(messages, level);
  return colors.rounds;
}

/// Sends to one rank stay in the order of the program, in which a channel takes them.
void keepChannelOrder(const std::vector<MessageEnds> &messages, Rank rank, DagEditor &editor) {
  auto first = std::lower_bound(messages.begin(), messages.end(), rank,
                                [](const MessageEnds &m, Rank r) { return m.from < r; });
  std::map<Rank, OpId> last;
  for (auto m = first; m != messages.end() && m->from == rank; ++m) {
    auto [before, isFirst] = last.try_emplace(m->to, m->send);
    if (!isFirst)
      editor.follow(DagEditor::of(m->send), DagEditor::of(std::exchange(before->second, m->send)));
  }
}

/// Each rank's sends of a level start one after the other.
Status chainSends(Schedule &schedule, const std::vector<MessageEnds> &messages,
                  std::vector<ColoredMessage> &colored) {
  std::sort(colored.begin(), colored.end(), [&](const ColoredMessage &a, const ColoredMessage &b) {
    return std::tuple(messages[a.message].from, a.level, a.color) <
           std::tuple(messages[b.message].from, b.level, b.color);
  });
  for (size_t i = 0; i < colored.size();) {
    Rank rank = messages[colored[i].message].from;
    Dag &dag = schedule.ranks[index(rank)];
    DagEditor editor(dag);
    for (size_t first = i; i < colored.size() && messages[colored[i].message].from == rank; ++i)
      if (i != first && colored[i].level == colored[i - 1].level)
        editor.wait(DagEditor::of(messages[colored[i].message].send),
                    DagEditor::of(messages[colored[i - 1].message].send), DepKind::IRequires);
    keepChannelOrder(messages, rank, editor);
    Result<Dag> built = editor.build();
    if (!built)
      return built.status();
    dag = built.take();
  }
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
    return levels.status();
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
  if (Status s = chainSends(outcome.schedule, *messages, colored); !s)
    return s;
  if (options.always)
    return outcome;
  return unlessSlower(std::move(schedule), std::move(outcome), context);
}

} // namespace colldsl
