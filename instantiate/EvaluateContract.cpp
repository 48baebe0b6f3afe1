// `ensures`, written out for one rank.
#include "instantiate/Interpreter.h"
#include "ir/Index32.h"

#include <cassert>

namespace colldsl {

void Interpreter::evalContract(const Decl &decl) {
  for (uint32_t root : decl.ensures)
    if (!failed_)
      evalEnsure(root);
}

void Interpreter::evalEnsure(uint32_t id) {
  const EnsureNode &node = program_.ensures[id];
  switch (node.kind) {
  case EnsureKind::Equal:
  case EnsureKind::EqualReduce:
    return addEnsure(node);
  case EnsureKind::ForEach:
    return iterate(node.iterable, [&](int64_t value) {
      intSlot(node.slot) = value;
      if (node.condition == kNoExpr || eval(node.condition))
        evalEnsure(node.inner);
    });
  case EnsureKind::At:
    if (eval(node.condition))
      evalEnsure(node.inner);
    return;
  case EnsureKind::Synchronizes:
    return; // the whole schedule's, see instantiateAll
  }
}

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

/// What the frame evaluates from now on is what that member sees.
void Interpreter::becomeMember(const Group &group) {
  frame_->group = &group;
  frame_->ints[program_.code.ofDecl[index(frame_->declId)].myRank] = group.me;
}

/// Whether a parameter's buffer means anything at the rank that asks.
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

void Interpreter::addOperand(const EnsureNode &node) {
  int64_t rank = evalOr(node.rank, currentGroup().me);
  if (failed_ || rank == kNone)
    return;
  if (rank < 0 || rank >= currentGroup().size)
    return fail(node.loc, "the value at rank " + std::to_string(rank) + ", but there are only " +
                              std::to_string(currentGroup().size) + " ranks");
  remote_ = rank == currentGroup().me ? kNone : rank;
  SliceValue operand = evalSlice(node.operand);
  remote_ = kNone;
  if (!failed_)
    dag_->contract.operands.push_back(
        {Rank{static_cast<uint32_t>(rank)}, toSlice(operand, node.loc)});
}

void Interpreter::addEnsure(const EnsureNode &node) {
  Ensure ensure;
  ensure.loc = node.loc;
  ensure.operandBegin = index32(dag_->contract.operands.size());
  if (node.kind == EnsureKind::EqualReduce) {
    ensure.isReduction = true;
    ensure.reduction = static_cast<Reduction>(eval(node.reduction));
    iterate(node.iterable, [&](int64_t value) {
      intSlot(node.slot) = value;
      if (node.condition == kNoExpr || eval(node.condition))
        addOperand(node);
    });
    if (!failed_ && dag_->contract.operands.size() == ensure.operandBegin)
      return fail(node.loc,
                  "'reduce' over no contribution promises nothing on rank " +
                      std::to_string(currentGroup().me),
                  "say where there are some: at CONDITION: ...");
  } else {
    addOperand(node);
  }
  ensure.operandCount = index32(dag_->contract.operands.size()) - ensure.operandBegin;
  // An edge that leads nowhere promises nothing: its block stays untouched.
  if (failed_ || ensure.operandCount == 0)
    return;
  SliceValue target = evalSlice(node.target);
  if (failed_)
    return;
  if (target.isWholeBuffer2d())
    return fail(node.loc, "a promise about blocks of call-time length is made block by block");
  ensure.target = toSlice(target, node.loc);
  dag_->contract.ensures.push_back(ensure);
}

} // namespace colldsl
