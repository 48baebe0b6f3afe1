// `ensures`, written out for one rank.
#include "program/Interpreter.h"

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

void Interpreter::addOperand(const EnsureNode &node) {
  int64_t rank = evalOr(node.rank, currentGroup().me);
  if (failed_ || rank == kNone)
    return;
  if (rank < 0 || rank >= currentGroup().size)
    return fail(node.loc, "the value at rank " + std::to_string(rank) + ", but there are only " +
                              std::to_string(currentGroup().size) + " ranks");
  remote_ = rank != currentGroup().me;
  SliceValue operand = evalSlice(node.operand);
  remote_ = false;
  if (!failed_)
    dag_->contract.operands.push_back(
        {Rank{static_cast<uint32_t>(rank)}, toSlice(operand, node.loc)});
}

void Interpreter::addEnsure(const EnsureNode &node) {
  Ensure ensure;
  ensure.loc = node.loc;
  ensure.operandBegin = static_cast<uint32_t>(dag_->contract.operands.size());
  if (node.kind == EnsureKind::EqualReduce) {
    ensure.isReduction = true;
    ensure.reduction = static_cast<Reduction>(eval(node.reduction));
    iterate(node.iterable, [&](int64_t value) {
      intSlot(node.slot) = value;
      if (node.condition == kNoExpr || eval(node.condition))
        addOperand(node);
    });
  } else {
    addOperand(node);
  }
  ensure.operandCount = static_cast<uint32_t>(dag_->contract.operands.size()) - ensure.operandBegin;
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
