#include "parameterized/Body.h"

#include "program/Operands.h"

#include <algorithm>

namespace colldsl::parameterized {

Body::Body(const Program &program, DeclId collective, Prover &prover, Axioms &axioms,
           const Ranks &ranks, Form form, Callee callee)
    : block(prover.constant("position.block")), element(prover.constant("position.element")),
      source(prover.constant("contributor")), program_(program), decl_(collective), prover_(prover),
      axioms_(axioms), ranks_(ranks), evaluator_(program, prover, axioms, ranks),
      frame_(evaluator_.makeFrame(collective)), callee_(std::move(callee)),
      other_(prover.constant("other.rank")), entryFrame_(frame_) {
  prover.assume(ranks.isRank(other_));
  bindParameters(form);
}

Content Body::undefined() {
  Term zero = prover_.number(0);
  return {prover_.truth(false), zero, prover_.truth(false), zero, zero};
}

Content Body::entry(unsigned buffer) {
  const Buffer &b = buffers()[buffer];
  if (b.role == BufferRole::Out || b.role == BufferRole::Temp)
    return undefined();
  return {b.isSignificant, prover_.number(buffer), source == ranks_.rank, block, element};
}

Content Body::map(const Content &c, const std::function<Term(const Term &)> &f) const {
  return {f(c.isDefined), f(c.origin), f(c.has), f(c.originBlock), f(c.originElement)};
}

Content Body::contentAt(const Content &c, const Term &atBlock, const Term &atElement) const {
  return map(c, [&](const Term &t) {
    return substitute(t, {block, element}, {atBlock, atElement});
  });
}

Content Body::choose(const Term &c, const Content &a, const Content &b) const {
  if (c.is_true())
    return a;
  if (c.is_false())
    return b;
  auto pick = [&](const Term &x, const Term &y) { return z3::eq(x, y) ? x : z3::ite(c, x, y); };
  return {pick(a.isDefined, b.isDefined), pick(a.origin, b.origin), pick(a.has, b.has),
          pick(a.originBlock, b.originBlock), pick(a.originElement, b.originElement)};
}

Term Body::equal(const Content &a, const Content &b) const {
  return implies(a.isDefined,
                 b.isDefined && a.has == b.has &&
                     implies(a.has, a.origin == b.origin && a.originBlock == b.originBlock &&
                                        a.originElement == b.originElement));
}

Term Body::isIn(const Piece &p) const {
  if (p.isRun)
    return p.block <= block && block < p.block + p.blocks && 0 <= element &&
           element < buffers()[p.buffer].length(block);
  return block == p.block && p.begin <= element && element < p.begin + p.length;
}

std::pair<Term, Term> Body::origin(const Piece &from, const Piece &to) const {
  if (from.isRun)
    return {block - to.block + from.block, element};
  return {from.block, element - to.begin + from.begin};
}

Site Body::makeSite(const Stmt &s, SiteKind kind) {
  Term zero = prover_.number(0);
  Site site{.kind = kind,
            .loc = s.loc,
            .condition = evaluator_.facts,
            .loops = loops_,
            .numbers = numbers_,
            .statement = statement_,
            .peer = zero,
            .tag = zero,
            .edge = {},
            .pieces = {},
            .read = {},
            .sent = {},
            .content = undefined(),
            .label = s.label,
            .labelIndices = {},
            .heard = {},
            .group = {},
            .root = {}};
  if (s.label != kNoSlot)
    site.labelIndices = indicesOf(program_.labels[s.label]);
  return site;
}

void Body::run(const Payload &payload, Data data) {
  payload_ = payload;
  data_ = data;
  isTrial_ = data == Data::Unknown;
  written_ = nullptr; // NotShown may have ended the last run anywhere
  touched_ = nullptr;
  trialFacts_ = trialDepth_ = 0;
  tookStated_ = false;
  sites.clear();
  orders.clear();
  labels.clear();
  writes.clear();
  loops_.clear();
  roots_.clear();
  evaluator_.leaders.clear();
  numbers_ = {0};
  evaluator_.facts = {ranks_.isRank(ranks_.rank)};
  state_ = entries_;
  for (unsigned i = parameters_; i < buffers().size(); ++i)
    state_.push_back(undefined());
  execute(program_.decl(decl_).body);
  exits = state_;
}

void Body::execute(StmtId id) {
  if (id == kNoStmt)
    return;
  const Stmt &s = program_.stmt(id);
  ++numbers_.back();
  statement_ = index(id);
  prover_.place = s.loc;
  addLabel(s);
  switch (s.kind) {
  case StmtKind::Block:
    for (uint32_t i = 0; i < s.listCount; ++i)
      execute(StmtId{program_.operands[s.listBegin + i]});
    return;
  case StmtKind::Let:
    if (s.sliceSlot)
      frame_.slices[s.slot] = evaluator_.slice(frame_, s.a);
    else
      frame_.ints[s.slot] = evaluateLazily(frame_, s.a);
    return;
  case StmtKind::Temp:
    return executeTemp(s);
  case StmtKind::For:
    return executeFor(s);
  case StmtKind::If:
    return executeIf(s);
  case StmtKind::Message:
    return executeMessage(s);
  case StmtKind::Copy:
    return executeCopy(s, false);
  case StmtKind::Combine:
    return executeCopy(s, true);
  case StmtKind::Calc:
    evaluator_.require(s.loc, evaluator_.integer(frame_, s.a) >= 0,
                       "a calc may take less than 0 ns");
    sites.push_back(makeSite(s, SiteKind::Copy)); // of no bytes
    return;
  case StmtKind::Depend:
    return executeOrder(s);
  case StmtKind::Call:
    return executeCall(s);
  case StmtKind::Parent:
  case StmtKind::Child:
  case StmtKind::Edge:
    break;
  }
  throw NotShown(s.loc, "this statement has no formula");
}

/// True unless an expression has a value at all ranks, whatever its operands are.
bool Body::mayFail(ExprId id) const {
  const Expr &e = program_.expr(id);
  bool is = false;
  switch (e.kind) {
  case ExprKind::Div:
  case ExprKind::Mod:
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
  case ExprKind::NotNone:
  case ExprKind::CallBuiltin:
  case ExprKind::CallFunction:
  case ExprKind::Aggregation:
  case ExprKind::ListElement:
  case ExprKind::GroupMember:
    return true;
  default:
    forEachOperand(program_, e, [&](ExprId operand) { is = is || mayFail(operand); });
    return is;
  }
}

/// A value that a text names and never uses need not have a formula, if it has a value.
Value Body::evaluateLazily(Frame &frame, ExprId id) {
  try {
    Prover::Attempt attempt(prover_);
    Value value = evaluator_.evaluate(frame, id);
    attempt.succeed();
    return value;
  } catch (const NoFormula &) {
    if (mayFail(id))
      throw;
    return std::monostate();
  }
}

void Body::executeTemp(const Stmt &s) {
  const BufferType &type = program_.temps[static_cast<size_t>(s.value)];
  auto [known, isNew] = temps_.emplace(statement_, buffers().size());
  if (isNew) {
    addBuffer(program_.strings[program_.tempNames[static_cast<size_t>(s.value)]], BufferRole::Temp,
              type, prover_.truth(true), s.loc);
    state_.push_back(undefined());
  }
  unsigned buffer = known->second;
  state_[buffer] = undefined();
  if (touched_)
    touched_->insert(buffer);
  frame_.slices[s.slot] = wholeOf(buffer);
}

void Body::executeIf(const Stmt &s) {
  Term c = evaluator_.condition(frame_, s.a);
  if (prover_.proves(evaluator_.facts, c, {s.loc, "this condition may not hold"}))
    return execute(s.body);
  if (prover_.proves(evaluator_.facts, !c, {s.loc, "this condition may hold"}))
    return execute(s.otherwise);
  std::vector<Content> before = state_;
  evaluator_.facts.push_back(c);
  execute(s.body);
  evaluator_.facts.back() = !c;
  std::vector<Content> taken = std::move(state_);
  state_ = before;
  for (size_t i = state_.size(); i < taken.size(); ++i)
    state_.push_back(undefined());
  execute(s.otherwise);
  evaluator_.facts.pop_back();
  for (size_t i = taken.size(); i < state_.size(); ++i)
    taken.push_back(undefined());
  for (size_t i = 0; i < state_.size(); ++i)
    state_[i] = choose(c, taken[i], state_[i]);
}

std::vector<SliceValue::Alternative> Body::possible(const SliceValue &s) {
  std::vector<SliceValue::Alternative> all;
  for (const SliceValue::Alternative &a : s.alternatives)
    if (!prover_.proves(evaluator_.facts, !a.condition))
      all.push_back(a);
  return all;
}

void Body::executeMessage(const Stmt &s) {
  std::optional<EdgeValue> edge;
  bool sends = s.op == OpKind::Send || s.op == OpKind::Signal;
  if (s.alongEdge) {
    edge = std::get<EdgeValue>(evaluator_.evaluate(frame_, s.b));
    if (edge->direction != (sends ? 0 : 1) || !z3::eq(edge->viewer, ranks_.rank))
      throw NotShown(s.loc, "messages go along edges that leave this rank, and come along others");
  }
  Term none = evaluator_.none();
  Term peer = edge ? edge->graph->peer[edge->direction](edge->viewer, edge->slot)
                   : evaluator_.integer(frame_, s.b);
  if (prover_.proves(evaluator_.facts, peer == none, {s.loc, "this may have a peer"}))
    return;
  // Without a peer the statement does nothing.
  Term hasPeer = prover_.proves(evaluator_.facts, peer != none, {s.loc, "the peer may be none"})
                     ? prover_.truth(true)
                     : peer != none;
  evaluator_.facts.push_back(hasPeer);
  evaluator_.require(s.loc, ranks_.isRank(peer), "the peer may not be a rank");
  SliceValue carried =
      s.a == kNoExpr ? SliceValue{{{prover_.truth(true), {}}}} : evaluator_.slices(frame_, s.a);
  for (const SliceValue::Alternative &a : possible(carried)) {
    evaluator_.facts.push_back(a.condition);
    Site site = makeSite(s, s.a == kNoExpr ? (sends ? SiteKind::Signal : SiteKind::Wait)
                            : sends        ? SiteKind::Send
                                           : SiteKind::Recv);
    site.peer = peer;
    site.isMulticast = s.value != 0;
    if (edge) {
      site.edge = {edge->slot, edge->graph->peerSlot[edge->direction](edge->viewer, edge->slot)};
      site.graph = edge->graph;
    }
    if (s.c != kNoExpr)
      site.tag = evaluator_.integer(frame_, s.c);
    site.pieces = a.pieces;
    site.side = s.side;
    site.combines = s.d != kNoExpr;
    if (site.combines)
      requireOperation(s.loc, std::get<ReductionValue>(evaluator_.evaluate(frame_, s.d)));
    for (size_t i = 0; i < site.pieces.size() && !sends; ++i)
      for (size_t k = 0; k < i; ++k)
        requireApart(s.loc, site.pieces[i], site.pieces[k]);
    for (const Piece &p : site.pieces) {
      requireAddress(s.loc, p);
      access(s.loc, p, !sends);
      if (sends)
        site.sent.push_back(state_[p.buffer]);
      if (sends && !isTrial_)
        evaluator_.require(s.loc, implies(isIn(p), state_[p.buffer].isDefined),
                           "a send may read unwritten bytes of '" + buffers()[p.buffer].name + "'");
    }
    if (site.kind == SiteKind::Recv) {
      site.content = payload_(site);
      for (const Piece &p : site.pieces)
        write(site, hasPeer && a.condition, p, site.content);
    }
    sites.push_back(std::move(site));
    evaluator_.facts.pop_back();
  }
  evaluator_.facts.pop_back();
}

void Body::executeCopy(const Stmt &s, bool combines) {
  SliceValue from = evaluator_.slices(frame_, s.a), to = evaluator_.slices(frame_, s.b);
  for (const SliceValue::Alternative &a : possible(from))
    for (const SliceValue::Alternative &b : possible(to)) {
      evaluator_.facts.push_back(a.condition && b.condition);
      if (a.pieces.size() != b.pieces.size())
        throw NotShown(s.loc, "this copy of lists of slices has no formula");
      Site site = makeSite(s, combines ? SiteKind::Combine : SiteKind::Copy);
      site.read = a.pieces;
      site.pieces = b.pieces;
      site.combines = combines;
      site.side = s.side;
      if (combines)
        requireOperation(s.loc, std::get<ReductionValue>(evaluator_.evaluate(frame_, s.d)));
      for (size_t i = 0; i < b.pieces.size(); ++i)
        for (size_t k = 0; k < b.pieces.size(); ++k) {
          if (k < i)
            requireApart(s.loc, b.pieces[i], b.pieces[k]);
          if (i != k || combines || !isSame(a.pieces[k], b.pieces[i]))
            requireApart(s.loc, b.pieces[i], a.pieces[k]);
        }
      for (size_t i = 0; i < a.pieces.size(); ++i) {
        const Piece &source = a.pieces[i], &target = b.pieces[i];
        requireAlike(s.loc, source, target);
        requireAddress(s.loc, source);
        requireAddress(s.loc, target);
        access(s.loc, source, false);
        access(s.loc, target, true);
        if (!combines && isSame(source, target))
          continue; // in place
        Content read = state_[source.buffer];
        if (!isTrial_)
          evaluator_.require(s.loc, implies(isIn(source), read.isDefined),
                             "a copy may read unwritten bytes of '" +
                                 buffers()[source.buffer].name + "'");
        auto [fromBlock, fromElement] = origin(source, target);
        write(site, a.condition && b.condition, target, contentAt(read, fromBlock, fromElement));
      }
      sites.push_back(std::move(site));
      evaluator_.facts.pop_back();
    }
}

bool Body::isSame(const Piece &a, const Piece &b) {
  return a.buffer == b.buffer && a.isRun == b.isRun &&
         prover_.proves(evaluator_.facts,
                        a.block == b.block && (a.isRun ? prover_.truth(true) : a.begin == b.begin));
}

/// The pieces have no common byte.
void Body::requireApart(SourceLoc loc, const Piece &a, const Piece &b) {
  if (a.buffer == b.buffer)
    evaluator_.require(loc, !(isIn(a) && isIn(b)), "slices of one operation may overlap");
}

/// Both have as many elements, one by one.
void Body::requireAlike(SourceLoc loc, const Piece &a, const Piece &b) {
  if (a.isRun != b.isRun)
    throw NotShown(loc, "a run of blocks and elements of one block do not compare here");
  if (buffers()[a.buffer].type != buffers()[b.buffer].type)
    throw NotShown(loc, "slices of different types do not compare here");
  Term alike = a.isRun ? a.blocks == b.blocks : a.length == b.length;
  if (a.isRun) {
    Term at = prover_.fresh("block");
    alike =
        alike && implies(0 <= at && at < a.blocks, buffers()[a.buffer].length(a.block + at) ==
                                                       buffers()[b.buffer].length(b.block + at));
  }
  evaluator_.require(loc, alike, "the two slices may not have as many elements");
}

/// Blocks of call-time length do not lie side by side.
void Body::requireAddress(SourceLoc loc, const Piece &p) {
  if (p.isRun && buffers()[p.buffer].isOpen)
    evaluator_.require(loc, p.blocks <= 1,
                       "several open blocks are no slice of a message or a copy");
}

/// The buffer is there, and may be written.
void Body::access(SourceLoc loc, const Piece &p, bool writes) {
  const Buffer &b = buffers()[p.buffer];
  evaluator_.require(loc, implies(isIn(p), b.isSignificant),
                     "the buffer '" + b.name + "' may not be there on this rank");
  if (writes && b.role == BufferRole::In && !b.holdsOther)
    throw NotShown(loc, "the buffer '" + b.name + "' is only read");
}

void Body::write(const Site &site, const Term &alternative, const Piece &target,
                 const Content &value) {
  Term isTarget = (alternative && isIn(target)).simplify();
  if (!isTrial_ && target.buffer < parameters_)
    writes.push_back({site.loc, evaluator_.facts, target});
  Content &old = state_[target.buffer];
  Content now = value;
  if (site.combines) {
    if (!isTrial_)
      requireCombinable(site, target, old, value);
    now = {old.isDefined && value.isDefined, old.origin, old.has || value.has,
           z3::ite(old.has, old.originBlock, value.originBlock),
           z3::ite(old.has, old.originElement, value.originElement)};
  }
  old = choose(isTarget, now, old);
  if (touched_)
    touched_->insert(target.buffer);
  if (written_)
    written_->push_back({target.buffer, target.block,
                         target.isRun ? prover_.number(0) : target.begin, site.combines, value.has,
                         value.originBlock, value.originElement, writtenWhere(isTarget)});
}

/// The conditions of a write since the loop that is tried began. Those on loops within it are left
/// out: a guess that is too wide is not inductive, and what an iteration does elsewhere is known.
Term Body::writtenWhere(const Term &isTarget) {
  Terms where;
  auto add = [&](const Term &t) {
    for (size_t d = trialDepth_ + 1; d < loops_.size(); ++d)
      if (contains(t, loops_[d].index))
        return;
    where.push_back(t);
  };
  for (size_t i = trialFacts_; i < evaluator_.facts.size(); ++i)
    add(evaluator_.facts[i]);
  add(isTarget);
  return conjunction(prover_, where);
}

/// Contributions stay single and in the order of ranks, unless the operator commutes.
void Body::requireCombinable(const Site &site, const Piece &target, const Content &old,
                             const Content &incoming) {
  Term a = prover_.fresh("contributor"), b = prover_.fresh("contributor");
  Term inTarget = isIn(target);
  auto at = [&](const Term &t, const Term &who) { return substitute(t, {source}, {who}); };
  evaluator_.require(site.loc, implies(inTarget, old.isDefined && incoming.isDefined),
                     "a combine may read unwritten bytes");
  Term both = inTarget && at(old.has, a) && at(incoming.has, b);
  Term sameOrigin = old.origin == incoming.origin;
  evaluator_.require(site.loc, implies(both, sameOrigin),
                     "a combine may mix the values of different parameters");
  Term ordered = site.side == Side::Before ? b < a : a < b;
  evaluator_.require(site.loc, implies(both && a == b, prover_.truth(false)),
                     "a contribution may be combined twice");
  Mistake disorder{site.loc, "contributions may not be combined in the order of ranks"};
  if (!prover_.proves(evaluator_.facts, implies(both, operation_->commutes || ordered), disorder)) {
    NotShown error(disorder.loc, disorder.what);
    error.forWantOfOrder = true;
    throw error;
  }
}

Terms Body::indicesOf(const LabelRef &label) {
  Terms all;
  for (uint32_t i = 0; i < label.indexCount; ++i)
    all.push_back(evaluator_.integer(frame_, ExprId{program_.operands[label.indexBegin + i]}));
  return all;
}

void Body::addLabel(const Stmt &s) {
  if (s.label == kNoSlot)
    return;
  labels.push_back(makeSite(s, SiteKind::Copy));
}

/// Proves that an operation before this statement has the label.
void Body::requireLabel(SourceLoc loc, const LabelRef &label, const Terms &indices) {
  Terms some;
  for (const Site &set : labels) {
    if (program_.labels[set.label].name != label.name || set.labelIndices.size() != indices.size())
      continue;
    // The iteration that has these indices: of a loop of its own the solution for an index, of a
    // loop around both this iteration where no index tells.
    Terms names, primed;
    for (const Loop &l : set.loops) {
      names.push_back(l.index);
      primed.push_back(prover_.constant(l.index.decl().name().str() + "'"));
    }
    std::vector<Terms> solutions{{}};
    for (size_t d = 0; d < set.loops.size(); ++d) {
      Terms options;
      for (size_t k = 0; k < indices.size(); ++k)
        for (const Term &t : axioms_.inverses().solve(
                 prover_, substitute(set.labelIndices[k], names, primed), primed[d], indices[k]))
          options.push_back(t);
      if (d < loops_.size() && z3::eq(set.loops[d].index, loops_[d].index))
        options.push_back(loops_[d].index);
      std::vector<Terms> longer;
      for (const Terms &begun : solutions)
        for (const Term &o : options) {
          longer.push_back(begun);
          longer.back().push_back(o);
        }
      solutions = std::move(longer);
    }
    for (const Terms &s : solutions) {
      Terms holds = set.condition;
      for (size_t k = 0; k < indices.size(); ++k)
        holds.push_back(set.labelIndices[k] == prover_.constant("label.index" + std::to_string(k)));
      holds.push_back(isEarlier(set));
      Term there = substitute(conjunction(prover_, holds), names, s);
      Terms placeholders;
      for (size_t k = 0; k < indices.size(); ++k)
        placeholders.push_back(prover_.constant("label.index" + std::to_string(k)));
      for (size_t d = 0; d < loops_.size(); ++d)
        placeholders.push_back(prover_.constant("here.index" + std::to_string(d)));
      Terms values = indices;
      for (const Loop &l : loops_)
        values.push_back(l.index);
      some.push_back(substitute(there, placeholders, values));
    }
  }
  evaluator_.require(loc, disjunction(prover_, some),
                     "the label '" + program_.strings[label.text] + "' may not have been set");
}

/// A formula: that operation comes before this statement in the text. It has placeholders for the
/// indices of the loops here.
Term Body::isEarlier(const Site &set) const {
  Term before = prover_.truth(false), same = prover_.truth(true);
  for (size_t d = 0;; ++d) {
    if (set.numbers[d] != numbers_[d])
      return before || (same && prover_.truth(set.numbers[d] < numbers_[d]));
    if (d >= set.loops.size() || d >= loops_.size())
      return before;
    Term here = prover_.constant("here.index" + std::to_string(d));
    before = before || (same && set.loops[d].index < here);
    same = same && set.loops[d].index == here;
  }
}

void Body::executeOrder(const Stmt &s) {
  const LabelRef &waiting = program_.labels[s.listBegin];
  Terms waits = indicesOf(waiting);
  requireLabel(s.loc, waiting, waits);
  for (uint32_t i = 1; i < s.listCount; ++i) {
    const LabelRef &awaited = program_.labels[s.listBegin + i];
    Terms first = indicesOf(awaited);
    requireLabel(s.loc, awaited, first);
    orders.push_back({evaluator_.facts, loops_, waiting.name, awaited.name, waits, first, s.loc});
  }
}

} // namespace colldsl::parameterized
