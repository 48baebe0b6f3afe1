// Arithmetic and the built-in functions on ints. Overflow is an error, never a wrap.
#include "program/Interpreter.h"

#include <algorithm>
#include <bit>

namespace colldsl {

int64_t Interpreter::evalOverflow(const Expr &e, const char *what) {
  fail(e.loc, std::string(what) + " beyond 64 bits");
  return 0;
}

int64_t Interpreter::evalBinary(const Expr &e) {
  int64_t a = eval(e.a);
  int64_t b = e.b == kNoExpr ? 0 : eval(e.b);
  int64_t result = 0;
  switch (e.kind) {
  case ExprKind::Negate:
    return __builtin_sub_overflow(int64_t{0}, a, &result) ? evalOverflow(e, "negation") : result;
  case ExprKind::Add:
    return __builtin_add_overflow(a, b, &result) ? evalOverflow(e, "sum") : result;
  case ExprKind::Sub:
    return __builtin_sub_overflow(a, b, &result) ? evalOverflow(e, "difference") : result;
  case ExprKind::Mul:
    return __builtin_mul_overflow(a, b, &result) ? evalOverflow(e, "product") : result;
  case ExprKind::Div:
  case ExprKind::Mod:
    return evalDivision(e, a, b);
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
    return evalShift(e, a, b);
  case ExprKind::Xor:
    return a ^ b;
  case ExprKind::Eq:
    return a == b;
  case ExprKind::Ne:
    return a != b;
  case ExprKind::Lt:
    return a < b;
  case ExprKind::Le:
    return a <= b;
  case ExprKind::Gt:
    return a > b;
  default: // the caller's switch lists them all; Ge is the last
    return a >= b;
  }
}

/// Euclidean: the remainder is never negative.
int64_t Interpreter::evalDivision(const Expr &e, int64_t a, int64_t b) {
  if (b == 0) {
    fail(e.loc, e.kind == ExprKind::Div ? "division by zero" : "remainder of a division by zero");
    return 0;
  }
  if (a >= 0 && b > 0 && a <= UINT32_MAX && b <= UINT32_MAX) { // a much cheaper instruction
    auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    return e.kind == ExprKind::Div ? x / y : x % y;
  }
  if (b == -1) {
    if (e.kind == ExprKind::Mod)
      return 0;
    return a == INT64_MIN ? evalOverflow(e, "quotient") : -a;
  }
  int64_t quotient = a / b, remainder = a % b;
  if (remainder < 0) {
    quotient += b > 0 ? -1 : 1;
    remainder += b > 0 ? b : -b;
  }
  return e.kind == ExprKind::Div ? quotient : remainder;
}

int64_t Interpreter::evalShift(const Expr &e, int64_t a, int64_t b) {
  if (b < 0 || b > 63) {
    fail(e.loc, "shift by " + std::to_string(b) + ", which is not in 0..63");
    return 0;
  }
  if (e.kind == ExprKind::ShiftRight)
    return a >> b;
  int64_t result = static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  return result >> b == a ? result : evalOverflow(e, "left shift");
}

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
  if (builtin == Builtin::Shift || builtin == Builtin::ShiftOpen)
    return evalGridShift(e, builtin == Builtin::Shift);
  auto args = operandsOf(e);
  int64_t x = eval(ExprId{args[0]});
  if (failed_)
    return 0;
  auto positive = [&](const char *name) {
    if (x > 0)
      return true;
    fail(e.loc, std::string(name) + " of " + std::to_string(x) + ", which is not positive");
    return false;
  };
  switch (builtin) {
  case Builtin::Ctz:
    return positive("ctz") ? std::countr_zero(static_cast<uint64_t>(x)) : 0;
  case Builtin::Popcount:
    return std::popcount(static_cast<uint64_t>(x));
  case Builtin::BitReverse: {
    int64_t bits = eval(ExprId{args[1]});
    if (bits < 0 || bits > 62)
      fail(e.loc, "bitreverse of " + std::to_string(bits) + " bits, which is not in 0..62");
    return failed_ ? 0 : reverseBits(x, bits);
  }
  case Builtin::Log2:
    return positive("log2") ? 63 - std::countl_zero(static_cast<uint64_t>(x)) : 0;
  case Builtin::CeilLog2:
    return positive("ceil_log2") ? 64 - std::countl_zero(static_cast<uint64_t>(x - 1)) : 0;
  case Builtin::Pow2Floor:
    return positive("pow2floor") ? int64_t{1} << (63 - std::countl_zero(static_cast<uint64_t>(x)))
                                 : 0;
  case Builtin::Abs:
    return x == INT64_MIN ? evalOverflow(e, "absolute value") : std::abs(x);
  case Builtin::Min:
    for (size_t i = 1; i < args.size(); ++i)
      x = std::min(x, eval(ExprId{args[i]}));
    return x;
  case Builtin::Max:
    for (size_t i = 1; i < args.size(); ++i)
      x = std::max(x, eval(ExprId{args[i]}));
    return x;
  case Builtin::SumList:
  case Builtin::ProductList: {
    bool isSum = builtin == Builtin::SumList;
    int64_t result = isSum ? 0 : 1;
    for (int64_t item : list(x))
      if (isSum ? __builtin_add_overflow(result, item, &result)
                : __builtin_mul_overflow(result, item, &result))
        return evalOverflow(e, isSum ? "sum" : "product");
    return result;
  }
  case Builtin::Shift:
  case Builtin::ShiftOpen:
    break; // above
  }
  __builtin_unreachable();
}

/// This rank displaced by delta along dimension d of a grid over all ranks, the last
/// dimension running fastest, as MPI_Cart_create numbers them.
int64_t Interpreter::evalGridShift(const Expr &e, bool periodic) {
  auto args = operandsOf(e);
  int64_t handle = eval(ExprId{args[0]});
  int64_t d = eval(ExprId{args[1]});
  int64_t delta = eval(ExprId{args[2]});
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
  int64_t me = currentGroup().me;
  int64_t at = me / stride % dims[d];
  __int128 moved = static_cast<__int128>(at) + delta;
  if (!periodic && (moved < 0 || moved >= dims[d]))
    return kNone;
  auto to = static_cast<int64_t>((moved % dims[d] + dims[d]) % dims[d]);
  return me + (to - at) * stride;
}

} // namespace colldsl
