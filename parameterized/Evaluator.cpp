#include "parameterized/Evaluator.h"

#include "ir/Operators.h"

#include <algorithm>
#include <bit>
#include <map>

namespace colldsl::parameterized {
namespace {

constexpr unsigned kMostCalls = 12; ///< of functions within each other
constexpr unsigned kRankBits = 31, kPowerBits = 47, kMostBits = 63;

/// The most bits that the absolute value of a term may have: ranks, sizes and parameters have 31.
/// `known` keeps those of the parts of terms.
unsigned bitsOf(const Term &t, std::map<unsigned, unsigned> &known) {
  if (int64_t value = 0; t.is_numeral_i64(value) && value != kNone)
    return static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(value < 0 ? -value : value)));
  if (!t.is_app())
    return kRankBits;
  auto [at, isNew] = known.emplace(t.id(), kRankBits);
  if (!isNew)
    return at->second;
  unsigned most = 0, sum = 0;
  const Z3_decl_kind kind = t.decl().decl_kind();
  for (unsigned i = kind == Z3_OP_ITE ? 1 : 0; i < t.num_args(); ++i) {
    unsigned bits = bitsOf(t.arg(i), known);
    most = std::max(most, bits);
    sum += bits;
  }
  unsigned bits = kRankBits;
  if (kind == Z3_OP_ITE || kind == Z3_OP_UMINUS)
    bits = most;
  else if (kind == Z3_OP_ADD || kind == Z3_OP_SUB)
    bits = most + static_cast<unsigned>(std::bit_width(t.num_args() - 1));
  else if (kind == Z3_OP_MUL)
    bits = sum;
  else if (kind == Z3_OP_MOD || kind == Z3_OP_IDIV)
    bits = bitsOf(t.arg(kind == Z3_OP_MOD ? 1 : 0), known);
  return known[t.id()] = bits;
}

struct WithFact {
  WithFact(Terms &facts, const Term &fact) : facts_(facts) { facts_.push_back(fact); }
  ~WithFact() { facts_.pop_back(); }
  Terms &facts_;
};

/// A choice that is not decided, while its sides are evaluated.
struct OpenChoice {
  OpenChoice(size_t &openCalls, size_t calls) : openCalls_(openCalls), outer_(openCalls) {
    openCalls = calls;
  }
  ~OpenChoice() { openCalls_ = outer_; }
  size_t &openCalls_;
  size_t outer_;
};

} // namespace

Evaluator::Evaluator(const Program &program, Prover &prover, Axioms &axioms, const Ranks &ranks)
    : holder(ranks.rank), program(program), prover_(prover), axioms_(axioms), ranks_(ranks) {}

Frame Evaluator::makeFrame(DeclId decl, const std::optional<GroupValue> &group) const {
  const Decl &d = program.decl(decl);
  return {decl,
          group ? group->numberOf(ranks_.rank) : ranks_.rank,
          group ? group->size() : ranks_.ranks,
          std::vector<Value>(d.intSlots),
          std::vector<Value>(d.sliceSlots),
          std::vector<Value>(d.sizeSlots)};
}

Frame Evaluator::makeFrame(DeclId decl, const Frame &caller) const {
  Frame made = makeFrame(decl);
  made.rank = caller.rank;
  made.ranks = caller.ranks;
  return made;
}

void Evaluator::require(SourceLoc loc, const Term &condition, const std::string &what) {
  prover_.require(facts, condition, {loc, what});
}

void Evaluator::requireNumber(const Term &t, SourceLoc loc) {
  bool isConstant = t.is_const() && !t.is_numeral();
  bool isSum =
      t.is_app() && (t.decl().decl_kind() == Z3_OP_ADD || t.decl().decl_kind() == Z3_OP_SUB ||
                     t.decl().decl_kind() == Z3_OP_MUL);
  if (!isConstant && !isSum)
    require(loc, t != none(), "a number may be none here");
}

Term Evaluator::integer(Frame &frame, ExprId id) {
  Value v = evaluate(frame, id);
  if (auto *t = std::get_if<Term>(&v)) {
    if (t->is_bool())
      return z3::ite(*t, prover_.number(1), prover_.number(0));
    return *t;
  }
  throw NoFormula(program.expr(id).loc, "this value has no formula");
}

