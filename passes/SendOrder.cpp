#include "passes/SendOrder.h"

#include "passes/DagEditor.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace colldsl {
namespace {

/// Gives the first round to the first of parallel sends in the program.
void sortParallel(std::vector<DueSend> &sends) {
  std::sort(sends.begin(), sends.end(), [](const DueSend &a, const DueSend &b) {
    return std::tie(a.level, a.to, a.send) < std::tie(b.level, b.to, b.send);
  });
  std::vector<uint32_t> rounds;
  for (size_t i = 0, end; i < sends.size(); i = end) {
    rounds.clear();
    for (end = i;
         end < sends.size() && sends[end].level == sends[i].level && sends[end].to == sends[i].to;
         ++end)
      rounds.push_back(sends[end].round);
    std::sort(rounds.begin(), rounds.end());
    for (size_t k = i; k < end; ++k)
      sends[k].round = rounds[k - i];
  }
}

void chainLevels(std::vector<DueSend> &sends, DagEditor &editor) {
  std::sort(sends.begin(), sends.end(), [](const DueSend &a, const DueSend &b) {
    return std::tie(a.level, a.round) < std::tie(b.level, b.round);
  });
  for (size_t i = 1; i < sends.size(); ++i)
    if (sends[i].level == sends[i - 1].level)
      editor.wait(DagEditor::of(sends[i].send), DagEditor::of(sends[i - 1].send),
                  DepKind::IRequires);
}

void keepChannelOrder(std::vector<DueSend> &sends, DagEditor &editor) {
  std::sort(sends.begin(), sends.end(),
            [](const DueSend &a, const DueSend &b) { return a.send < b.send; });
  std::map<Rank, OpId> last;
  for (const DueSend &s : sends) {
    auto [before, isFirst] = last.try_emplace(s.to, s.send);
    if (!isFirst)
      editor.follow(DagEditor::of(s.send), DagEditor::of(std::exchange(before->second, s.send)));
  }
}

} // namespace

Status orderSends(Dag &dag, std::vector<DueSend> sends) {
  sortParallel(sends);
  DagEditor editor(dag);
  chainLevels(sends, editor);
  keepChannelOrder(sends, editor);
  return editor.buildInto(dag);
}

} // namespace colldsl
