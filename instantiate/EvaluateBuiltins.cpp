// The built-in functions that take more than one int.
#include "instantiate/Interpreter.h"

namespace colldsl {

namespace {

int64_t reverseBits(int64_t x, int64_t bits) {
  int64_t result = 0;
  for (int64_t i = 0; i < bits; ++i)
    result |= (x >> i & 1) << (bits - 1 - i);
  return result;
}

} // namespace

int64_t Interpreter::evalBuiltin(const Expr &e) {
  auto builtin = static_cast<Builtin>(e.value);
  auto args = operandsOf(e);
  int64_t x = eval(ExprId{args[0]});
  if (failed_)
    return 0;
  switch (builtin) {
  case Builtin::BitReverse: {
    int64_t bits = eval(ExprId{args[1]});
    if (bits < 0 || bits > 62)
      fail(e.loc, "bitreverse of " + std::to_string(bits) + " bits, which is not in 0..62");
    return failed_ ? 0 : reverseBits(x, bits);
  }
  case Builtin::SumList:
  case Builtin::ProductList: {
    bool isSum = builtin == Builtin::SumList;
    int64_t result = isSum ? 0 : 1;
    for (int64_t item : list(x))
      if (!(isSum ? addInts(result, item, result) : multiplyInts(result, item, result))) {
        failOverflow(e.loc, isSum ? "sum" : "product");
        return 0;
      }
    return result;
  }
  case Builtin::Ctz:
  case Builtin::Popcount:
  case Builtin::Log2:
  case Builtin::CeilLog2:
  case Builtin::Pow2Floor:
  case Builtin::Abs:
  case Builtin::Min:
  case Builtin::Max:
  case Builtin::Shift:
  case Builtin::ShiftOpen:
    break; // code
  }
  __builtin_unreachable();
}

/// This rank displaced by delta along dimension d of a grid over all ranks, the last
/// dimension running fastest, as MPI_Cart_create numbers them.
int64_t Interpreter::gridShift(const Expr &e, int64_t d, int64_t delta) {
  int64_t handle = eval(ExprId{operandsOf(e)[0]});
  if (failed_)
    return kNone;
  const std::vector<int64_t> &dims = list(handle);
  if (d < 0 || d >= static_cast<int64_t>(dims.size())) {
    fail(e.loc,
         "dimension " + std::to_string(d) + " of a grid that has " + std::to_string(dims.size()));
    return kNone;
  }
  int64_t stride = 1, total = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= 0 || __builtin_mul_overflow(total, dims[i], &total)) {
      fail(e.loc, "a grid cannot have " + std::to_string(dims[i]) + " ranks in a dimension");
      return kNone;
    }
    if (static_cast<int64_t>(i) > d)
      stride *= dims[i];
  }
  if (total != currentGroup().size) {
    fail(e.loc, "a grid of " + std::to_string(total) + " ranks over " +
                    std::to_string(currentGroup().size) + " ranks");
    return kNone;
  }
  // The ranks of a group are few, so that 32 bits hold all of what follows.
  auto me = static_cast<uint32_t>(currentGroup().me), size = static_cast<uint32_t>(dims[d]);
  int64_t at = me / static_cast<uint32_t>(stride) % size;
  bool wraps = static_cast<Builtin>(e.value) == Builtin::Shift;
  if (wraps && (delta <= -dims[d] || delta >= dims[d]))
    delta %= dims[d];
  int64_t to = 0;
  if (__builtin_add_overflow(at, delta, &to)) // open: wherever that is, it is outside
    return kNone;
  if (to >= 0 && to < dims[d])
    return me + (to - at) * stride;
  if (!wraps)
    return kNone;
  to += to < 0 ? dims[d] : -dims[d];
  return me + (to - at) * stride;
}

} // namespace colldsl