Term Evaluator::condition(Frame &frame, ExprId id) {
  Value v = evaluate(frame, id);
  if (auto *t = std::get_if<Term>(&v))
    return t->is_bool() ? *t : *t != 0;
  throw NoFormula(program.expr(id).loc, "this condition has no formula");
}

Value Evaluator::evaluate(Frame &frame, ExprId id) {
  const Expr &e = program.expr(id);
  switch (e.kind) {
  case ExprKind::IntLit:
    if (e.type == ValueType::Reduction)
      return ReductionValue{prover_.number(e.value),
                            prover_.truth(isCommutative(static_cast<Reduction>(e.value)))};
    if (e.type == ValueType::Int && (e.value > INT32_MAX || e.value < INT32_MIN) &&
        e.value != kNone)
      throw NotShown(
          e.loc, "numbers of more than 32 bits, whose products may not fit 64, have no formula");
    return e.type == ValueType::Bool ? prover_.truth(e.value != 0) : prover_.number(e.value);
  case ExprKind::LocalInt:
    if (std::holds_alternative<std::monostate>(frame.ints[e.slot]))
      throw NoFormula(e.loc, "this value has no formula");
    return frame.ints[e.slot];
  case ExprKind::MyRank:
    return frame.rank;
  case ExprKind::NumRanks:
    return frame.ranks;
  case ExprKind::SizeSymbol:
    return frame.sizes[e.slot];
  case ExprKind::Negate:
    return -integer(frame, e.a);
  case ExprKind::Not:
    return !condition(frame, e.a);
  case ExprKind::NotNone: {
    Value v = evaluate(frame, e.a);
    if (auto *t = std::get_if<Term>(&v); t && t->is_int())
      requireNumber(*t, e.loc);
    return v;
  }
  case ExprKind::Select:
    return select(frame, e);
  case ExprKind::CallBuiltin:
    return builtin(frame, e);
  case ExprKind::CallFunction:
    return callFunction(frame, e);
  case ExprKind::IsCommutative:
    return std::get<ReductionValue>(evaluate(frame, e.a)).commutes;
  case ExprKind::ListElement: {
    ListValue l = list(frame, e.a);
    Term i = integer(frame, e.b);
    require(e.loc, 0 <= i && i < l.length, "an index may lie beyond the list");
    return l.at(i);
  }
  case ExprKind::ListLength:
    return list(frame, e.a).length;
  case ExprKind::TreeRoot:
    return std::get<TreeValue>(evaluate(frame, e.a)).root;
  case ExprKind::TreeParent: {
    TreeValue t = tree(frame, e);
    return t.tree->parent(t.viewer);
  }
  case ExprKind::TreeAt: {
    TreeValue t = tree(frame, e);
    t.viewer = integer(frame, e.b);
    require(e.loc, ranks_.isRank(t.viewer), "the argument of 'at' may not be a rank");
    return t;
  }
  case ExprKind::MakeTree:
    return makeTree(frame, e);
  case ExprKind::GraphDegree: {
    auto g = std::get<GraphValue>(evaluate(frame, e.a));
    return g.graph->degree[e.value](g.viewer);
  }
  case ExprKind::GraphAt: {
    auto g = std::get<GraphValue>(evaluate(frame, e.a));
    g.viewer = integer(frame, e.b);
    require(e.loc, ranks_.isRank(g.viewer), "the argument of '@' may not be a rank");
    return g;
  }
  case ExprKind::EdgeSlot:
    return std::get<EdgeValue>(evaluate(frame, e.a)).slot;
  case ExprKind::EdgePeer: {
    auto edge = std::get<EdgeValue>(evaluate(frame, e.a));
    return edge.graph->peer[edge.direction](edge.viewer, edge.slot);
  }
  case ExprKind::EdgePeerSlot: {
    auto edge = std::get<EdgeValue>(evaluate(frame, e.a));
    return edge.graph->peerSlot[edge.direction](edge.viewer, edge.slot);
  }
  case ExprKind::Aggregation:
    return aggregation(frame, e);
  case ExprKind::TreeChildren:
  case ExprKind::ListLiteral:
  case ExprKind::ListComprehension:
    return list(frame, id);
  case ExprKind::Leader:
    return leader(frame, e);
  case ExprKind::GroupOf:
  case ExprKind::GroupWhere:
  case ExprKind::GroupSplit:
  case ExprKind::GroupLeaders:
    return makeGroup(frame, e);
  case ExprKind::GroupSize:
    return group(frame, e.a).size();
  case ExprKind::GroupRank: {
    GroupValue g = group(frame, e.a);
    return z3::ite(g.admits(frame.rank), g.numberOf(frame.rank), none());
  }
  case ExprKind::GroupContains: {
    GroupValue g = group(frame, e.a);
    Term r = integer(frame, e.b);
    return ranks_.isRank(r) && g.admits(r);
  }
  case ExprKind::GroupMember: {
    GroupValue g = group(frame, e.a);
    Term i = integer(frame, e.b);
    require(e.loc, 0 <= i && i < g.size(), "a member may lie beyond the group");
    return g.member(i);
  }
  default:
    if (e.type == ValueType::Slice)
      return slice(frame, id);
    if (e.kind >= ExprKind::Add && e.kind <= ExprKind::Ge)
      return binary(frame, e);
    throw NoFormula(e.loc, "this expression has no formula yet");
  }
}

