// Parameters and promises: the values that callers may give, as constants and functions.
#include "parameterized/Body.h"

#include "program/Operands.h"

namespace colldsl::parameterized {

namespace {

/// The names of texts are not those of formulas.
std::string givenName(const std::string &name) { return "given " + name; }

} // namespace

void Body::bindValue(const Param &p) {
  const std::string name = givenName(program_.nameOf(p));
  Value &slot = frame_.ints[p.slot];
  Term value = prover_.constant(name);
  switch (p.type) {
  case ValueType::Bool:
    slot = prover_.context().bool_const(name.c_str());
    return;
  case ValueType::Rank:
    prover_.assume(ranks_.isRank(value));
    slot = value;
    return;
  case ValueType::Bytes:
  case ValueType::Time:
  case ValueType::Int:
    prover_.assume(p.type == ValueType::Int ? value != evaluator_.none() : value >= 0);
    slot = value;
    if (p.candidates.size() == 1 && p.candidates[0].hi != kNoExpr)
      prover_.assume(evaluator_.isCandidate(frame_, p, value));
    return;
  case ValueType::Reduction:
    commutes.push_back(prover_.context().bool_const((name + ".commutes").c_str()));
    slot = ReductionValue{value, commutes.back()};
    return;
  case ValueType::IntList: {
    Term length = prover_.constant("length(" + name + ")");
    prover_.assume(length >= 0);
    z3::func_decl at = prover_.function(name, 1);
    Term none = evaluator_.none();
    prover_.addAxiom(at, [none](const Term &app, Terms &out) { out.push_back(app != none); });
    slot = ListValue{length, [at](const Term &i) { return at(i); }};
    return;
  }
  case ValueType::Tree: {
    Term root = prover_.constant(name + ".root");
    prover_.assume(ranks_.isRank(root));
    givenTrees_.push_back(axioms_.tree(name, root));
    slot = TreeValue{givenTrees_.back(), ranks_.rank, root, {}, {}, false};
    return;
  }
  case ValueType::Graph:
    slot = GraphValue{axioms_.graph(name), ranks_.rank};
    return;
  case ValueType::String:
  case ValueType::Edge:
  case ValueType::Group:
  case ValueType::Slice:
  case ValueType::Range:
  case ValueType::Edges:
  case ValueType::Slices:
    return; // what uses it is not shown
  }
}

const Tree *Body::treeParameter() const {
  return givenTrees_.size() == 1 ? givenTrees_[0] : nullptr;
}

/// A default is a value like another one: all ranks have it, and it is a candidate.
void Body::checkDefault(const Param &p) {
  if (p.defaultValue == kNoExpr)
    return;
  Value v = evaluator_.evaluate(frame_, p.defaultValue);
  requireAgreement(p.loc, v, program_.nameOf(p));
  if (auto *t = std::get_if<Term>(&v); t && t->is_int())
    evaluator_.require(p.loc,
                       evaluator_.isCandidate(frame_, p, *t) &&
                           (p.type == ValueType::Rank ? ranks_.isRank(*t) : prover_.truth(true)),
                       "the default of '" + program_.nameOf(p) + "' may lie outside of its range");
}

SliceValue Body::wholeOf(unsigned buffer) {
  const Buffer &b = buffers()[buffer];
  Term zero = prover_.number(0);
  Piece p{buffer, b.dims == 2, zero, b.blocks, zero, b.dims == 2 ? zero : b.length(zero)};
  return {{{prover_.truth(true), {p}}}};
}

/// Lengths that callers give in lists are not less than 0.
bool Body::assumeLength(const Term &size) {
  bool isGiven = size.decl().decl_kind() == Z3_OP_UNINTERPRETED && size.num_args() == 1 &&
                 size.decl().name().str().starts_with(givenName(""));
  if (isGiven)
    prover_.addAxiom(size.decl(), [](const Term &app, Terms &out) { out.push_back(app >= 0); });
  return isGiven;
}

unsigned Body::addBuffer(const std::string &name, BufferRole role, const BufferType &type,
                         const Term &isSignificant, SourceLoc loc) {
  auto index = static_cast<unsigned>(buffers().size());
  auto sizeOf = [&](const Dim &d) {
    if (d.kind == DimKind::Symbol || d.kind == DimKind::Fixed) {
      Term size = evaluator_.integer(frame_, d.expr);
      if (!assumeLength(size))
        evaluator_.require(loc, size >= 0, "the size of '" + name + "' may be less than 0");
      return size;
    }
    throw NotShown(loc, "blocks of capacity have no formula yet");
  };
  Buffer b{.name = name,
           .role = role,
           .type = type.generic ? std::nullopt : std::optional(type.type),
           .dims = type.dims,
           .blocks = prover_.number(1),
           .length = {},
           .isSignificant = isSignificant,
           .depth = static_cast<unsigned>(loops_.size())};
  if (type.dims == 2)
    b.blocks = sizeOf(type.dim[0]);
  const Dim &d = type.dim[type.dims - 1];
  if (d.kind == DimKind::CallTime) {
    z3::func_decl length = prover_.function("length of " + name, 2);
    prover_.addAxiom(length, [](const Term &app, Terms &out) { out.push_back(app >= 0); });
    Term rank = ranks_.rank;
    b.length = [length, rank](const Term &block) { return length(rank, block); };
    b.isOpen = true;
  } else if (d.kind == DimKind::Counts) {
    ListValue counts = evaluator_.list(frame_, d.expr);
    evaluator_.require(loc, counts.length == b.blocks,
                       "the lengths of '" + name + "' may not be as many as its blocks");
    Term i = prover_.fresh("block"), size = counts.at(i);
    if (!assumeLength(size))
      evaluator_.require(loc, implies(0 <= i && i < counts.length, size >= 0),
                         "a block of '" + name + "' may have less than 0 elements");
    b.length = counts.at;
  } else {
    Term size = sizeOf(d);
    b.length = [size](const Term &) { return size; };
  }
  evaluator_.buffers.push_back(std::move(b));
  return index;
}

void Body::bindParameters(Form form) {
  const Decl &decl = program_.decl(decl_);
  evaluator_.facts = {ranks_.isRank(ranks_.rank)};
  if (form && decl.aliases.size() > 1)
    throw NotShown(decl.aliases[*form].slice == kNoExpr ? decl.loc : decl.aliases[*form].loc,
                   "several forms in place, which may be taken at once, have no formula yet");
  for (const Param &p : decl.params)
    if (!p.isBuffer) {
      checkDefault(p);
      bindValue(p);
    }
  for (size_t i = 0; i < decl.sizeSlots; ++i) {
    Term size = prover_.constant(givenName("size " + std::to_string(i)));
    prover_.assume(size >= 0);
    frame_.sizes[i] = size;
  }
  for (ExprId requirement : decl.requirements)
    addRequirement(requirement);
  for (const Param &p : decl.params) {
    if (!p.isBuffer)
      continue;
    Term isSignificant = p.significantAt == kNoExpr
                             ? prover_.truth(true)
                             : evaluator_.integer(frame_, p.significantAt) == ranks_.rank;
    unsigned buffer = addBuffer(program_.nameOf(p), p.role, p.buffer, isSignificant, p.loc);
    frame_.slices[p.slot] = wholeOf(buffer);
    entries_.push_back(entry(buffer));
  }
  parameters_ = static_cast<unsigned>(buffers().size());
  Contract contract{frame_, frame_, std::nullopt};
  moveToOther(contract.operands, decl);
  entryFrame_ = contract.operands;
  std::vector<Promise> apart; // in no form in place, as lengths belong to parameters
  for (uint32_t ensure : decl.ensures)
    promise(contract, ensure, {}, {}, apart);
  equateLengths(apart);
  if (form) {
    const AliasClause &alias = decl.aliases[*form];
    const Param &inner = decl.params[alias.param];
    SliceValue place = evaluator_.slice(frame_, alias.slice);
    const Piece own = std::get<SliceValue>(frame_.slices[inner.slot]).alternatives[0].pieces[0];
    Piece &there = place.alternatives[0].pieces[0];
    if (own.isRun != there.isRun)
      throw NotShown(alias.slice == kNoExpr ? decl.loc : program_.expr(alias.slice).loc,
                     "this form in place has no formula yet");
    there.length = own.length; // also where the host is not significant
    Buffer &host = evaluator_.buffers[there.buffer];
    if (inner.role != BufferRole::Out) {
      auto [fromBlock, fromElement] = origin(own, there);
      entries_[there.buffer] =
          choose(isIn(there), contentAt(entries_[own.buffer], fromBlock, fromElement),
                 entries_[there.buffer]);
    }
    host.isSignificant = host.isSignificant || isIn(there);
    host.holdsOther = true;
    frame_.slices[inner.slot] = place;
    contract.targets = frame_;
  }
  for (uint32_t ensure : decl.ensures)
    promise(contract, ensure, {}, {}, promises_);
  for (unsigned b = 0; b < parameters_; ++b)
    if (buffers()[b].role == BufferRole::InOut)
      entries_[b].isDefined = entries_[b].isDefined && isOperand(b);
}

/// `where` holds: callers guarantee it. A part without a formula is not used; one that is an
/// alternative to an operator that commutes restricts the proof to such operators.
void Body::addRequirement(ExprId id) {
  const Expr &e = program_.expr(id);
  if (e.kind == ExprKind::And) {
    addRequirement(e.a);
    addRequirement(e.b);
    return;
  }
  try {
    Prover::Attempt attempt(prover_);
    prover_.assume(evaluator_.condition(frame_, id));
    attempt.succeed();
  } catch (const NoFormula &) {
    if (e.kind == ExprKind::Or && program_.expr(e.a).kind == ExprKind::IsCommutative) {
      prover_.assume(evaluator_.condition(frame_, e.a));
      restrictedTo = "operators that commute";
    } else if (mayFail(id)) {
      throw;
    }
  }
}

/// A slice that rank `other_` has, by the indices of this rank.
SliceValue Body::operandOf(Contract &contract, ExprId id) {
  Changed<Term> holder(evaluator_.holder, other_);
  return evaluator_.slice(contract.operands, id);
}

/// All combines of a collective, and its promises, have one operator.
void Body::requireOperation(SourceLoc loc, const ReductionValue &operation) {
  Changed<std::optional<GroupValue>> all(callGroup_, std::nullopt);
  requireAgreement(loc, operation, "operator");
  if (!operation_)
    operation_ = operation;
  else if (!prover_.proves(evaluator_.facts,
                           operation_->id == operation.id &&
                               operation_->commutes == operation.commutes,
                           {loc, "this may be another operator"}))
    throw NotShown(loc, "several operators in one collective have no formula yet");
}

std::pair<Term, std::function<Value(const Term &)>> Body::valuesOf(Frame &frame, ExprId iterable) {
  const Expr &over = program_.expr(iterable);
  if (over.kind != ExprKind::EdgesOf) {
    ListValue list = evaluator_.list(frame, iterable);
    return {list.length, [list](const Term &i) -> Value { return list.at(i); }};
  }
  auto g = std::get<GraphValue>(evaluator_.evaluate(frame, over.a));
  auto direction = static_cast<unsigned>(over.value);
  return {g.graph->degree[direction](g.viewer), [g, direction](const Term &i) -> Value {
            return EdgeValue{g.graph, direction, g.viewer, i};
          }};
}

/// The slices of the buffers as rank `other_` has them.
void Body::moveToOther(Frame &frame, const Decl &decl) {
  for (const Param &p : decl.params) {
    if (!p.isBuffer)
      continue;
    for (SliceValue::Alternative &a : std::get<SliceValue>(frame.slices[p.slot]).alternatives) {
      a.condition = atOther(a.condition);
      for (Piece &piece : a.pieces)
        for (Term *t : {&piece.block, &piece.blocks, &piece.begin, &piece.length})
          *t = atOther(*t);
    }
  }
}

/// The rank that a contract, of all ranks or of a group, calls `number`; refuses if there may be
/// none.
Term Body::rankOf(const Contract &contract, const Term &number, SourceLoc loc,
                  const std::string &what) {
  evaluator_.require(loc, 0 <= number && number < contract.targets.ranks, what);
  if (!contract.group)
    return number;
  const GroupValue &group = *contract.group;
  if (number.is_app() && number.decl().id() == group.groups->number.id()) {
    // The member with the number of a member is that.
    Term member = number.arg(number.num_args() - 1);
    if (prover_.proves(evaluator_.facts, ranks_.isRank(member) && group.admits(member) &&
                                             group.member(number) == member))
      return member;
  }
  return group.member(number);
}

/// A reduction has a contribution, also if its target has no elements. Where it has some, nothing
/// else can hold the promise.
void Body::requireContribution(SourceLoc loc, const SliceValue &target, const ListValue &over,
                               const Terms &has, const Term &i, const Term &ofThisRank) {
  Terms facts = evaluator_.facts, some;
  facts.pop_back(); // that there is one
  for (const Value &size : frame_.sizes)
    facts.push_back(std::get<Term>(size) >= 1);
  for (const SliceValue::Alternative &a : target.alternatives)
    for (const Piece &p : a.pieces)
      some.push_back(a.condition && (p.isRun ? p.blocks : p.length) >= 1);
  for (const Term &witness : {prover_.number(0), over.length - 1, ofThisRank})
    some.push_back(substitute(conjunction(prover_, has), {i}, {witness}));
  prover_.require(facts, disjunction(prover_, some), {loc, "a reduction may have no contribution"});
}

void Body::promise(Contract &contract, uint32_t ensure, Terms condition, Terms variables,
                   std::vector<Promise> &out) {
  const EnsureNode &node = program_.ensures[ensure];
  size_t numFacts = evaluator_.facts.size();
  auto bindVariable = [&] {
    auto [count, value] = valuesOf(contract.targets, node.iterable);
    Term i = prover_.fresh("promised");
    variables.push_back(i);
    condition.push_back(0 <= i && i < count);
    evaluator_.facts.push_back(condition.back());
    contract.targets.ints[node.slot] = contract.operands.ints[node.slot] = value(i);
    if (node.condition != kNoExpr) {
      condition.push_back(evaluator_.condition(contract.targets, node.condition));
      evaluator_.facts.push_back(condition.back());
    }
    return i;
  };
  switch (node.kind) {
  case EnsureKind::ForEach:
    bindVariable();
    promise(contract, node.inner, condition, variables, out);
    break;
  case EnsureKind::At:
    condition.push_back(evaluator_.condition(contract.targets, node.condition));
    evaluator_.facts.push_back(condition.back());
    promise(contract, node.inner, condition, variables, out);
    break;
  case EnsureKind::Equal: {
    Term from =
        node.rank == kNoExpr ? ranks_.rank : evaluator_.integer(contract.targets, node.rank);
    condition.push_back(from != evaluator_.none()); // nothing comes along an edge to none
    evaluator_.facts.push_back(condition.back());
    Term giver = from;
    if (node.rank != kNoExpr)
      giver = rankOf(contract, from, node.loc, "the rank of this promise may not be one");
    SliceValue target = evaluator_.slice(contract.targets, node.target);
    bool agreed = variables.empty() &&
                  isAgreed(giver, {node.loc, "the rank of this promise may not be that of all"});
    evaluator_.facts.push_back(other_ == giver);
    out.push_back({node.loc, condition, variables, target, operandOf(contract, node.operand),
                   source == giver, false, agreed});
    break;
  }
  case EnsureKind::EqualReduce: {
    // The contributing rank is the variable itself, or it has no formula.
    SliceValue target = evaluator_.slice(contract.targets, node.target);
    ListValue over = evaluator_.list(contract.targets, node.iterable);
    Term i = prover_.fresh("contributor");
    Terms has{0 <= i && i < over.length};
    evaluator_.facts.push_back(has.back());
    contract.targets.ints[node.slot] = contract.operands.ints[node.slot] = over.at(i);
    if (node.condition != kNoExpr)
      has.push_back(evaluator_.condition(contract.targets, node.condition));
    Term from = node.rank == kNoExpr ? contract.targets.rank
                                     : evaluator_.integer(contract.targets, node.rank);
    Terms inverse = axioms_.inverses().solve(prover_, from, i, source);
    if (inverse.size() != 1)
      throw NotShown(node.loc, "the contributions of this promise have no formula yet");
    if (contract.targets.decl == decl_)
      requireContribution(node.loc, target, over, has, i,
                          substitute(inverse[0], {source}, {ranks_.rank}));
    // In a group the number of `source` takes its place.
    auto renamed = [&](const Term &t) {
      Term inNumbers = substitute(t, {i}, inverse);
      return contract.group ? substitute(inNumbers, {source}, {contract.group->numberOf(source)})
                            : inNumbers;
    };
    // Each contribution comes once, and in the order of ranks if the operator needs one.
    evaluator_.facts.insert(evaluator_.facts.end(), has.begin() + 1, has.end());
    Term giver = rankOf(contract, from, node.loc, "the rank of a contribution may not be one");
    evaluator_.require(node.loc, substitute(inverse[0], {source}, {from}) == i,
                       "the contributions of this promise have no formula yet");
    auto operation =
        std::get<ReductionValue>(evaluator_.evaluate(contract.targets, node.reduction));
    requireOperation(node.loc, operation);
    Term k = prover_.fresh("contributor"), later = substitute(from, {i}, {k});
    Terms facts = evaluator_.facts;
    for (const Term &t : has)
      facts.push_back(substitute(t, {i}, {k}));
    prover_.require(facts, operation.commutes || implies(i < k, from < later),
                    {node.loc, "the contributions may not be in the order of ranks"});
    has.push_back(from == source);
    evaluator_.facts.push_back(other_ == giver);
    SliceValue operand = operandOf(contract, node.operand);
    for (SliceValue::Alternative &a : operand.alternatives) {
      a.condition = renamed(a.condition);
      for (Piece &p : a.pieces)
        for (Term *t : {&p.block, &p.blocks, &p.begin, &p.length})
          *t = renamed(*t);
    }
    Term contributes = renamed(conjunction(prover_, has));
    if (contract.group)
      contributes = ranks_.isRank(source) && contract.group->admits(source) && contributes;
    out.push_back({node.loc, condition, variables, target, operand, contributes, true});
    break;
  }
  case EnsureKind::Synchronizes: // Synchronization.h
  case EnsureKind::Cost:
    break; // proved for the numbers of ranks that are tried
  }
  evaluator_.facts.resize(numFacts, prover_.truth(true));
}

/// A formula: a promise needs what an `inout` buffer of this rank holds at entry; other ones may
/// hold nothing. It is true if that is not known.
Term Body::isOperand(unsigned buffer) const { return isOperand(promises_, buffer); }

Term Body::isOperand(const std::vector<Promise> &promises, unsigned buffer) const {
  Terms any{prover_.truth(promises.empty())};
  for (const Promise &p : promises)
    for (const SliceValue::Alternative &a : p.operand.alternatives)
      if (a.pieces[0].buffer == buffer) {
        // The operand is that of one rank that all agree on, or of any.
        Term is = p.isReduction || !p.isAgreed || !p.variables.empty()
                      ? prover_.truth(true)
                      : substitute(p.has, {source}, {ranks_.rank});
        any.push_back(is);
      }
  return disjunction(prover_, any);
}

Content Body::promised(const Promise &promise, const SliceValue::Alternative &operand, size_t piece,
                       const Piece &target) {
  const Piece &from = operand.pieces[piece];
  auto [fromBlock, fromElement] = origin(from, target);
  return {prover_.truth(true), prover_.number(from.buffer), promise.has, fromBlock, fromElement};
}

/// Callers give blocks of call-time length the lengths that the promises need: a target is as long
/// as each operand.
void Body::equateLengths(const std::vector<Promise> &promises) {
  auto isFree = [&](unsigned buffer, const Term &length) {
    return length.decl().decl_kind() == Z3_OP_UNINTERPRETED &&
           length.decl().name().str() == "length of " + buffers()[buffer].name;
  };
  const Term rank = ranks_.rank;
  for (const Promise &p : promises) {
    const Piece to = p.target.alternatives[0].pieces[0];
    const Piece from = p.operand.alternatives[0].pieces[0];
    if (to.isRun || from.isRun || p.target.alternatives.size() > 1 ||
        p.operand.alternatives.size() > 1)
      continue;
    Term toLength = buffers()[to.buffer].length(block);
    Term fromLength = buffers()[from.buffer].length(block);
    if (!isFree(to.buffer, toLength) || !isFree(from.buffer, fromLength))
      continue;
    // Rank `r` promises its block `b` for this variable; rank `giver` is an operand.
    auto holds = [this, p, to, rank](const Term &r, const Term &b, const Terms &v) {
      Terms names{rank}, those{r};
      names.insert(names.end(), p.variables.begin(), p.variables.end());
      those.insert(those.end(), v.begin(), v.end());
      return ranks_.isRank(r) && substitute(conjunction(prover_, p.condition), names, those) &&
             substitute(to.block, names, those) == b;
    };
    auto variablesFor = [this, p, to, rank](const Term &r, const Term &b) {
      std::vector<Terms> all{{}};
      if (!p.variables.empty()) {
        all.clear();
        for (const Term &v : axioms_.inverses().solve(prover_, substitute(to.block, {rank}, {r}),
                                                      p.variables[0], b))
          all.push_back({v});
      }
      return all;
    };
    auto at = [this, p, rank](const Term &t, const Term &r, const Terms &v) {
      Terms names{rank}, those{r};
      names.insert(names.end(), p.variables.begin(), p.variables.end());
      those.insert(those.end(), v.begin(), v.end());
      return substitute(t, names, those);
    };
    prover_.addAxiom(toLength.decl(), fromLength.decl(),
                     [=, this](const Term &t, const Term &f, Terms &out) {
                       for (const Terms &v : variablesFor(t.arg(0), t.arg(1))) {
                         Term gives = substitute(at(p.has, t.arg(0), v), {source}, {f.arg(0)});
                         out.push_back(implies(holds(t.arg(0), t.arg(1), v) && gives &&
                                                   ranks_.isRank(f.arg(0)) &&
                                                   at(from.block, t.arg(0), v) == f.arg(1),
                                               t == f));
                       }
                     });
    // The terms that the pairs above need: the operand of a target, the target of an operand.
    prover_.addAxiom(toLength.decl(), [=, this](const Term &t, Terms &out) {
      if (!p.isReduction)
        for (const Terms &v : variablesFor(t.arg(0), t.arg(1)))
          out.push_back(implies(
              holds(t.arg(0), t.arg(1), v),
              t == fromLength.decl()(at(p.has.arg(1), t.arg(0), v), at(from.block, t.arg(0), v))));
    });
    if (p.isReduction && p.variables.empty())
      prover_.addAxiom(fromLength.decl(), [=, this](const Term &f, Terms &out) {
        for (const Term &r : axioms_.inverses().solve(prover_, from.block, rank, f.arg(1)))
          out.push_back(implies(holds(r, at(to.block, r, {}), {}) &&
                                    substitute(at(p.has, r, {}), {source}, {f.arg(0)}) &&
                                    ranks_.isRank(f.arg(0)),
                                f == toLength.decl()(r, at(to.block, r, {}))));
      });
  }
}

} // namespace colldsl::parameterized
