// Expressions whose value lives in an int slot.
#include "instantiate/Interpreter.h"

namespace colldsl {

std::span<const uint32_t> Interpreter::operandsOf(const Expr &e) const {
  return {program_.operands.data() + index(e.a), index(e.b)};
}

int64_t Interpreter::eval(ExprId id) {
  const Expr &e = exprs_[index(id)];
  switch (e.kind) {
  case ExprKind::IntLit:
  case ExprKind::StringLit:
    return e.value;
  case ExprKind::LocalInt:
    return intSlot(e.slot);
  case ExprKind::MyRank:
    return frame_->group->me;
  case ExprKind::NumRanks:
    return frame_->group->size;
  default:
    break;
  }
  uint32_t code = program_.code.ofExpr[index(id)];
  assert(code == kNoCode || e.owner == frame_->declId);
  return code == kNoCode ? evalTree(e) : runCode(code);
}

/// An expression that is neither a leaf nor code.
int64_t Interpreter::evalTree(const Expr &e) {
  switch (e.kind) {
#define COLLDSL_VALUE(Name, ...)                                                                   \
  case ExprKind::Name:                                                                             \
    return eval##Name(e);
#include "program/Exprs.def"
  case ExprKind::CallBuiltin:
    return evalBuiltin(e);
  default:
    break;
  }
  assert(false && "not a tree that yields an int slot's value");
  __builtin_unreachable();
}

int64_t Interpreter::evalSizeSymbol(const Expr &e) {
  const SizeExtent &size = sizeSlot(e.slot);
  if (!size.bound)
    fail(e.loc, "the size symbol is used before a buffer gives it a value");
  else if (size.callTime)
    fail(e.loc, "this length is known at call time only");
  if (size.begin.scale != 0 || size.end.scale != 0)
    range_.pin();
  return size.value();
}

int64_t Interpreter::evalCallFunction(const Expr &e) {
  if (!step(e.loc))
    return 0;
  size_t args = evalDeclArgs(e);
  Frame frame = openFrame(DeclId{static_cast<uint32_t>(e.value)}, frame_->group, e.loc);
  FrameScope scope(*this, frame);
  for (size_t i = args; i < args_.size(); ++i)
    intSlot(frame.decl->params[i - args].slot) = args_[i];
  args_.resize(args);
  return failed_ ? 0 : eval(frame.decl->result);
}

/// Pushes the values onto args_; where they begin.
size_t Interpreter::evalArgs(const Expr &e) {
  size_t from = args_.size();
  if (step(e.loc, operandsOf(e).size()))
    for (uint32_t operand : operandsOf(e))
      args_.push_back(eval(ExprId{operand}));
  return from;
}

/// The arguments of a function, tree or graph; defaults see the arguments before them.
size_t Interpreter::evalDeclArgs(const Expr &e) {
  size_t from = args_.size();
  DeclId callee{static_cast<uint32_t>(e.value)};
  for (uint32_t operand : operandsOf(e)) {
    if (ExprId{operand} != kNoExpr) {
      args_.push_back(eval(ExprId{operand}));
      continue;
    }
    Frame frame = openFrame(callee, frame_->group, e.loc);
    FrameScope scope(*this, frame);
    size_t given = args_.size() - from;
    for (size_t i = 0; i < given; ++i)
      intSlot(frame.decl->params[i].slot) = args_[from + i];
    args_.push_back(eval(frame.decl->params[given].defaultValue));
  }
  return from;
}

/// Pops what was pushed since `from`.
void Interpreter::takeArgs(size_t from, std::vector<int64_t> &into) {
  into.assign(args_.begin() + static_cast<ptrdiff_t>(from), args_.end());
  args_.resize(from);
}

int64_t Interpreter::evalAggregation(const Expr &e) {
  auto kind = static_cast<Aggregate>(e.value);
  int64_t result = kind == Aggregate::Product ? 1 : 0;
  bool any = false;
  iterateIf(e, [&] {
    int64_t value = eval(e.c);
    bool overflow = false;
    switch (kind) {
    case Aggregate::Sum:
      overflow = !addInts(result, value, result);
      break;
    case Aggregate::Product:
      overflow = !multiplyInts(result, value, result);
      break;
    case Aggregate::Min:
      result = any ? std::min(result, value) : value;
      break;
    case Aggregate::Max:
      result = any ? std::max(result, value) : value;
      break;
    case Aggregate::Count:
      result += value != 0;
      break;
    }
    any = true;
    if (overflow)
      failOverflow(e.loc, kind == Aggregate::Sum ? "sum" : "product");
  });
  if (!any && (kind == Aggregate::Min || kind == Aggregate::Max))
    fail(e.loc, std::string(kind == Aggregate::Min ? "min" : "max") + " of nothing");
  return result;
}

int64_t Interpreter::evalIsCommutative(const Expr &e) {
  return isCommutative(static_cast<Reduction>(eval(e.a)));
}

} // namespace colldsl