/// A tree of which more than the root is known.
TreeValue Evaluator::tree(Frame &frame, const Expr &e) {
  auto value = std::get<TreeValue>(evaluate(frame, e.a));
  if (!value.tree)
    throw NoFormula(e.loc, "the ranks may not agree on the arguments of this tree");
  return value;
}

/// A declared tree. Its declaration and its arguments are the name: the same ones make the same
/// tree. Only the root is known of one whose arguments differ between ranks, and of one of a group.
Value Evaluator::makeTree(Frame &frame, const Expr &e) {
  DeclId id{static_cast<uint32_t>(e.value)};
  const Decl &decl = program.decl(id);
  Frame inner = makeFrame(id, frame);
  std::string name = program.nameOf(decl) + " " + std::to_string(index(id));
  std::optional<Term> root;
  TreeValue made{nullptr, frame.rank, none(), {}, {}, true};
  bool isAlike = isWhole(frame);
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Param &p = decl.params[i];
    ExprId argument = i < index(e.b) ? ExprId{program.operands[index(e.a) + i]} : kNoExpr;
    Value v = argument != kNoExpr ? evaluate(frame, argument) : evaluate(inner, p.defaultValue);
    const Term *t = std::get_if<Term>(&v);
    if (!t)
      throw NoFormula(e.loc, "an argument of this tree has no formula");
    isAlike = isAlike && !contains(*t, ranks_.rank);
    if (isAlike && !treesMayVary && hasVariables(*t))
      throw NotShown(e.loc, "trees that differ by the iteration have no formula yet");
    if (t->is_int())
      require(e.loc, isCandidate(inner, p, *t),
              "an argument of this tree may lie outside of its range");
    if (p.type == ValueType::Rank)
      require(e.loc, 0 <= *t && *t < frame.ranks, "an argument of this tree may not be a rank");
    if (program.nameOf(p) == "root")
      root = *t;
    (p.type == ValueType::Rank ? made.rankArguments : made.otherArguments).push_back(*t);
    name += ", " + t->to_string();
    inner.ints[p.slot] = v;
  }
  if (!root && !isAlike)
    throw NoFormula(e.loc, "a tree of a group whose root is not given has no formula");
  if (!root) {
    root = prover_.constant(name + ".root");
    prover_.assume(ranks_.isRank(*root));
  }
  structures.insert(program.nameOf(decl));
  made.root = *root;
  if (isAlike)
    made.tree = axioms_.tree(name, *root);
  return made;
}

Term Evaluator::isCandidate(Frame &frame, const Param &p, const Term &value) {
  if (p.candidates.size() != 1 || p.candidates[0].hi == kNoExpr)
    return prover_.truth(true);
  return integer(frame, p.candidates[0].lo) <= value && value <= integer(frame, p.candidates[0].hi);
}

