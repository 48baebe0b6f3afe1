// Lists of ints.
#include "instantiate/Interpreter.h"

namespace colldsl {

int64_t Interpreter::evalListLiteral(const Expr &e) {
  size_t from = evalArgs(e);
  int64_t handle = newList();
  takeArgs(from, list(handle));
  return handle;
}

int64_t Interpreter::evalListComprehension(const Expr &e) {
  size_t from = args_.size();
  iterateIf(e, [&] { args_.push_back(eval(e.c)); });
  int64_t handle = newList();
  takeArgs(from, list(handle));
  return handle;
}

int64_t Interpreter::evalListElement(const Expr &e) {
  int64_t handle = eval(e.a);
  int64_t i = eval(e.b);
  if (failed_)
    return 0;
  const std::vector<int64_t> &values = list(handle);
  if (i < 0 || i >= static_cast<int64_t>(values.size())) {
    fail(e.loc, "element " + std::to_string(i) + " of a list of " + std::to_string(values.size()));
    return 0;
  }
  return values[i];
}

int64_t Interpreter::evalListLength(const Expr &e) {
  int64_t handle = eval(e.a);
  return failed_ ? 0 : static_cast<int64_t>(list(handle).size());
}

} // namespace colldsl
