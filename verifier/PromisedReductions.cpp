#include "verifier/PromisedReductions.h"

#include "verifier/Contributions.h"
#include "verifier/SizeDecisions.h"

#include <algorithm>

// A value fulfils a promise if the leaves of its combine tree are the operands, each where
// the first one's place says it must be. The answer depends on the node and on where
// its line lies relative to the operands, not on the position, so that it is found once per
// node however many elements, segments and ranks hold it.

namespace colldsl::proof {
namespace {

void sortLeaves(std::vector<Leaf> &leaves) {
  std::vector<std::pair<Leaf, size_t>> numbered;
  for (const Leaf &leaf : leaves)
    numbered.emplace_back(leaf, numbered.size());
  std::sort(numbered.begin(), numbered.end());
  noteOrder(numbered, [](const auto &leaf) { return leaf.second; });
  for (size_t i = 0; i < leaves.size(); ++i)
    leaves[i] = numbered[i].first;
}

} // namespace

size_t Reductions::QuestionHash::operator()(const Question &q) const {
  uint64_t hash = (uint64_t{q.list} << 32 | index(q.node)) * 0x9e3779b97f4a7c15u;
  hash ^= (static_cast<uint64_t>(q.offset) << 8 | q.phase) * 0xc2b2ae3d27d4eb4fu;
  return hash ^ hash >> 31;
}

Reductions::Postcondition Reductions::promise(Rank rank, const Ensure &ensure, const Area &target,
                                              std::span<const Operand> operands,
                                              StatementWords words) {
  BufferId buffer = ensure.target.buffer;
  OperandList list{ensure.reduction, model_.dag(rank).buffers[index(buffer)].type, {}};
  for (const auto &[owner, area] : operands)
    list.leaves.push_back({values_.entry(owner, area.root), static_cast<int64_t>(area.begin)});
  if (isCommutative(ensure.reduction))
    sortLeaves(list.leaves);
  int64_t first = list.leaves[0].shift;
  for (Leaf &leaf : list.leaves)
    leaf.shift -= first;
  auto [it, isNew] = ids_.try_emplace(std::move(list), static_cast<uint32_t>(lists_.size()));
  if (isNew) {
    lists_.push_back(&it->first);
    trees_.emplace_back();
    auto next = std::next(it); // two lists that differ at this n are equal where they cross
    Decisions::note(next == ids_.end() ? lists_.size() : next->second);
  }
  Decisions::note(it->second);
  return {rank, ensure.loc, target, it->second, static_cast<uint64_t>(first), words};
}

bool Reductions::check(const Postcondition &promise, uint64_t begin, uint64_t end,
                       const Held &held) {
  uint64_t inTarget = begin - promise.target.begin;
  uint64_t position = held.value.position;
  uint32_t elementBytes = sizeBytes(lists_[promise.list]->type);
  Question question{promise.list, held.value.node,
                    static_cast<int64_t>(promise.firstBegin + inTarget - position),
                    shiftedPhase(position, -static_cast<int64_t>(inTarget), elementBytes)};
  if (!holds(question)) {
    reportWrong(promise, begin, end, held, question);
    return false;
  }
  bool isShared = model_.schedule().deterministic && !promise.words.isInvariant();
  return !isShared || sameTree(promise, begin, end, held.value.node);
}

bool Reductions::holds(const Question &question) {
  auto [it, isNew] = answers_.try_emplace(question, Answer{false, answers_.size()});
  Decisions::note(it->second.number);
  if (isNew) {
    std::vector<Leaf> expected = promised(question);
    std::vector<Leaf> leaves = found(question, expected.size() + 1);
    if (isCommutative(lists_[question.list]->reduction))
      sortLeaves(leaves);
    it->second.isFulfilled = leaves == expected;
  }
  return it->second.isFulfilled;
}

std::vector<Leaf> Reductions::found(const Question &question, size_t most) const {
  const OperandList &list = *lists_[question.list];
  return values_.leaves(question.node, list.reduction, list.type, question.phase, most);
}

/// The operands as leaves on the line of the node.
std::vector<Leaf> Reductions::promised(const Question &question) const {
  std::vector<Leaf> leaves = lists_[question.list]->leaves;
  for (Leaf &leaf : leaves)
    leaf.shift += question.offset;
  return leaves;
}

void Reductions::reportWrong(const Postcondition &promise, uint64_t begin, uint64_t end,
                             const Held &held, const Question &question) {
  uint64_t position = held.value.position, length = end - begin;
  std::vector<Leaf> expected = promised(question);
  std::vector<Leaf> leaves = found(question, 2 * expected.size() + 16);
  Reduction reduction = lists_[question.list]->reduction;
  std::string where = names_.bytes(promise.rank, promise.target.root, begin, end);
  Failure failure{
      Proof::Contract,
      promise.words.who(promise.rank) + ": " + where + " holds " +
          valueNames_.value(held.value, length) + ", " +
          promise.words.other(valueNames_.reduction(reduction, expected, position, length)) +
          difference(question, leaves, expected, position, length),
      {{promise.rank, kNoOp, promise.loc, promise.words.step(where)}}};
  addBringers(question, leaves, expected, position, length, failure.steps);
  if (exists(held.writer))
    failure.steps.push_back(failures_.step(held.writer, names_.op(held.writer) + " wrote it"));
  failures_.add(std::move(failure));
}

std::string Reductions::difference(const Question &question, const std::vector<Leaf> &found,
                                   const std::vector<Leaf> &promised, uint64_t position,
                                   uint64_t length) const {
  if (found[0].node == question.node && values_[question.node].kind == Node::Kind::Combine)
    return otherCombine(question);
  LeafDifference difference = compareLeaves(found, promised);
  auto names = [&](const std::vector<Leaf> &leaves) {
    std::vector<std::string> items;
    for (const Leaf &leaf : leaves)
      items.push_back(valueNames_.leaf(leaf, position, length));
    return listed(items);
  };
  std::string text;
  if (!difference.doubled.empty())
    text += "; counted more than once: " + names(difference.doubled);
  if (!difference.missing.empty())
    text += "; missing: " + names(difference.missing);
  if (!difference.foreign.empty())
    text += "; not promised: " + names(difference.foreign);
  bool sameOperands = text.empty();
  return sameOperands ? "; the operator does not commute, and the order differs" : text;
}

/// The reason why a combine does not fit the promise.
std::string Reductions::otherCombine(const Question &question) const {
  const Node &node = values_[question.node];
  const OperandList &list = *lists_[question.list];
  if (node.reduction != list.reduction)
    return "";
  if (node.type == list.type)
    return "; its elements begin at other bytes";
  return "; combined as " + std::string(spelling(node.type)) + ", promised as " +
         std::string(spelling(list.type));
}

void Reductions::addBringers(const Question &question, const std::vector<Leaf> &found,
                             const std::vector<Leaf> &promised, uint64_t position, uint64_t length,
                             std::vector<Failure::Step> &steps) const {
  constexpr size_t kMax = 4;
  std::vector<Leaf> doubled = compareLeaves(found, promised).doubled;
  for (size_t i = 0; i < doubled.size() && i < kMax; ++i) {
    Vertex bringer = bringerOfSecond(values_, question.node, doubled[i]);
    if (exists(bringer))
      steps.push_back(failures_.step(bringer, names_.op(bringer) + " counts " +
                                                  valueNames_.leaf(doubled[i], position, length) +
                                                  " again"));
  }
}

bool Reductions::sameTree(const Postcondition &promise, uint64_t begin, uint64_t end, NodeId node) {
  IntervalMap<Tree> &trees = trees_[promise.list];
  uint64_t first = promise.firstBegin + (begin - promise.target.begin);
  std::vector<std::pair<uint64_t, uint64_t>> unseen;
  std::optional<Tree> other;
  trees.visit(first, first + (end - begin), [&](uint64_t from, uint64_t to, const Tree *tree) {
    if (!tree)
      unseen.emplace_back(from, to);
    else if (tree->node != node && !other)
      other = *tree;
  });
  for (auto [from, to] : unseen)
    trees.assign(from, to, {node, promise.rank});
  if (other)
    reportTrees(promise, begin, end, *other, node);
  return !other;
}

void Reductions::reportTrees(const Postcondition &promise, uint64_t begin, uint64_t end,
                             const Tree &other, NodeId mine) {
  std::string where = names_.bytes(promise.rank, promise.target.root, begin, end);
  failures_.add({Proof::Contract,
                 where + " is combined differently on " + rankWord(other.rank) + " and " +
                     rankWord(promise.rank) + ", but the collective promises to be deterministic",
                 {{other.rank, kNoOp, promise.loc, "combines " + valueNames_.tree(other.node)},
                  {promise.rank, kNoOp, promise.loc, "combines " + valueNames_.tree(mine)}}});
}

} // namespace colldsl::proof