/// a * b, shifted by so many places, fits an int.
void Evaluator::requireBits(SourceLoc loc, const Term &a, const Term &b, unsigned places) {
  std::map<unsigned, unsigned> known;
  for (const Term &p : longPowers_)
    if ((contains(a, p) || contains(b, p)) && !prover_.proves(facts, p <= kMostRanks))
      known[p.id()] = kPowerBits;
  unsigned bits[] = {bitsOf(a, known), bitsOf(b, known)};
  const Term factors[] = {a, b};
  const Term most = prover_.number(kMostRanks);
  for (unsigned i = 0; i < 2 && bits[0] + bits[1] + places > kMostBits; ++i)
    if (bits[i] > kRankBits && prover_.proves(facts, -most <= factors[i] && factors[i] <= most))
      bits[i] = kRankBits;
  if (bits[0] + bits[1] + places > kMostBits)
    throw NotShown(loc, "a product may not fit 64 bits");
}

Term Evaluator::binary(Frame &frame, const Expr &e) {
  if (e.kind == ExprKind::And || e.kind == ExprKind::Or) {
    Term a = condition(frame, e.a);
    WithFact with(facts, e.kind == ExprKind::And ? a : !a);
    Term b = condition(frame, e.b);
    return e.kind == ExprKind::And ? a && b : a || b;
  }
  if (e.kind == ExprKind::Eq || e.kind == ExprKind::Ne) {
    Value va = evaluate(frame, e.a), vb = evaluate(frame, e.b);
    if (auto *ra = std::get_if<ReductionValue>(&va)) {
      Term same = ra->id == std::get<ReductionValue>(vb).id;
      return e.kind == ExprKind::Eq ? same : !same;
    }
    const Term *a = std::get_if<Term>(&va), *b = std::get_if<Term>(&vb);
    if (!a || !b)
      throw NoFormula(e.loc, "these values have no formula");
    Term same =
        a->is_bool() == b->is_bool() ? *a == *b : integer(frame, e.a) == integer(frame, e.b);
    return e.kind == ExprKind::Eq ? same : !same;
  }
  Term a = integer(frame, e.a), b = integer(frame, e.b);
  requireNumber(a, e.loc);
  requireNumber(b, e.loc);
  switch (e.kind) {
  case ExprKind::Add:
    return a + b;
  case ExprKind::Sub:
    return a - b;
  case ExprKind::Mul:
    requireBits(e.loc, a, b, 0);
    return axioms_.product(a, b);
  case ExprKind::Div:
    require(e.loc, b > 0, "a divisor may not be positive");
    return axioms_.quotient(facts, a, b);
  case ExprKind::Mod:
    require(e.loc, b > 0, "a divisor may not be positive");
    return axioms_.remainder(facts, a, b);
  case ExprKind::Xor:
    return axioms_.exclusiveOr(a, b);
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight: {
    require(e.loc, 0 <= b && b < 63, "a number may be shifted too far");
    if (e.kind == ExprKind::ShiftRight)
      return axioms_.shiftedRight(facts, a, b);
    int64_t places = kRankBits;
    if (!Term(b).simplify().is_numeral_i64(places))
      require(e.loc, b <= prover_.number(places), "a number may be shifted too far");
    requireBits(e.loc, a, prover_.number(1), static_cast<unsigned>(places));
    return axioms_.shiftedLeft(a, b);
  }
  case ExprKind::Lt:
    return a < b;
  case ExprKind::Le:
    return a <= b;
  case ExprKind::Gt:
    return a > b;
  case ExprKind::Ge:
    return a >= b;
  default:
    throw NoFormula(e.loc, "this operator has no formula yet");
  }
}

