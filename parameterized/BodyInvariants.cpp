// Stated invariants of loops: what they say of buffers at any index. They are the guesses that
// Body::iterate() proves; none is taken to hold before.
#include "parameterized/Body.h"

namespace colldsl::parameterized {
namespace {

template <typename See> void forEachPiece(const Promise &p, See see) {
  for (const SliceValue::Alternative &target : p.target.alternatives)
    for (const SliceValue::Alternative &operand : p.operand.alternatives)
      for (size_t i = 0; i < target.pieces.size(); ++i)
        see(target, operand, i);
}

} // namespace

/// The invariants of a loop at its index, which may be the one behind its last iteration.
std::vector<Promise> Body::statedBy(const Stmt &s, const Loop &loop, const Bind &bind) {
  std::vector<Promise> stated;
  if (s.listCount == 0)
    return stated;
  bind();
  Contract contract{frame_, frame_, std::nullopt};
  for (const Param &p : program_.decl(decl_).params)
    if (p.isBuffer)
      contract.operands.slices[p.slot] = entryFrame_.slices[p.slot];
  evaluator_.facts.push_back(loop.first <= loop.index && loop.index <= endOf(loop));
  for (uint32_t i = 0; i < s.listCount; ++i)
    promise(contract, program_.operands[s.listBegin + i], {}, {}, stated);
  evaluator_.facts.pop_back();
  return stated;
}

/// The contents that invariants state for each buffer, undefined where they state none.
std::map<unsigned, Content> Body::contentsOf(const std::vector<Promise> &stated) {
  std::map<unsigned, Content> contents;
  auto add = [&](unsigned buffer, const Content &more) {
    auto [at, isNew] = contents.try_emplace(buffer, more);
    if (!isNew)
      at->second = choose(more.isDefined, more, at->second);
  };
  for (const Promise &p : stated)
    forEachPiece(p, [&](const auto &target, const auto &operand, size_t piece) {
      const Piece &goal = target.pieces[piece];
      Content content = promised(p, operand, piece, goal);
      content.isDefined =
          conjunction(prover_, p.condition) && target.condition && operand.condition && isIn(goal);
      if (p.variables.empty())
        return add(goal.buffer, content);
      // The variable by which the position is the target.
      const Term &variable = p.variables[0];
      Terms values = axioms_.inverses().solve(prover_, goal.block, variable, block);
      if (values.empty() && !goal.isRun)
        values = axioms_.inverses().solve(prover_, goal.begin, variable, element);
      if (p.variables.size() > 1 || values.empty())
        throw NoFormula(p.loc, "this invariant has no formula yet");
      for (const Term &v : values)
        add(goal.buffer,
            map(content, [&](const Term &t) { return substitute(t, {variable}, {v}); }));
    });
  return contents;
}

/// A formula: at an index, where the facts hold, the buffers hold what a statement says of a piece.
/// Conditions of the statement become facts.
Term Body::holds(const Promise &p, const SliceValue::Alternative &target,
                 const SliceValue::Alternative &operand, size_t piece,
                 const std::vector<Content> &held, const Loop &loop, const Term &at, Terms &facts) {
  const Piece &goal = target.pieces[piece];
  auto there = [&](const Term &t) { return substitute(t, {loop.index}, {at}); };
  for (const Term &t : p.condition)
    facts.push_back(there(t));
  for (const Term &t : {target.condition, operand.condition, isIn(goal)})
    facts.push_back(there(t));
  return equal(map(promised(p, operand, piece, goal), there), held[goal.buffer]);
}

/// The first of the invariants that does not hold before the loop, or behind an iteration. after:
/// what that iteration leaves, if buffers hold before it what the invariants say. If each holds by
/// itself, the first of all.
const Promise &Body::notKept(const std::vector<Promise> &stated, const Loop &loop,
                             const std::vector<Content> &before,
                             const std::vector<Content> &after) {
  for (const Promise &p : stated) {
    bool isKept = true;
    forEachPiece(p, [&](const auto &target, const auto &operand, size_t piece) {
      Terms facts = evaluator_.facts;
      facts.push_back(loop.first < loop.last);
      Term first = holds(p, target, operand, piece, before, loop, loop.first, facts);
      isKept = isKept &&
               prover_.proves(facts, first, {p.loc, "this invariant may not hold before the loop"});
      facts = evaluator_.facts;
      facts.push_back(loop.first <= loop.index && loop.index < loop.last);
      Term next = holds(p, target, operand, piece, after, loop, loop.index + 1, facts);
      isKept = isKept &&
               prover_.proves(facts, next, {p.loc, "an iteration may not keep this invariant"});
    });
    if (!isKept)
      return p;
  }
  return stated.front();
}

/// Throws NotShown if an invariant does not follow from what buffers hold at any index where `when`
/// holds.
void Body::requireStated(const std::vector<Promise> &stated, const Loop &loop,
                         const std::vector<Content> &held, const Term &when) {
  if (isTrial_)
    return;
  for (const Promise &p : stated)
    forEachPiece(p, [&](const auto &target, const auto &operand, size_t piece) {
      Terms facts = evaluator_.facts;
      facts.push_back(when && loop.first <= loop.index && loop.index <= endOf(loop));
      Term any = holds(p, target, operand, piece, held, loop, loop.index, facts);
      prover_.require(facts, any, {p.loc, "that this invariant holds was not shown"});
    });
}

} // namespace colldsl::parameterized
