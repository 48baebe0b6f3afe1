// `ensures`, written out for one rank.
#include "instantiate/Interpreter.h"
#include "ir/Concat.h"
#include "ir/Index32.h"
#include "ir/Operators.h"

#include <algorithm>
#include <cassert>

namespace colldsl {

bool Interpreter::dependsOnRank(ExprId id) const {
  if (id == kNoExpr)
    return false;
  const Expr &e = program_.expr(id);
  switch (e.kind) {
  case ExprKind::IntLit:
  case ExprKind::StringLit:
  case ExprKind::NumRanks:
  case ExprKind::SizeSymbol:
    return false;
  case ExprKind::LocalInt:
    return e.type == ValueType::Tree || e.type == ValueType::Graph;
  case ExprKind::Negate:
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Mod:
  case ExprKind::ListLength:
  case ExprKind::ListElement:
    return dependsOnRank(e.a) || dependsOnRank(e.b);
  default:
    return true;
  }
}

/// A buffer parameter as another rank has it: `@` binds the buffer, while indices are
/// those of the stating rank. Its blocks may be others than ours (a graph's degree, a
/// count per rank), and in place it lies where the alias puts it there.
SliceValue Interpreter::bufferAt(uint32_t slot, int64_t rank) {
  const Decl &decl = *frame_->decl;
  size_t buffer = 0;
  const Param *param = nullptr;
  for (const Param &p : decl.params) {
    if (p.isBuffer && p.slot == slot)
      param = &p;
    if (param)
      break;
    buffer += p.isBuffer;
  }
  assert(param && "contracts speak of parameters only");
  const Group *mine = frame_->group;
  Group there = *mine;
  there.me = rank;
  becomeMember(there);
  remote_ = kNone;
  SliceValue view = remoteView(*param, entryBuffers_[buffer]);
  remote_ = rank;
  becomeMember(*mine);
  return view;
}

/// The frame evaluates as that member from now on.
void Interpreter::becomeMember(const Group &group) {
  frame_->group = &group;
  frame_->ints[program_.code.ofDecl[index(frame_->declId)].myRank] = group.me;
}

/// True if a parameter's buffer is significant at the rank that asks.
bool Interpreter::isSignificantHere(BufferId buffer) {
  uint32_t next = 0; // parameters have the first ids, in order
  for (const Param &p : frame_->decl->params)
    if (p.isBuffer && next++ == index(buffer))
      return p.significantAt == kNoExpr || eval(p.significantAt) == currentGroup().me;
  return true;
}

SliceValue Interpreter::remoteView(const Param &param, const SliceValue &own) {
  const Decl &decl = *frame_->decl;
  for (const AliasClause &alias : decl.aliases) {
    if (!request_.inPlace || &decl.params[alias.param] != &param)
      continue;
    SliceValue where = evalSlice(alias.slice);
    if (isSignificantHere(where.buffer))
      return where;
  }
  bool varies = false;
  for (uint32_t d = 0; d < param.buffer.dims; ++d)
    varies |= dependsOnRank(param.buffer.dim[d].expr);
  if (!varies)
    return own;
  Buffer scratch;
  DimKind kind = param.buffer.dim[param.buffer.dims - 1].kind;
  bool blocked = kind == DimKind::CallTime || kind == DimKind::Capacity;
  SliceValue view = blocked ? makeBlocked(param.buffer, scratch, param.loc)
                            : makeDense(param.buffer, scratch, param.loc);
  view.buffer = own.buffer;
  view.type = own.type;
  return blocked && param.buffer.dims == 1 ? blockOf(view, 0, param.loc) : view;
}

void Interpreter::beginEnsure(const EnsureNode &node, int64_t reduction) {
  ensure_ = {};
  ensure_.loc = node.loc;
  ensure_.operandBegin = index32(dag_->contract.operands.size());
  ensure_.isReduction = node.kind == EnsureKind::EqualReduce;
  if (ensure_.isReduction)
    ensure_.reduction = static_cast<Reduction>(reduction);
}

/// Evaluates slices as that rank from now until addOperand(). False if there is no such rank.
bool Interpreter::enterRank(const EnsureNode &node, int64_t rank) {
  if (rank == kNone)
    return false;
  if (rank < 0 || rank >= currentGroup().size)
    failBeyond(node.loc, "the value at rank", rank);
  remote_ = rank == currentGroup().me ? kNone : rank;
  return true;
}

void Interpreter::addOperand(const EnsureNode &node, const SliceValue &operand, int64_t rank) {
  remote_ = kNone;
  dag_->contract.operands.push_back(
      {Rank{static_cast<uint32_t>(rank)}, toSlice(operand, node.loc)});
}

/// True if the promise has operands. An edge that leads nowhere promises nothing: its block stays
/// untouched.
bool Interpreter::hasOperands(const EnsureNode &node) {
  ensure_.operandCount = index32(dag_->contract.operands.size()) - ensure_.operandBegin;
  if (ensure_.operandCount == 0 && ensure_.isReduction)
    fail(node.loc,
         "'reduce' over no contribution promises nothing on rank " +
             std::to_string(currentGroup().me),
         "say where there are some: at CONDITION: ...");
  return ensure_.operandCount != 0;
}

void Interpreter::addEnsure(const EnsureNode &node, const SliceValue &target) {
  if (target.isWholeBuffer2d())
    return fail(node.loc, "a promise about blocks of call-time length is made block by block");
  if (Status s = checkEnsureTypes(target.type); !s)
    return fail(node.loc, s.message());
  ensure_.target = toSlice(target, node.loc);
  if (loop_ != kNoStmt)
    return addInvariant();
  dag_->contract.ensures.push_back(ensure_);
}

/// False: the invariants of the loop are not asked for.
bool Interpreter::beginInvariants(StmtId loop) {
  if (request_.invariants == Invariants::None || frame_->caller)
    return false;
  loop_ = loop;
  return true;
}

void Interpreter::addInvariant() {
  if (failed_)
    return;
  uint32_t opsBefore = builder_.size();
  if (request_.invariants == Invariants::Copied)
    copyTarget();
  dag_->contract.invariants.push_back({ensure_, opsBefore, iteration()});
  if (request_.invariants == Invariants::Copied)
    dag_->contract.invariants.back().opsBefore = builder_.size();
}

/// Copies the target to a buffer of its own, which is the target from then on.
void Interpreter::copyTarget() {
  Slice &target = ensure_.target;
  if (target.block != kNoBlock)
    return fail(ensure_.loc, "an invariant of a block whose length is known at call time only "
                             "is not checked with data");
  range_.pin(); // the copy has as many elements as the target has at this n
  int64_t begin = positionAt(target.beginScale, target.beginOffset, target.denominator, range_.n());
  int64_t end = positionAt(target.endScale, target.endOffset, target.denominator, range_.n());
  const Buffer &of = dag_->buffers[index(target.buffer)];
  Buffer copy;
  copy.role = BufferRole::Out;
  copy.type = of.type;
  copy.name = of.name;
  copy.endOffset = end - begin;
  sources_.assign(1, {target, begin, end});
  target = {};
  target.buffer = builder_.addBuffer(copy);
  target.endOffset = end - begin;
  targets_.assign(1, {target, 0, end - begin});
  Op op;
  op.loc = ensure_.loc;
  op.kind = OpKind::Copy;
  addOp(op);
  Ensure anything; // the invariant says what it holds
  anything.target = target;
  anything.loc = ensure_.loc;
  dag_->contract.ensures.push_back(anything);
}

/// "k = 1, s = 2": the loops around the invariant whose names are numbers.
std::string Interpreter::iteration() {
  std::vector<StmtId> around;
  findLoop(frame_->decl->body, loop_, around);
  std::string words;
  for (auto at = around.rbegin(); at != around.rend(); ++at) {
    const Stmt &s = program_.stmt(*at);
    ExprKind over = program_.expr(s.a).kind;
    if (!s.sliceSlot && over != ExprKind::EdgesOf)
      words += concat(words.empty() ? "" : ", ", text(static_cast<uint32_t>(s.value)), " = ",
                      intSlot(s.slot));
  }
  return words;
}

/// Finds the loops around a loop, from the innermost one on, which is the loop itself. False: it is
/// not at or below `from`.
bool Interpreter::findLoop(StmtId from, StmtId loop, std::vector<StmtId> &around) const {
  if (from == kNoStmt)
    return false;
  const Stmt &s = program_.stmt(from);
  bool isBelow =
      from == loop || findLoop(s.body, loop, around) || findLoop(s.otherwise, loop, around);
  if (s.kind == StmtKind::Block)
    for (uint32_t i = 0; i < s.listCount && !isBelow; ++i)
      isBelow = findLoop(StmtId{program_.operands[s.listBegin + i]}, loop, around);
  if (isBelow && s.kind == StmtKind::For)
    around.push_back(from);
  return isBelow;
}

// The bound holds for this n: it does not narrow the sizes for which the ops hold.
void Interpreter::addCostBound(const EnsureNode &node, const SizeExtent &most) {
  auto cost = static_cast<Cost>(node.slot);
  if (!most.bound || most.callTime)
    return fail(node.loc, concat("'", spelling(cost),
                                 "' is bounded by a number that is known at call time only"));
  if (most.value() == kNone)
    return fail(node.loc, concat("'", spelling(cost), "' is bounded by 'none'"));
  bool countsElements = cost == Cost::Sent || cost == Cost::Received;
  const std::vector<Param> &params = frame_->decl->params;
  bool isGeneric = std::any_of(params.begin(), params.end(),
                               [](const Param &p) { return p.isBuffer && p.buffer.generic; });
  int64_t bytes = countsElements && isGeneric ? elementBytes(frame_->type) : 1, bound = 0;
  if (!multiplyInts(most.value(), bytes, bound))
    return fail(node.loc, concat("'", spelling(cost), "' is bounded by more than 2^63 bytes"));
  costs.push_back({rank_, cost, bound, node.loc});
}

/// Parameters have the same types on all ranks.
Status Interpreter::checkEnsureTypes(ElementType target) const {
  for (const EntryValue &operand : dag_->contract.operandsOf(ensure_))
    if (Status s = checkComparable(target, dag_->buffers[index(operand.slice.buffer)].type); !s)
      return s;
  return ensure_.isReduction ? checkOperator(ensure_.reduction, target) : Status();
}

/// An error if the type does not have the operator. Elements of a caller's own have the caller's
/// operator.
Status Interpreter::checkOperator(Reduction reduction, ElementType type) const {
  return request_.elementBytes > 0 ? Status() : checkDefined(reduction, type);
}

} // namespace colldsl