Value Evaluator::select(Frame &frame, const Expr &e) {
  Term c = condition(frame, e.a);
  if (prover_.proves(facts, c, {e.loc, "this condition may not hold"}))
    return evaluate(frame, e.b);
  if (prover_.proves(facts, !c, {e.loc, "this condition may hold"}))
    return evaluate(frame, e.c);
  auto under = [&](const Term &fact, ExprId id) {
    WithFact with(facts, fact);
    return evaluate(frame, id);
  };
  OpenChoice open(openCalls_, calls_.size());
  Value a = under(c, e.b), b = under(!c, e.c);
  auto *ta = std::get_if<Term>(&a), *tb = std::get_if<Term>(&b);
  if (ta && tb)
    return ta->is_bool() == tb->is_bool() ? z3::ite(c, *ta, *tb)
                                          : throw NoFormula(e.loc, "this value has no formula");
  auto *sa = std::get_if<SliceValue>(&a), *sb = std::get_if<SliceValue>(&b);
  if (!sa || !sb)
    throw NoFormula(e.loc, "this choice has no formula");
  SliceValue both;
  for (const SliceValue::Alternative &x : sa->alternatives)
    both.alternatives.push_back({c && x.condition, x.pieces});
  for (const SliceValue::Alternative &x : sb->alternatives)
    both.alternatives.push_back({!c && x.condition, x.pieces});
  return both;
}

/// A function calls itself as often as its choices say. Where one is not decided, there is no end.
Value Evaluator::callFunction(Frame &frame, const Expr &e) {
  DeclId id{static_cast<uint32_t>(e.value)};
  const Decl &decl = program.decl(id);
  auto same = std::find(calls_.begin(), calls_.end(), id);
  if (same < calls_.begin() + static_cast<ptrdiff_t>(openCalls_) ||
      (same != calls_.end() && calls_.size() >= kMostCalls))
    throw NoFormula(e.loc, "the function '" + program.nameOf(decl) + "' calls itself");
  if (calls_.size() >= kMostCalls)
    throw NoFormula(e.loc, "more than " + std::to_string(kMostCalls) +
                               " functions within each other have no formula");
  Frame inner = makeFrame(id, frame);
  for (size_t i = 0; i < decl.params.size(); ++i) {
    ExprId argument = i < index(e.b) ? ExprId{program.operands[index(e.a) + i]} : kNoExpr;
    inner.ints[decl.params[i].slot] = argument != kNoExpr
                                          ? evaluate(frame, argument)
                                          : evaluate(inner, decl.params[i].defaultValue);
  }
  struct Call {
    Call(std::vector<DeclId> &calls, DeclId id) : calls(calls) { calls.push_back(id); }
    ~Call() { calls.pop_back(); }
    std::vector<DeclId> &calls;
  } call(calls_, id);
  return evaluate(inner, decl.result);
}

Term Evaluator::builtin(Frame &frame, const Expr &e) {
  auto argument = [&](uint32_t i) {
    return integer(frame, ExprId{program.operands[index(e.a) + i]});
  };
  switch (static_cast<Builtin>(e.value)) {
  case Builtin::Min:
  case Builtin::Max: {
    Term best = argument(0);
    for (uint32_t i = 1; i < index(e.b); ++i) {
      Term next = argument(i);
      best = z3::ite(static_cast<Builtin>(e.value) == Builtin::Min ? best <= next : best >= next,
                     best, next);
    }
    return best;
  }
  case Builtin::Pow2Floor: {
    Term a = argument(0);
    require(e.loc, a >= 1, "the argument of pow2floor may not be positive");
    return axioms_.powerOfTwoUpTo(a);
  }
  case Builtin::Log2: {
    Term a = argument(0);
    require(e.loc, a >= 1, "the argument of log2 may not be positive");
    return axioms_.logarithmDown(a);
  }
  case Builtin::CeilLog2: {
    Term a = argument(0);
    require(e.loc, a >= 1, "the argument of ceil_log2 may not be positive");
    return axioms_.logarithm(a);
  }
  case Builtin::Log:
  case Builtin::CeilLog: {
    Term a = argument(0), base = argument(1);
    require(e.loc, a >= 1, "the argument of a logarithm may not be positive");
    require(e.loc, base >= 2, "the base of a logarithm may be less than 2");
    return static_cast<Builtin>(e.value) == Builtin::Log ? axioms_.logarithmDown(a, base)
                                                         : axioms_.logarithmUp(a, base);
  }
  case Builtin::BitReverse: {
    Term a = argument(0), bits = argument(1);
    require(e.loc, 0 <= bits && bits <= 62, "so many bits may not be reversed");
    return axioms_.reversed(a, bits);
  }
  case Builtin::Abs: {
    Term a = argument(0);
    return z3::ite(a < 0, -a, a);
  }
  default:
    throw NoFormula(e.loc, "this function has no formula yet");
  }
}

