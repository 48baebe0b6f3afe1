// Pieces of code, functions and lists.
#include "instantiate/Interpreter.h"

namespace colldsl {

/// Runs an expression's own piece of code. Returns the register that has its value.
uint32_t Interpreter::runPiece(ExprId id) {
  uint32_t code = program_.code.ofExpr[index(id)];
  assert(code != kNoCode && exprs_[index(id)].owner == frame_->declId);
  return runCode(code);
}

int64_t Interpreter::eval(ExprId id) {
  uint32_t at = runPiece(id);
  return failed_ ? 0 : frame_->ints[at];
}

SliceValue Interpreter::evalSlice(ExprId id) {
  uint32_t at = runPiece(id);
  return failed_ ? SliceValue() : frame_->slices[at];
}

SizeExtent Interpreter::evalSize(ExprId id) {
  uint32_t at = runPiece(id);
  return failed_ ? SizeExtent() : frame_->sizes[at];
}

int64_t Interpreter::evalSizeSymbol(const Expr &e, int64_t, int64_t) {
  return intOf(sizeSlot(e.slot), e.loc);
}

int64_t Interpreter::callFunction(const Expr &e, Args args) {
  if (!step(e.loc))
    return 0;
  Frame frame = openFrame(DeclId{static_cast<uint32_t>(e.value)}, frame_->group, e.loc);
  FrameScope scope(*this, frame);
  for (size_t i = 0; i < args.size(); ++i)
    intSlot(frame.decl->params[i].slot) = args[i];
  return failed_ ? 0 : eval(frame.decl->result);
}

/// The default of the parameter that follows those with the arguments `before`. The default may use
/// these.
int64_t Interpreter::defaultArgument(const Expr &e, Args before) {
  Frame frame = openFrame(DeclId{static_cast<uint32_t>(e.value)}, frame_->group, e.loc);
  FrameScope scope(*this, frame);
  for (size_t i = 0; i < before.size(); ++i)
    intSlot(frame.decl->params[i].slot) = before[i];
  return eval(frame.decl->params[before.size()].defaultValue);
}

void Interpreter::failNothing(const Expr &e) {
  bool isMin = static_cast<Aggregate>(e.value) == Aggregate::Min;
  fail(e.loc, std::string(isMin ? "min" : "max") + " of nothing");
}

int64_t Interpreter::evalIsCommutative(const Expr &, int64_t reduction, int64_t) {
  return isCommutative(static_cast<Reduction>(reduction));
}

// Lists

int64_t Interpreter::listLiteral(Args values, SourceLoc loc) {
  int64_t handle = newList();
  if (step(loc, values.size()))
    list(handle).assign(values.begin(), values.end());
  return handle;
}

int64_t Interpreter::evalListElement(const Expr &e, int64_t handle, int64_t i) {
  const std::vector<int64_t> &values = list(handle);
  if (i >= 0 && i < static_cast<int64_t>(values.size())) [[likely]]
    return values[static_cast<size_t>(i)];
  fail(e.loc, "element " + std::to_string(i) + " of a list of " + std::to_string(values.size()));
  return 0;
}

int64_t Interpreter::evalListLength(const Expr &, int64_t handle, int64_t) {
  return static_cast<int64_t>(list(handle).size());
}

} // namespace colldsl
