// Expressions whose value is in an int register.
#include "program/Lowering.h"

#include <utility>

namespace colldsl {
namespace {

bool isLeaf(ExprKind kind) {
  switch (kind) {
#define COLLDSL_LEAF(Name, ...) case ExprKind::Name:
#include "program/Exprs.def"
    return true;
  default:
    return false;
  }
}

} // namespace

Register Lowering::constant(int64_t value) {
  auto [known, isNew] = constants_.try_emplace({into_, value}, into_->registers);
  if (isNew)
    into_->constants.push_back({into_->registers++, value});
  return known->second;
}

Register Lowering::leaf(const Expr &e) {
  switch (e.kind) {
  case ExprKind::LocalInt:
    return e.slot;
  case ExprKind::MyRank:
    return into_->myRank;
  case ExprKind::NumRanks:
    return into_->numRanks;
  default:
    return constant(e.value);
  }
}

/// Returns the register of the value: a leaf's own place, or a new temporary.
Register Lowering::value(ExprId id) {
  isPart_[index(id)] = true;
  if (const Expr &e = expr(id); isLeaf(e.kind))
    return leaf(e);
  Register to = newInt();
  valueInto(id, to);
  return to;
}

void Lowering::valueInto(ExprId id, Register to) {
  Scope scope(*this);
  isPart_[index(id)] = true;
  const Expr &e = expr(id);
  if (isLeaf(e.kind))
    emit(Opcode::Move, id, to, leaf(e));
  else
    operation(id, e, to);
}

void Lowering::operation(ExprId id, const Expr &e, Register to) {
  switch (e.kind) {
  case ExprKind::And:
  case ExprKind::Or:
    return logic(id, e, to);
  case ExprKind::Select:
    return choice(id, e, to);
  case ExprKind::CallBuiltin:
    return builtin(id, e, to);
  case ExprKind::CallFunction:
  case ExprKind::MakeTree:
  case ExprKind::MakeGraph:
    return declArguments(id, e, to);
  case ExprKind::ListLiteral:
    return listLiteral(id, e, to);
  case ExprKind::Aggregation:
    return aggregation(id, e, to);
  case ExprKind::ListComprehension:
    return listComprehension(id, e, to);
  case ExprKind::GroupWhere:
  case ExprKind::GroupSplit:
    return groupByRank(id, e, to);
  case ExprKind::Mod:
    if (wrapsAround(e))
      return wrapped(e, to);
    break;
  default:
    break;
  }
  operands(id, e, to);
}

/// One instruction; missing operands have the values that mean "missing".
void Lowering::operands(ExprId id, const Expr &e, Register to) {
  const ExprInfo &info = infoOf(e.kind);
  unsigned count = info.numOperands();
  Register a = count > 0 ? valueOr(e.a, kNone) : 0;
  Register b = count > 1 ? valueOr(e.b, 0) : 0;
  bool isSwapped = e.kind == ExprKind::Gt || e.kind == ExprKind::Ge;
  emit(info.opcode, id, to, isSwapped ? b : a, isSwapped ? a : b);
}

/// The opcode of `and` and `or` jumps over the right side.
void Lowering::logic(ExprId id, const Expr &e, Register to) {
  valueInto(e.a, to);
  uint32_t done = emit(infoOf(e.kind).opcode, id, 0, to);
  valueInto(e.b, to);
  jumpHere(done);
}

void Lowering::choice(ExprId id, const Expr &e, Register to) {
  uint32_t otherwise = jumpUnless(e.a);
  valueInto(e.b, to);
  uint32_t done = emit(Opcode::Jump, id);
  jumpHere(otherwise);
  valueInto(e.c, to);
  jumpHere(done);
}

void Lowering::builtin(ExprId id, const Expr &e, Register to) {
  auto kind = static_cast<Builtin>(e.value);
  Opcode opcode = infoOf(kind).opcode;
  Register first = value(operand(e, 0));
  if (opcode == Opcode::GridShift) {
    Register dimension = value(operand(e, 1)), delta = value(operand(e, 2));
    emit(opcode, id, to, first, dimension, delta);
    return;
  }
  if (index(e.b) == 1) {
    emit(opcode, id, to, first);
    return;
  }
  for (uint32_t i = 1; i < index(e.b); ++i) { // of Min and Max any number
    emit(opcode, id, to, first, value(operand(e, i)));
    first = to;
  }
}

/// The arguments in a run of registers; defaults see the arguments before them.
void Lowering::declArguments(ExprId id, const Expr &e, Register to) {
  auto count = index(e.b);
  Register first = ints_.run(into_->registers, count);
  for (uint32_t i = 0; i < count; ++i)
    if (ExprId given = operand(e, i); given != kNoExpr)
      valueInto(given, first + i);
    else
      emit(Opcode::DefaultArgument, id, first + i, first, 0, i);
  emit(infoOf(e.kind).opcode, id, to, first, 0, count);
}

void Lowering::listLiteral(ExprId id, const Expr &e, Register to) {
  auto count = index(e.b);
  Register first = ints_.run(into_->registers, count);
  for (uint32_t i = 0; i < count; ++i)
    valueInto(operand(e, i), first + i);
  emit(Opcode::ListLiteral, id, to, first, 0, count);
}

/// The accumulated value has a temporary, which no loop name shares.
void Lowering::aggregation(ExprId id, const Expr &e, Register result) {
  auto kind = static_cast<Aggregate>(e.value);
  Register to = newInt();
  auto from = [&](int64_t value) { emit(Opcode::Move, id, to, constant(value)); };
  auto each = [&](Opcode opcode) { loopIf(e, [&] { emit(opcode, id, to, to, value(e.c)); }); };
  auto extreme = [&](Opcode opcode) {
    Register any = newInt();
    emit(Opcode::Move, id, any, constant(0));
    loopIf(e, [&] {
      emit(opcode, id, to, to, value(e.c));
      emit(Opcode::Move, id, any, constant(1));
    });
    emit(Opcode::RequireAny, id, 0, any);
  };
  switch (kind) {
  case Aggregate::Sum:
    from(0);
    each(Opcode::Add);
    break;
  case Aggregate::Product:
    from(1);
    each(Opcode::Mul);
    break;
  case Aggregate::Min:
    from(INT64_MAX);
    extreme(Opcode::Min);
    break;
  case Aggregate::Max:
    from(INT64_MIN);
    extreme(Opcode::Max);
    break;
  case Aggregate::Count:
    from(0);
    loopIf(e, [&] {
      Register holds = newInt();
      emit(Opcode::Ne, id, holds, value(e.c), constant(0));
      emit(Opcode::Add, id, to, to, holds);
    });
    break;
  }
  emit(Opcode::Move, id, result, to);
}

void Lowering::listComprehension(ExprId id, const Expr &e, Register to) {
  Register list = newInt();
  emit(Opcode::NewList, id, list);
  loopIf(e, [&] { emit(Opcode::Append, id, list, 0, value(e.c)); });
  emit(Opcode::Move, id, to, list);
}

/// The value for each rank in a list, of which the last instruction makes a group.
void Lowering::groupByRank(ExprId id, const Expr &e, Register to) {
  Register values = newInt();
  emit(Opcode::NewList, id, values);
  emit(Opcode::Move, id, e.slot, constant(0));
  loopFrom(id, e.slot, into_->numRanks, [&] { emit(Opcode::Append, id, values, 0, value(e.a)); });
  emit(infoOf(e.kind).opcode, id, to, values);
}

/// (a + b) % ranks, which schedules are full of.
bool Lowering::wrapsAround(const Expr &e) const {
  ExprKind kind = expr(e.a).kind;
  return expr(e.b).kind == ExprKind::NumRanks && (kind == ExprKind::Add || kind == ExprKind::Sub);
}

void Lowering::wrapped(const Expr &e, Register to) {
  const Expr &inner = expr(e.a);
  Register a = value(inner.a), b = value(inner.b);
  emit(inner.kind == ExprKind::Add ? Opcode::AddWrapped : Opcode::SubWrapped, e.a, to, a, b);
}

/// A jump that is taken if the condition does not hold; its target is still open.
uint32_t Lowering::jumpUnless(ExprId condition) {
  Scope scope(*this);
  isPart_[index(condition)] = true;
  const Expr &e = expr(condition);
  switch (e.kind) {
  case ExprKind::Eq:
  case ExprKind::Ne:
  case ExprKind::Lt:
  case ExprKind::Gt: {
    Register a = value(e.a), b = value(e.b);
    if (e.kind == ExprKind::Gt)
      std::swap(a, b);
    Opcode opcode = e.kind == ExprKind::Eq   ? Opcode::JumpUnlessEqual
                    : e.kind == ExprKind::Ne ? Opcode::JumpIfEqual
                                             : Opcode::JumpUnlessLess;
    return emit(opcode, condition, 0, a, b);
  }
  default:
    return emit(Opcode::JumpUnless, condition, 0, value(condition));
  }
}

} // namespace colldsl
