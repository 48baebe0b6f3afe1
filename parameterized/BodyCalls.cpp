// Calls by contract: what the callee promises happens to the slices that it is given. The callee is
// proved by itself. Messages of different calls never meet, so only data and order compose. A call
// over a group is one by the members of each group: the callee's ranks are their numbers.
#include "parameterized/Body.h"

#include <algorithm>

namespace colldsl::parameterized {

/// A formula: rank `other_` takes part in the call that is made, with this rank.
Term Body::isPartner() const {
  return callGroup_ ? callGroup_->admits(other_) : prover_.truth(true);
}

/// All ranks that take part in the call have the same value.
bool Body::isAgreed(const Term &value, const Mistake &mistake) {
  if (!contains(value, ranks_.rank))
    return true;
  Terms facts = evaluator_.facts;
  facts.push_back(isPartner());
  return prover_.proves(facts, value == atOther(value), mistake);
}

void Body::requireAgreement(SourceLoc loc, const Term &value, const std::string &what) {
  if (!isAgreed(value, {loc, what}))
    throw NotShown(loc, what);
}

void Body::requireAgreement(SourceLoc loc, const Value &value, const std::string &name) {
  std::string what = "the ranks may not agree on '" + name + "'";
  if (auto *t = std::get_if<Term>(&value))
    requireAgreement(loc, *t, what);
  if (auto *r = std::get_if<ReductionValue>(&value)) {
    requireAgreement(loc, r->id, what);
    requireAgreement(loc, r->commutes, what);
  }
  if (auto *t = std::get_if<TreeValue>(&value)) {
    for (const Terms *arguments : {&t->rankArguments, &t->otherArguments})
      for (const Term &a : *arguments)
        requireAgreement(loc, a, what);
    if (t->tree && !z3::eq(t->viewer, ranks_.rank))
      throw NotShown(loc, what);
  }
  if (auto *g = std::get_if<GraphValue>(&value); g && !z3::eq(g->viewer, ranks_.rank))
    throw NotShown(loc, what);
  if (auto *l = std::get_if<ListValue>(&value)) {
    Term i = prover_.fresh("index");
    requireAgreement(loc, l->length, what);
    evaluator_.facts.push_back(0 <= i && i < l->length);
    requireAgreement(loc, l->at(i), what);
    evaluator_.facts.pop_back();
  }
}

/// An argument of a call over a group: ranks become their numbers in it.
Value Body::translated(SourceLoc loc, const Param &p, const Value &value) {
  std::string name = "'" + program_.nameOf(p) + "'";
  auto numberOf = [&](const Term &r) {
    evaluator_.require(loc, ranks_.isRank(r) && callGroup_->admits(r),
                       name + " may not be in the group of the call");
    return callGroup_->numberOf(r);
  };
  if (std::holds_alternative<GraphValue>(value))
    throw NoFormula(loc, "a graph for a call over a group has no formula yet");
  if (auto *t = std::get_if<Term>(&value); t && p.type == ValueType::Rank) {
    roots_.push_back(*t);
    return numberOf(*t);
  }
  auto *t = std::get_if<TreeValue>(&value);
  if (!t)
    return value;
  if (!t->isDeclared)
    throw NoFormula(loc, "a tree of all ranks has no formula in a call over a group");
  TreeValue there{nullptr, callGroup_->numberOf(ranks_.rank), t->root, {}, t->otherArguments, true};
  bool isRootGiven = false;
  for (const Term &r : t->rankArguments) {
    there.rankArguments.push_back(numberOf(r));
    if (z3::eq(r, t->root)) {
      there.root = there.rankArguments.back();
      isRootGiven = true;
    }
  }
  if (!isRootGiven)
    throw NoFormula(loc, "a tree whose root is not given has no formula in a call over a group");
  return there;
}

/// True if a list has the lengths of a temporary's blocks, at this statement or below it.
bool Body::hasListedLengths(StmtId id) const {
  if (id == kNoStmt)
    return false;
  const Stmt &s = program_.stmt(id);
  if (s.kind == StmtKind::Temp) {
    const BufferType &type = program_.temps[static_cast<size_t>(s.value)];
    return type.dim[type.dims - 1].kind == DimKind::Counts;
  }
  bool has = hasListedLengths(s.body) || hasListedLengths(s.otherwise);
  for (uint32_t i = 0; s.kind == StmtKind::Block && i < s.listCount; ++i)
    has = has || hasListedLengths(StmtId{program_.operands[s.listBegin + i]});
  return has;
}

/// The callee's parameters, as slices and values of this rank; the operands' slices are those of
/// `other_`, any rank.
Body::Contract Body::bindCall(const Stmt &s, const Decl &callee, bool isRestricted) {
  DeclId id{static_cast<uint32_t>(s.value)};
  Frame frame = evaluator_.makeFrame(id, callGroup_);
  Contract contract{frame, frame, callGroup_};
  Frame &inner = contract.targets;
  auto argumentOf = [&](size_t i) {
    return i < s.listCount ? ExprId{program_.operands[s.listBegin + i]} : kNoExpr;
  };
  for (size_t i = 0; i < callee.params.size(); ++i) {
    const Param &p = callee.params[i];
    ExprId argument = argumentOf(i);
    if (p.isBuffer) {
      inner.slices[p.slot] = evaluator_.slice(frame_, argument);
      continue;
    }
    Changed<bool> trees(evaluator_.treesMayVary, true); // the callee is proved for any tree
    Value v = argument != kNoExpr ? evaluator_.evaluate(frame_, argument)
                                  : evaluator_.evaluate(inner, p.defaultValue);
    requireAgreement(s.loc, v, program_.nameOf(p));
    if (callGroup_ && argument != kNoExpr)
      v = translated(s.loc, p, v);
    // The callee's proof takes lengths not to be negative; those of parameters are compared.
    if (auto *l = std::get_if<ListValue>(&v); l && hasListedLengths(callee.body)) {
      Term at = prover_.fresh("index");
      evaluator_.require(s.loc, implies(0 <= at && at < l->length, l->at(at) >= 0),
                         "a length in '" + program_.nameOf(p) + "' may be less than 0");
    }
    if (auto *r = std::get_if<ReductionValue>(&v); r && isRestricted)
      evaluator_.require(s.loc, r->commutes,
                         "'" + program_.nameOf(callee) +
                             "' is proved for operators that commute only");
    if (auto *t = std::get_if<Term>(&v)) {
      if (p.type == ValueType::Rank)
        evaluator_.require(s.loc, 0 <= *t && *t < inner.ranks,
                           "'" + program_.nameOf(p) + "' may not be a rank");
      if (t->is_int())
        evaluator_.require(s.loc, evaluator_.isCandidate(inner, p, *t) && *t != evaluator_.none(),
                           "'" + program_.nameOf(p) + "' may lie outside of its range");
      if (p.type == ValueType::Bytes || p.type == ValueType::Time)
        evaluator_.require(s.loc, *t >= 0, "'" + program_.nameOf(p) + "' may be less than 0");
    }
    inner.ints[p.slot] = std::move(v);
  }
  bindSizes(s, callee, inner);
  for (ExprId requirement : callee.requirements)
    require(s, callee, inner, requirement);
  contract.operands = inner;
  moveToOther(contract.operands, callee);
  return contract;
}

/// Proves a part of the callee's `where`. One that has no formula was not used in the callee's
/// proof, but for the operator that commutes in its place.
void Body::require(const Stmt &s, const Decl &callee, Frame &inner, ExprId id) {
  const Expr &e = program_.expr(id);
  if (e.kind == ExprKind::And) {
    require(s, callee, inner, e.a);
    require(s, callee, inner, e.b);
    return;
  }
  std::string what = "a 'where' of '" + program_.nameOf(callee) + "' may not hold";
  bool isAlternative = e.kind == ExprKind::Or && program_.expr(e.a).kind == ExprKind::IsCommutative;
  try {
    Prover::Attempt attempt(prover_);
    evaluator_.require(s.loc, evaluator_.condition(inner, id), what);
    attempt.succeed();
  } catch (const NoFormula &) {
    // It was not used, but for the operator that commutes in its place.
    if (isAlternative)
      evaluator_.require(s.loc, evaluator_.condition(inner, e.a), what);
    else
      throw;
  }
}

/// Size symbols take the lengths of the slices; other dimensions have to agree with these.
void Body::bindSizes(const Stmt &s, const Decl &callee, Frame &inner) {
  auto bind = [&](const Dim &d, const Term &size) {
    if (d.kind == DimKind::Symbol)
      requireAgreement(s.loc, size, "the ranks may not agree on the lengths of slices");
    if (d.kind == DimKind::Symbol && std::holds_alternative<std::monostate>(inner.sizes[d.slot]))
      inner.sizes[d.slot] = size;
    else if (d.kind == DimKind::Symbol || d.kind == DimKind::Fixed)
      evaluator_.require(s.loc, evaluator_.integer(inner, d.expr) == size,
                         "a slice may not have the shape that the callee declares");
    else if (d.kind == DimKind::Capacity)
      throw NoFormula(s.loc, "blocks of capacity have no formula yet");
  };
  for (const Param &p : callee.params) {
    if (!p.isBuffer)
      continue;
    for (const SliceValue::Alternative &a : possible(std::get<SliceValue>(inner.slices[p.slot]))) {
      evaluator_.facts.push_back(a.condition);
      const Piece &piece = a.pieces[0];
      const Buffer &buffer = buffers()[piece.buffer];
      const Dim &length = p.buffer.dim[p.buffer.dims - 1];
      if (p.buffer.dims == 2 && !piece.isRun)
        throw NoFormula(s.loc, "elements that the callee sees as blocks have no formula yet");
      if (p.buffer.dims == 2) {
        bind(p.buffer.dim[0], piece.blocks);
        Term i = prover_.fresh("block");
        evaluator_.facts.push_back(0 <= i && i < piece.blocks);
        Term ofBlock = buffer.length(piece.block + i);
        if (length.kind == DimKind::Counts)
          evaluator_.require(s.loc, evaluator_.list(inner, length.expr).at(i) == ofBlock,
                             "a block may not be as long as the callee declares");
        else if (length.kind == DimKind::Symbol &&
                 std::holds_alternative<std::monostate>(inner.sizes[length.slot]))
          bind(length, buffer.length(piece.block)), bind(length, ofBlock);
        else
          bind(length, ofBlock);
        evaluator_.facts.pop_back();
      } else if (!piece.isRun) {
        bind(length, piece.length);
      } else if (length.kind == DimKind::Symbol &&
                 std::holds_alternative<std::monostate>(inner.sizes[length.slot])) {
        // The size is the number of elements of the run. All ranks have as many blocks, as long
        // ones.
        Term i = prover_.fresh("block");
        requireAgreement(s.loc, piece.blocks, "the ranks may not agree on the lengths of slices");
        evaluator_.facts.push_back(0 <= i && i < piece.blocks);
        requireAgreement(s.loc, buffer.length(piece.block + i),
                         "the ranks may not agree on the lengths of slices");
        evaluator_.facts.pop_back();
        inner.sizes[length.slot] = prover_.fresh("elements");
      } else {
        throw NoFormula(s.loc, "blocks that the callee sees as elements have no formula yet");
      }
      evaluator_.facts.pop_back();
    }
  }
}

/// Slices of which one is written do not overlap, unless the callee is proved in place.
void Body::requireForms(const Stmt &s, const Decl &callee, Frame &inner) {
  auto sliceOf = [&](const Param &p) {
    return possible(std::get<SliceValue>(inner.slices[p.slot]));
  };
  for (size_t i = 0; i < callee.params.size(); ++i)
    for (size_t k = 0; k < callee.params.size(); ++k) {
      const Param &p = callee.params[i], &q = callee.params[k];
      if (i == k || !p.isBuffer || !q.isBuffer || p.role == BufferRole::In)
        continue;
      for (const SliceValue::Alternative &a : sliceOf(p))
        for (const SliceValue::Alternative &b : sliceOf(q)) {
          if (a.pieces[0].buffer != b.pieces[0].buffer)
            continue;
          Terms facts = evaluator_.facts;
          facts.insert(facts.end(),
                       {a.condition, b.condition, isIn(a.pieces[0]), isIn(b.pieces[0])});
          if (prover_.refutes(facts, {s.loc, "slices of this call may overlap"}))
            continue;
          bool isForm = false;
          for (const AliasClause &alias : callee.aliases) {
            if (alias.param != i && alias.param != k)
              continue;
            const Piece &lies = (alias.param == i ? a : b).pieces[0];
            SliceValue place = evaluator_.slice(inner, alias.slice);
            for (const SliceValue::Alternative &c : place.alternatives)
              isForm = isForm || isSame(lies, c.pieces[0]);
          }
          if (!isForm)
            throw NotShown(s.loc, "the slices of '" + program_.nameOf(p) + "' and '" +
                                      program_.nameOf(q) + "' may overlap");
        }
    }
}

/// The value that a promise of the callee gives to each position of the target, by what the
/// operands hold at the call.
Content Body::broughtBy(const Promise &promise, const Piece &target, SourceLoc loc) {
  Content all = undefined();
  for (const SliceValue::Alternative &a : promise.operand.alternatives) {
    // The operand of rank `other_`, which contributes it to a reduction.
    auto held = [&](const Term &t) {
      return promise.isReduction ? substitute(t, {source}, {other_}) : t;
    };
    Piece from = a.pieces[0];
    for (Term *t : {&from.block, &from.blocks, &from.begin, &from.length})
      *t = held(*t);
    auto [fromBlock, fromElement] = origin(from, target);
    Content there = map(state_[from.buffer], [&](const Term &t) {
      return substitute(t, {ranks_.rank, block, element}, {other_, fromBlock, fromElement});
    });
    auto at = [&](const Term &holder) {
      return map(there, [&](const Term &t) { return substitute(t, {other_}, {holder}); });
    };
    if (!promise.isReduction) {
      Term giver = promise.has.arg(1);
      all = choose(substitute(a.condition, {other_}, {giver}), at(giver), all);
      continue;
    }
    Terms facts = evaluator_.facts;
    facts.insert(facts.end(), promise.condition.begin(), promise.condition.end());
    facts.insert(facts.end(),
                 {isIn(target), held(a.condition), there.isDefined, held(promise.has)});
    bool isOwn = prover_.proves(facts, there.has == (source == other_),
                                {loc, "an operand may be more than the contribution of its rank"});
    Term holder = isOwn ? source : holderOf(there, std::move(facts), loc);
    Content one = at(holder);
    Term has = substitute(promise.has, {source}, {holder});
    one.has = isOwn ? has : ranks_.isRank(source) && one.has && has;
    all = choose(substitute(held(a.condition), {other_}, {holder}), one, all);
    // It is defined where that of every rank is; bindings require that.
    all.isDefined = prover_.truth(true);
  }
  return all;
}

Terms Body::holders() const {
  Terms all{ranks_.rank};
  for (const Terms *some : {&evaluator_.leaders, &roots_})
    for (const Term &h : *some)
      if (std::none_of(all.begin(), all.end(), [&](const Term &t) { return z3::eq(t, h); }))
        all.push_back(h);
  return all;
}

/// Ranks that may hold the contribution of `source`, where `has` tells whether `other_` does: those
/// on which the members of its group agree, and those that the condition names. Of two that it
/// names, the first holds the contribution where the condition is true of it, else the second.
Terms Body::possibleHolders(const Term &has) {
  Terms all;
  for (const Term &h : holders())
    all.push_back(substitute(h, {ranks_.rank}, {source}));
  Terms named = solveContribution(has, other_, true);
  std::erase_if(named, [&](const Term &t) { return contains(t, other_); });
  for (const Term &first : named)
    for (const Term &second : named)
      if (!z3::eq(first, second))
        all.push_back(
            z3::ite(ranks_.isRank(first) && substitute(has && isPartner(), {other_}, {first}),
                    first, second));
  return all;
}

/// The rank whose operand of a reduction has the contribution of `source`, where the facts hold of
/// the operand `there` of rank `other_`. Each rank contributes to one operand only.
Term Body::holderOf(const Content &there, Terms facts, SourceLoc loc) {
  facts.push_back(there.has);
  for (const Term &holder : possibleHolders(there.has)) {
    if (!prover_.proves(facts, ranks_.isRank(source) && other_ == holder,
                        {loc, "a contribution may be to several operands"}))
      continue;
    // Operands are combined in the order of the ranks that hold them: that of two contributions.
    Term first = prover_.fresh("contributor"), second = prover_.fresh("contributor");
    Term holderOfFirst = substitute(holder, {source}, {first});
    Terms both{first < second, other_ < holderOfFirst};
    for (const Term &t : facts) {
      both.push_back(substitute(t, {source}, {second}));
      both.push_back(substitute(t, {source, other_}, {first, holderOfFirst}));
    }
    const std::string what = "contributions may not be combined in the order of ranks";
    if (prover_.proves(both, operation_->commutes, {loc, what}))
      return holder;
    NotShown error(loc, what);
    error.forWantOfOrder = true;
    throw error;
  }
  throw NoFormula(loc, "an operand of a reduction is one itself: this has no formula yet");
}

/// The sides of a promise are as long, as callers give blocks of call-time length.
void Body::requirePromisedLength(SourceLoc loc, const Promise &promise,
                                 const SliceValue::Alternative &target) {
  for (const SliceValue::Alternative &a : promise.operand.alternatives) {
    auto held = [&](const Term &t) { return substitute(t, {source}, {other_}); };
    const Piece &to = target.pieces[0], &from = a.pieces[0];
    Terms facts = evaluator_.facts;
    facts.insert(facts.end(), promise.condition.begin(), promise.condition.end());
    facts.insert(facts.end(), {target.condition, held(a.condition), held(promise.has)});
    if (to.isRun || from.isRun)
      throw NoFormula(loc, "several open blocks have no formula in a call yet");
    prover_.require(facts, to.length == held(from.length),
                    {loc, "a slice may not be as long as the one that it becomes"});
  }
}

void Body::executeCall(const Stmt &s) {
  std::optional<GroupValue> group;
  if (s.a != kNoExpr)
    group = evaluator_.group(frame_, s.a);
  Changed<std::optional<GroupValue>> call(callGroup_, group);
  Changed<Terms> known(evaluator_.facts, evaluator_.facts);
  if (group) {
    Term isMember = group->admits(ranks_.rank);
    if (prover_.proves(evaluator_.facts, !isMember))
      return;
    evaluator_.facts.push_back(isMember);
    // Members have one group, so they are the members of that.
    for (const Term &key : group->keys)
      requireAgreement(s.loc, key, "the members of a group may not agree on it");
  }
  DeclId id{static_cast<uint32_t>(s.value)};
  const Decl &callee = program_.decl(id);
  CalleeProof proof = callee_(id, s.loc);
  size_t outer = evaluator_.facts.size() - (group ? 1 : 0);
  for (size_t i = 1; i < outer; ++i)
    requireAgreement(s.loc, evaluator_.facts[i], "the ranks may not agree on this call");
  Contract contract = bindCall(s, callee, proof.isRestricted);
  requireForms(s, callee, contract.targets);
  std::vector<Promise> promises;
  for (uint32_t ensure : callee.ensures)
    promise(contract, ensure, {}, {}, promises);
  Site site = makeSite(s, SiteKind::Call);
  site.heard = proof.heard;
  site.group = group;
  for (const Param &p : callee.params)
    if (!p.isBuffer && p.type == ValueType::Tree) {
      const auto &t = std::get<TreeValue>(contract.targets.ints[p.slot]);
      site.tree = t.tree;
      site.root = group ? group->member(t.root) : t.root;
    }
  for (const Param &p : callee.params) {
    if (!p.isBuffer)
      continue;
    Term isSignificant =
        p.significantAt == kNoExpr
            ? prover_.truth(true)
            : evaluator_.integer(contract.targets, p.significantAt) == contract.targets.rank;
    for (const SliceValue::Alternative &a :
         possible(std::get<SliceValue>(contract.targets.slices[p.slot]))) {
      const Piece &piece = a.pieces[0];
      evaluator_.facts.push_back(a.condition && isSignificant);
      access(s.loc, piece, p.role != BufferRole::In);
      if (p.role != BufferRole::Out && !isTrial_)
        evaluator_.require(
            s.loc,
            implies(isIn(piece) && (p.role == BufferRole::In ? prover_.truth(true)
                                                             : isOperand(promises, piece.buffer)),
                    state_[piece.buffer].isDefined),
            "the callee may read unwritten bytes of '" + buffers()[piece.buffer].name + "'");
      evaluator_.facts.pop_back();
      (p.role == BufferRole::In ? site.read : site.pieces).push_back(piece);
    }
  }
  std::vector<Content> after = state_;
  bool isOpen = std::any_of(callee.params.begin(), callee.params.end(), [](const Param &p) {
    return p.isBuffer && p.buffer.dim[p.buffer.dims - 1].kind == DimKind::CallTime;
  });
  for (const Promise &p : promises)
    for (const SliceValue::Alternative &a : p.target.alternatives) {
      if (isOpen)
        requirePromisedLength(s.loc, p, a);
      for (const Piece &target : a.pieces) {
        Content value = broughtBy(p, target, s.loc);
        Term holds = conjunction(prover_, p.condition) && a.condition && isIn(target);
        if (group)
          holds = holds && group->admits(ranks_.rank);
        Terms written = evaluator_.facts;
        written.push_back(conjunction(prover_, p.condition) && a.condition);
        if (p.variables.empty()) {
          after[target.buffer] = choose(holds, value, after[target.buffer]);
        } else {
          // The variable by which a position is promised.
          for (const Term &v :
               axioms_.inverses().solve(prover_, target.block, p.variables[0], block)) {
            auto solved = [&](const Term &t) { return substitute(t, {p.variables[0]}, {v}); };
            after[target.buffer] = choose(solved(holds), map(value, solved), after[target.buffer]);
          }
        }
        if (!isTrial_ && target.buffer < parameters_)
          writes.push_back({s.loc, written, target});
        if (touched_)
          touched_->insert(target.buffer);
        if (written_)
          written_->push_back({target.buffer, target.block,
                               target.isRun ? prover_.number(0) : target.begin, false, value.has,
                               value.originBlock, value.originElement, writtenWhere(isIn(target))});
      }
    }
  state_ = std::move(after);
  sites.push_back(std::move(site));
}

} // namespace colldsl::parameterized