/// The product of one number, so often: a power of it.
Term Evaluator::aggregation(Frame &frame, const Expr &e) {
  if (static_cast<Aggregate>(e.value) != Aggregate::Product || e.b != kNoExpr)
    throw NoFormula(e.loc, "this aggregate has no formula yet");
  ListValue over = list(frame, e.a);
  Frame inner = frame;
  Term index = prover_.fresh("factor");
  inner.ints[e.slot] = over.at(index);
  WithFact with(facts, 0 <= index && index < over.length);
  Term factor = integer(inner, e.c);
  if (contains(factor, index))
    throw NoFormula(e.loc, "a product of different numbers has no formula yet");
  Term count = over.length;
  if (count.decl().decl_kind() == Z3_OP_ITE && prover_.proves(facts, !count.arg(0)))
    count = count.arg(2);
  Term power = axioms_.power(factor, count);
  auto fits = [&](int64_t most) {
    if (axioms_.isPowerOfTwo(power))
      return count <= prover_.number(kRankBits);
    return count <= 1 || factor == 0 || factor == 1 ||
           (factor >= 2 && power <= prover_.number(most));
  };
  if (!prover_.proves(facts, fits(kMostRanks))) {
    require(e.loc, fits(int64_t{1} << kPowerBits), "a power may not fit 48 bits");
    longPowers_.push_back(power);
  }
  return power;
}

ListValue Evaluator::list(Frame &frame, ExprId id) {
  const Expr &e = program.expr(id);
  switch (e.kind) {
  case ExprKind::TreeChildren: {
    TreeValue t = this->tree(frame, e);
    const Tree *tree = t.tree;
    Term viewer = t.viewer;
    return {tree->children(viewer),
            [tree, viewer](const Term &i) { return tree->child(viewer, i); },
            z3::eq(viewer, ranks_.rank) ? tree : nullptr};
  }
  case ExprKind::RangeOf: {
    Term lo = integer(frame, e.a), hi = integer(frame, e.b);
    requireNumber(lo, e.loc);
    requireNumber(hi, e.loc);
    Term length = (e.value ? hi + 1 : hi) - lo;
    return {z3::ite(length < 0, prover_.number(0), length), [lo](const Term &i) { return lo + i; }};
  }
  case ExprKind::ListLiteral: {
    Terms values;
    for (uint32_t i = 0; i < index(e.b); ++i)
      values.push_back(integer(frame, ExprId{program.operands[index(e.a) + i]}));
    Prover &prover = prover_;
    return {prover_.number(static_cast<int64_t>(values.size())), [values, &prover](const Term &i) {
              Term picked = prover.number(0);
              for (size_t k = values.size(); k-- > 0;)
                picked = z3::ite(i == prover.number(static_cast<int64_t>(k)), values[k], picked);
              return picked;
            }};
  }
  case ExprKind::ListComprehension: {
    if (e.b != kNoExpr)
      throw NoFormula(e.loc, "a list with a condition has no formula yet");
    ListValue over = list(frame, e.a);
    Frame here = frame;
    auto at = [this, over, here, &e](const Term &i) mutable {
      here.ints[e.slot] = over.at(i);
      WithFact with(facts, 0 <= i && i < over.length);
      return integer(here, e.c);
    };
    at(prover_.fresh("item")); // all have a value, also those that nothing uses
    return {over.length, at};
  }
  default: {
    Value v = evaluate(frame, id);
    if (auto *l = std::get_if<ListValue>(&v))
      return *l;
    throw NoFormula(e.loc, "this list has no formula yet");
  }
  }
}

} // namespace colldsl::parameterized
