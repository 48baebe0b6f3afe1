// Slices, what statements carry, and sizes of buffers.
#include "program/Lowering.h"

namespace colldsl {

/// Returns the register of the slice: the slot of a name, or a new temporary.
Register Lowering::slice(ExprId id) {
  isPart_[index(id)] = true;
  if (const Expr &e = expr(id); e.kind == ExprKind::LocalSlice && !isRemote_)
    return e.slot;
  Register to = newSlice();
  sliceInto(id, to);
  return to;
}

/// Indices are evaluated before the slice that they cut.
void Lowering::sliceInto(ExprId id, Register to) {
  Scope scope(*this);
  isPart_[index(id)] = true;
  const Expr &e = expr(id);
  switch (e.kind) {
  case ExprKind::LocalSlice:
    emit(isRemote_ ? Opcode::RemoteSlice : Opcode::MoveSlice, id, to, e.slot);
    return;
  case ExprKind::Block: {
    Register i = value(e.b);
    emit(Opcode::BlockSlice, id, to, slice(e.a), i);
    return;
  }
  case ExprKind::Blocks: {
    Register lo = value(e.b), hi = value(e.c);
    emit(Opcode::BlocksSlice, id, to, slice(e.a), lo, hi);
    return;
  }
  case ExprKind::Elements: {
    bool isOne = e.c == kNoExpr;
    Register lo = value(e.b), hi = isOne ? 0 : value(e.c);
    emit(isOne ? Opcode::ElementSlice : Opcode::ElementsSlice, id, to, slice(e.a), lo, hi);
    return;
  }
  case ExprKind::Part:
    return part(id, e, to);
  default: { // Select
    uint32_t otherwise = jumpUnless(e.a);
    sliceInto(e.b, to);
    uint32_t done = emit(Opcode::Jump, id);
    jumpHere(otherwise);
    sliceInto(e.c, to);
    jumpHere(done);
  }
  }
}

void Lowering::part(ExprId id, const Expr &e, Register to) {
  ExprId of = operand(e, 0), lo = operand(e, 1), hi = operand(e, 2), count = operand(e, 3);
  if (hi == kNoExpr) {
    Register at = value(lo), parts = value(count);
    emit(Opcode::PartSlice, id, to, slice(of), at, parts);
    return;
  }
  Register range = ints_.run(into_->registers, 2);
  valueInto(lo, range);
  valueInto(hi, range + 1);
  Register parts = value(count);
  emit(Opcode::PartsSlice, id, to, slice(of), range, parts);
}

/// The loop over the segments of a slice.
void Lowering::segments(const Stmt &s) {
  Scope scope(*this);
  isPart_[index(s.a)] = true;
  const Expr &e = expr(s.a);
  Register of = slice(e.a), bytes = value(e.b);
  Register i = ints_.run(into_->registers, 3);
  emit(Opcode::Segments, s.a, i, of, bytes);
  loopFrom(s.a, i, i + 1, [&] {
    emit(Opcode::SegmentSlice, s.a, s.slot, of, i);
    statement(s.body);
  });
}

/// The regions of a slice or a list of slices, for the statement that comes next. Blocks and parts,
/// of which schedules are full, need no slice register.
void Lowering::carry(ExprId id) {
  Scope scope(*this);
  isPart_[index(id)] = true;
  const Expr &e = expr(id);
  switch (e.kind) {
  case ExprKind::SliceList:
    for (uint32_t item : listOf(e))
      carry(ExprId{item});
    return;
  case ExprKind::SliceComprehension:
    return loopIf(e, [&] { carry(e.c); });
  case ExprKind::Block: {
    Register i = value(e.b);
    emit(Opcode::CarryBlock, id, 0, slice(e.a), i);
    return;
  }
  case ExprKind::Blocks: {
    Register lo = value(e.b), hi = value(e.c);
    emit(Opcode::CarryBlocks, id, 0, slice(e.a), lo, hi);
    return;
  }
  case ExprKind::Part:
    if (operand(e, 2) == kNoExpr) {
      Register at = value(operand(e, 1)), parts = value(operand(e, 3));
      emit(Opcode::CarryPart, id, 0, slice(operand(e, 0)), at, parts);
      return;
    }
    break;
  default:
    break;
  }
  emit(Opcode::CarrySlice, id, 0, slice(id));
}

/// Symbols, and their sums, differences and products; all else is an int.
Register Lowering::size(ExprId id) {
  isPart_[index(id)] = true;
  const Expr &e = expr(id);
  auto binary = [&](Opcode opcode) {
    Register to = newSize();
    Scope scope(*this);
    Register a = size(e.a), b = size(e.b);
    emit(opcode, id, to, a, b);
    return to;
  };
  switch (e.kind) {
  case ExprKind::Add:
    return binary(Opcode::AddSizes);
  case ExprKind::Sub:
    return binary(Opcode::SubSizes);
  case ExprKind::Mul:
    return binary(Opcode::MulSizes);
  default: {
    Register to = newSize();
    Scope scope(*this);
    if (e.kind == ExprKind::SizeSymbol)
      emit(Opcode::LoadSize, id, to, e.slot);
    else
      emit(Opcode::SizeOfInt, id, to, value(id));
    return to;
  }
  }
}

} // namespace colldsl
