// Arithmetic that takes more than a few instructions, and the built-in functions.
#include "instantiate/Interpreter.h"

#include <bit>

namespace colldsl {

void Interpreter::failOverflow(SourceLoc loc, const char *what) {
  fail(loc, std::string(what) + " beyond 64 bits");
}

/// Euclidean: the remainder is never negative.
int64_t Interpreter::divide(bool remainderWanted, int64_t a, int64_t b, SourceLoc loc) {
  if (b == 0) {
    fail(loc, remainderWanted ? "remainder of a division by zero" : "division by zero");
    return 0;
  }
  if (a == kNone || b == kNone) { // their negation does not fit
    failOverflow(loc, remainderWanted ? "remainder" : "quotient");
    return 0;
  }
  int64_t quotient = a / b, remainder = a % b;
  if (remainder < 0) {
    quotient += b > 0 ? -1 : 1;
    remainder += b > 0 ? b : -b;
  }
  return remainderWanted ? remainder : quotient;
}

int64_t Interpreter::shift(bool right, int64_t a, int64_t b, SourceLoc loc) {
  if (b < 0 || b > 63) {
    fail(loc, "shift by " + std::to_string(b) + ", which is not in 0..63");
    return 0;
  }
  if (right)
    return a >> b;
  auto result = static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  if (result >> b != a || result == kNone)
    failOverflow(loc, "left shift");
  return result;
}

/// The built-in functions of one int.
int64_t Interpreter::bits(const Expr &e, int64_t x) {
  auto unsignedX = static_cast<uint64_t>(x);
  auto positive = [&](const char *name) {
    if (x > 0)
      return true;
    fail(e.loc, std::string(name) + " of " + std::to_string(x) + ", which is not positive");
    return false;
  };
  switch (static_cast<Builtin>(e.value)) {
  case Builtin::Ctz:
    return positive("ctz") ? std::countr_zero(unsignedX) : 0;
  case Builtin::Popcount:
    return std::popcount(unsignedX);
  case Builtin::Log2:
    return positive("log2") ? 63 - std::countl_zero(unsignedX) : 0;
  case Builtin::CeilLog2:
    return positive("ceil_log2") ? 64 - std::countl_zero(unsignedX - 1) : 0;
  case Builtin::Pow2Floor:
    return positive("pow2floor") ? int64_t{1} << (63 - std::countl_zero(unsignedX)) : 0;
  case Builtin::Abs:
    if (x == INT64_MIN)
      failOverflow(e.loc, "absolute value");
    return x < 0 && x != INT64_MIN ? -x : x;
  case Builtin::BitReverse:
  case Builtin::Min:
  case Builtin::Max:
  case Builtin::Shift:
  case Builtin::ShiftOpen:
  case Builtin::SumList:
  case Builtin::ProductList:
  case Builtin::Log:
  case Builtin::CeilLog:
    break; // not of one int
  }
  __builtin_unreachable();
}

int64_t Interpreter::logarithm(const Expr &e, int64_t x, int64_t base) {
  bool roundsUp = static_cast<Builtin>(e.value) == Builtin::CeilLog;
  auto refuse = [&](const std::string &why) {
    fail(e.loc, std::string(roundsUp ? "ceil_log" : "log") + " of " + std::to_string(x) + why);
    return int64_t{0};
  };
  if (x <= 0)
    return refuse(", which is not positive");
  if (base < 2)
    return refuse(" to base " + std::to_string(base) + ", which is not 2 or more");
  // The quotients of x (rounded down) or of x - 1 tell how often the base divides what is left.
  int64_t steps = 0;
  for (int64_t left = roundsUp ? x - 1 : x / base; left > 0; left /= base)
    ++steps;
  return steps;
}

int64_t Interpreter::reverseBits(int64_t x, int64_t bits, SourceLoc loc) {
  if (bits < 0 || bits > 62) {
    fail(loc, "bitreverse of " + std::to_string(bits) + " bits, which is not in 0..62");
    return 0;
  }
  int64_t result = 0;
  for (int64_t i = 0; i < bits; ++i)
    result |= (x >> i & 1) << (bits - 1 - i);
  return result;
}

int64_t Interpreter::foldList(int64_t handle, int64_t start, IntOperation *compute,
                              const char *what, SourceLoc loc) {
  int64_t result = start;
  for (int64_t item : list(handle))
    if (!compute(result, item, result)) {
      failOverflow(loc, what);
      return 0;
    }
  return result;
}

/// Reports a wrong grid; for the dimensions of a graph, at the place that made the graph.
void Interpreter::failGrid(SourceLoc loc, std::string message) {
  if (!frame_->graph)
    return fail(loc, std::move(message));
  Diagnostic d = Diagnostic::error(frame_->calledAt, std::move(message));
  d.notes.push_back(Diagnostic::note(loc, "needed here"));
  fail(std::move(d));
}

/// This rank displaced by delta along dimension d of a grid over all ranks, the last
/// dimension running fastest, as MPI_Cart_create numbers them.
int64_t Interpreter::gridShift(const Expr &e, int64_t grid, int64_t d, int64_t delta) {
  const std::vector<int64_t> &dims = list(grid);
  if (d < 0 || d >= static_cast<int64_t>(dims.size())) {
    fail(e.loc,
         "dimension " + std::to_string(d) + " of a grid that has " + std::to_string(dims.size()));
    return kNone;
  }
  int64_t stride = 1, total = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= 0 || __builtin_mul_overflow(total, dims[i], &total)) {
      failGrid(e.loc, "a grid cannot have " + std::to_string(dims[i]) + " ranks in a dimension");
      return kNone;
    }
    if (static_cast<int64_t>(i) > d)
      stride *= dims[i];
  }
  if (total != currentGroup().size) {
    failGrid(e.loc, "a grid of " + std::to_string(total) + " ranks over " +
                        std::to_string(currentGroup().size) + " ranks");
    return kNone;
  }
  // A group has fewer than 2^32 ranks, so 32 bits hold all values here.
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
