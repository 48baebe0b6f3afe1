// Groups of ranks and the leaders of a level of the machine.
#include "parameterized/Evaluator.h"

namespace colldsl::parameterized {
namespace {

bool isVariable(const Term &t) {
  return t.is_app() && t.num_args() == 0 && t.decl().decl_kind() == Z3_OP_UNINTERPRETED &&
         t.decl().name().str().find('!') != std::string::npos;
}

/// The indices of loops, and other variables, of a term.
Terms variablesOf(const Term &term) {
  Terms all;
  std::set<unsigned> visited;
  anyApplication(term, visited, [&](const Term &t) {
    if (isVariable(t))
      all.push_back(t);
    return false;
  });
  return all;
}

} // namespace

/// Levels of the machine, as all ranks see them: those of a group have other leaders.
Level Evaluator::levelOf(const Frame &frame, const Expr &e) const {
  auto level = static_cast<Level>(e.value);
  if (level == Level::All || !isWhole(frame))
    throw NoFormula(e.loc, "this level of the machine has no formula here");
  return level;
}

/// The rank that leads the group of `r`: `include`, if it is one of this group.
Term Evaluator::leaderOf(Frame &frame, const Expr &e, const Term &r) {
  Level level = levelOf(frame, e);
  Term own = axioms_.leader(level, r);
  if (e.a == kNoExpr)
    return own;
  Term include = integer(frame, e.a);
  require(e.loc, ranks_.isRank(include), "the rank that has to lead may not be one");
  return z3::ite(own == axioms_.leader(level, include), include, own);
}

Term Evaluator::leader(Frame &frame, const Expr &e) {
  Term first = leaderOf(frame, e, frame.rank);
  leaders.push_back(first);
  if (e.b == kNoExpr)
    return first;
  Term i = integer(frame, e.b);
  requireNumber(i, e.loc);
  if (prover_.proves(facts, i == 0))
    return first;
  Level level = levelOf(frame, e);
  return z3::ite(0 <= i && i < axioms_.groupOf(level, frame.rank).size(),
                 axioms_.follower(level, first, i), none());
}

GroupValue Evaluator::group(Frame &frame, ExprId id) {
  Value v = evaluate(frame, id);
  if (auto *g = std::get_if<GroupValue>(&v))
    return *g;
  throw NoFormula(program.expr(id).loc, "this group has no formula yet");
}

GroupValue Evaluator::makeGroup(Frame &frame, const Expr &e) {
  if (e.kind == ExprKind::GroupOf)
    return axioms_.groupOf(levelOf(frame, e), frame.rank);
  Changed<unsigned> depth(groupDepth_, groupDepth_ + 1);
  Term member = prover_.constant("member!" + std::to_string(groupDepth_));
  Changed<Terms> known(facts, facts);
  facts.push_back(ranks_.isRank(member));
  std::optional<Term> condition;
  if (e.kind == ExprKind::GroupLeaders) {
    if (e.b != kNoExpr)
      throw NoFormula(e.loc, "a group of leaders with an index has no formula yet");
    condition = leaderOf(frame, e, member) == member;
  } else {
    if (!isWhole(frame))
      throw NoFormula(e.loc, "a group within a group has no formula yet");
    Frame here = frame;
    here.ints[e.slot] = member;
    if (e.kind == ExprKind::GroupWhere) {
      condition = this->condition(here, e.a);
    } else {
      Term color = integer(here, e.a), own = substitute(color, {member}, {frame.rank});
      condition = color == own && own != none();
    }
  }
  return keyed(*condition, member);
}

/// The group that is told apart from others by what the condition says of this rank, and by the
/// variables in it.
GroupValue Evaluator::keyed(const Term &condition, const Term &member) {
  Term general = condition;
  Terms names, values;
  // A side of an equation that does not name the member is a key, so that the groups of two ranks
  // are the same where this is.
  std::set<unsigned> visited;
  Terms sides;
  anyApplication(condition, visited, [&](const Term &t) {
    if (t.is_eq() && t.arg(0).is_int())
      for (unsigned side = 0; side < 2; ++side)
        if (!contains(t.arg(side), member) && contains(t.arg(side), ranks_.rank))
          sides.push_back(t.arg(side));
    return false;
  });
  auto addKey = [&](const Term &t) {
    Term name = prover_.constant("key" + std::to_string(names.size()));
    general = substitute(general, {t}, {name});
    names.push_back(name);
    values.push_back(t);
  };
  for (const Term &side : sides)
    if (contains(general, ranks_.rank))
      addKey(side);
  for (const Term &t : variablesOf(general))
    if (!z3::eq(t, member))
      addKey(t);
  if (contains(general, ranks_.rank))
    addKey(ranks_.rank);
  return {axioms_.group(general, member, names).groups, values};
}

} // namespace colldsl::parameterized
