#include "tests/random/Values.h"

#include <algorithm>
#include <set>

namespace colldsl::generated {

/// Of a rank of the current group.
int64_t Evaluator::groupOf(Level level, int64_t rank) const {
  const Machine &machine = program_.machine;
  if (machine.cores == 0)
    return 0;
  uint32_t core = context.members[static_cast<size_t>(rank)];
  return core / (level == Level::Node ? machine.sockets * machine.cores : machine.cores);
}

/// Ranks of the current group on the node, or socket, of this rank.
std::vector<int64_t> Evaluator::neighbors(Level level) const {
  std::vector<int64_t> ranks;
  for (int64_t r = 0; r < context.size(); ++r)
    if (groupOf(level, r) == groupOf(level, context.me))
      ranks.push_back(r);
  return ranks;
}

std::vector<int64_t> Evaluator::members(const GroupExpr &group) {
  switch (group.kind) {
  case GroupExpr::Kind::Current:
    break;
  case GroupExpr::Kind::Where:
  case GroupExpr::Kind::Split:
    return colored(group);
  case GroupExpr::Kind::Level:
    return neighbors(group.level);
  case GroupExpr::Kind::Leaders:
    return leaders(group);
  }
  std::vector<int64_t> all;
  for (int64_t r = 0; r < context.size(); ++r)
    all.push_back(r);
  return all;
}

std::vector<int64_t> Evaluator::colored(const GroupExpr &group) {
  std::vector<int64_t> ranks, colors;
  for (int64_t r = 0; r < context.size(); ++r) {
    numbers[group.var] = r;
    colors.push_back(number(group.choice[0]));
  }
  int64_t mine = colors[static_cast<size_t>(context.me)];
  for (int64_t r = 0; r < context.size(); ++r) {
    int64_t color = colors[static_cast<size_t>(r)];
    bool isIn =
        group.kind == GroupExpr::Kind::Where ? color != 0 : color != kNobody && color == mine;
    if (isIn)
      ranks.push_back(r);
  }
  return ranks;
}

std::vector<int64_t> Evaluator::leaders(const GroupExpr &group) {
  int64_t included = group.choice.empty() ? kNobody : number(group.choice[0]);
  if (included != kNobody && (included < 0 || included >= context.size()))
    throw Invalid{"no such rank"};
  std::map<int64_t, int64_t> leads; // by node or socket
  if (included != kNobody)
    leads[groupOf(group.level, included)] = included;
  for (int64_t r = 0; r < context.size(); ++r)
    leads.emplace(groupOf(group.level, r), r);
  std::vector<int64_t> ranks;
  for (const auto &[at, rank] : leads)
    ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

/// Of the ranks on this rank's node: the one that is included, if it is there, then the others.
int64_t Evaluator::leader(const Expr &e) {
  int64_t included = defined(e.args[0]), at = defined(e.args[1]);
  if (included < 0 || included >= context.size() || at < 0)
    throw Invalid{"no such rank"};
  std::vector<int64_t> ranks = neighbors(static_cast<Level>(e.value));
  if (auto found = std::find(ranks.begin(), ranks.end(), included); found != ranks.end())
    std::rotate(ranks.begin(), found, found + 1);
  return at < static_cast<int64_t>(ranks.size()) ? ranks[static_cast<size_t>(at)] : kNobody;
}

} // namespace colldsl::generated
