// The machine that code runs on.
#include "instantiate/Interpreter.h"

#include <algorithm>
#include <bit>

namespace colldsl {
namespace {

/// Neither is negative and 32 bits hold both, b is not 0: much cheaper on many machines.
bool isSmallDivision(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) <= UINT32_MAX && static_cast<uint64_t>(b) - 1 < UINT32_MAX;
}

/// x % ranks; rarely further off than two turns.
int64_t wrap(int64_t x, int64_t ranks) {
  if (x >= ranks) {
    x -= ranks;
    return x < ranks ? x : x % ranks;
  }
  for (int turn = 0; x < 0; ++turn) {
    if (turn == 2)
      return (x % ranks + ranks) % ranks;
    x += ranks;
  }
  return x;
}

} // namespace

/// A piece of code up to its Return; the value that it returns, or anything if it fails.
int64_t Interpreter::runCode(uint32_t begin) {
  const Instruction *const first = program_.code.instructions.data();
  int64_t *const registers = frame_->ints;
  uint32_t statementsFirstOp = 0;
  const Instruction *at = first + begin;
  auto a = [&] { return registers[at->a]; };
  auto b = [&] { return registers[at->b]; };
  auto to = [&]() -> int64_t & { return registers[at->to]; };
  auto loc = [&] { return exprs_[at->origin].loc; };
  auto jump = [&] { at = first + at->to - 1; };
  for (;; ++at) {
    switch (at->opcode) {
    case Opcode::Return:
      return a();
    case Opcode::Move:
      to() = a();
      continue;
    case Opcode::Negate:
      if (__builtin_sub_overflow(int64_t{0}, a(), &to()))
        failOverflow(loc(), "negation");
      break;
    case Opcode::Not:
      to() = !a();
      continue;
    case Opcode::Add:
      if (addInts(a(), b(), to())) [[likely]]
        continue;
      failOverflow(loc(), "sum");
      break;
    case Opcode::Sub:
      if (subtractInts(a(), b(), to())) [[likely]]
        continue;
      failOverflow(loc(), "difference");
      break;
    case Opcode::Mul:
      if (multiplyInts(a(), b(), to())) [[likely]]
        continue;
      failOverflow(loc(), "product");
      break;
    case Opcode::Div:
      to() = divide(false, a(), b(), loc());
      break;
    case Opcode::Mod:
      if (isSmallDivision(a(), b())) [[likely]] {
        to() = static_cast<uint32_t>(a()) % static_cast<uint32_t>(b());
        continue;
      }
      to() = divide(true, a(), b(), loc());
      break;
    case Opcode::AddWrapped:
      if (int64_t sum; !__builtin_add_overflow(a(), b(), &sum)) [[likely]] {
        to() = wrap(sum, frame_->group->size);
        continue;
      }
      failOverflow(loc(), "sum");
      break;
    case Opcode::SubWrapped:
      if (int64_t difference; !__builtin_sub_overflow(a(), b(), &difference)) [[likely]] {
        to() = wrap(difference, frame_->group->size);
        continue;
      }
      failOverflow(loc(), "difference");
      break;
    case Opcode::ShiftLeft:
      if (static_cast<uint64_t>(a()) <= UINT16_MAX && static_cast<uint64_t>(b()) < 40) [[likely]] {
        to() = a() << b();
        continue;
      }
      to() = shift(false, a(), b(), loc());
      break;
    case Opcode::ShiftRight:
      to() = shift(true, a(), b(), loc());
      break;
    case Opcode::Xor:
      to() = a() ^ b();
      if (to() != kNone) [[likely]]
        continue;
      failOverflow(loc(), "xor");
      break;
    case Opcode::Eq:
      to() = a() == b();
      continue;
    case Opcode::Ne:
      to() = a() != b();
      continue;
    case Opcode::Less:
      to() = a() < b();
      continue;
    case Opcode::LessEqual:
      to() = a() <= b();
      continue;
    case Opcode::NotNone:
      if (int64_t value = a(); value != kNone) [[likely]] {
        to() = value;
        continue;
      }
      fail(loc(), "arithmetic on 'none'", "test it first: 'if x != none { ... }'");
      break;
    case Opcode::Bits:
      to() = evalBits(exprs_[at->origin], a());
      break;
    case Opcode::Min:
      to() = std::min(a(), b());
      continue;
    case Opcode::Max:
      to() = std::max(a(), b());
      continue;
    case Opcode::GridShift:
      to() = gridShift(exprs_[at->origin], a(), b());
      break;
    case Opcode::EdgeSlot:
      to() = EdgeRef::of(a()).slot;
      continue;
    case Opcode::Evaluate:
      to() = evalTree(exprs_[at->origin]);
      break;
    case Opcode::Jump:
      jump();
      continue;
    case Opcode::JumpIf:
      if (a())
        jump();
      continue;
    case Opcode::JumpUnless:
      if (!a())
        jump();
      continue;
    case Opcode::JumpUnlessLess:
      if (!(a() < b()))
        jump();
      continue;
    case Opcode::JumpUnlessEqual:
      if (a() != b())
        jump();
      continue;
    case Opcode::JumpIfEqual:
      if (a() == b())
        jump();
      continue;
    case Opcode::JumpIfNone:
      if (a() == kNone)
        jump();
      continue;
    case Opcode::JumpIfNowhere:
      if (edge(a(), loc()).peer == kNone)
        jump();
      break;
    case Opcode::LoopBegin:
      if (a() < b())
        step(loc());
      else
        jump();
      break;
    case Opcode::LoopNext:
      if (++registers[at->a] < b()) {
        step(loc());
        jump();
      }
      break;
    case Opcode::CloseRange:
      if (__builtin_add_overflow(a(), 1, &to()))
        failOverflow(loc(), "end of the range");
      break;
    case Opcode::JoinIndices:
      to() = joinIndices(a(), b());
      continue;
    case Opcode::WholeSlice:
      carryWhole(sliceSlot(at->to), loc());
      break;
    case Opcode::BlockSlice:
      carryBlock(sliceSlot(at->to), a(), exprs_[at->origin]);
      break;
    case Opcode::BlocksSlice:
      carryBlocks(sliceSlot(at->to), a(), b(), exprs_[at->origin]);
      break;
    case Opcode::PartSlice:
      carryPart(a(), b(), exprs_[at->origin]);
      break;
    case Opcode::LetSlice:
      cutSlice(exprs_[at->origin], a(), b(), sliceSlot(at->to));
      break;
    case Opcode::Message:
    case Opcode::CarryingMessage:
      statementsFirstOp = builder_.size();
      execMessage(program_.stmt(StmtId{at->origin}), a(), at->opcode == Opcode::CarryingMessage);
      if (at->to == kNoCode || failed_)
        break;
      [[fallthrough]];
    case Opcode::Label:
      if (const LabelRef &label = program_.labels[at->to];
          !labels_.set(frame_->labels, label.name, b(), {statementsFirstOp, builder_.size()}))
        failLabelSetTwice(label);
      break;
    case Opcode::Requires:
    case Opcode::IRequires:
      depend(*at, a(), b());
      break;
    case Opcode::Parent:
      execParent(program_.stmt(StmtId{at->origin}), a());
      break;
    case Opcode::Child:
      execChild(program_.stmt(StmtId{at->origin}), a());
      break;
    case Opcode::Edge:
      execEdge(program_.stmt(StmtId{at->origin}), {a(), b(), registers[at->to]});
      break;
    case Opcode::ForEach:
      execForEach(program_.stmt(StmtId{at->origin}), at->to);
      break;
    case Opcode::Execute:
      statementsFirstOp = builder_.size();
      execTree(program_.stmt(StmtId{at->origin}));
      break;
    }
    if (failed_)
      return 0;
  }
}

void Interpreter::depend(const Instruction &at, int64_t waiterIndex, int64_t firstIndex) {
  const LabelRef &waiter = program_.labels[at.origin], &first = program_.labels[at.to];
  const OpRange *waits = labels_.find(frame_->labels, waiter.name, waiterIndex);
  if (!waits)
    return failLabelNotSet(waiter);
  const OpRange *isFirst = labels_.find(frame_->labels, first.name, firstIndex);
  if (!isFirst)
    return failLabelNotSet(first);
  builder_.depend(*waits, *isFirst,
                  at.opcode == Opcode::Requires ? DepKind::Requires : DepKind::IRequires);
  checkCounts(waiter.loc);
}

void Interpreter::failOverflow(SourceLoc loc, const char *what) {
  fail(loc, std::string(what) + " beyond 64 bits");
}

/// Euclidean: the remainder is never negative.
int64_t Interpreter::divide(bool remainderWanted, int64_t a, int64_t b, SourceLoc loc) {
  if (b == 0) {
    fail(loc, remainderWanted ? "remainder of a division by zero" : "division by zero");
    return 0;
  }
  if (a == kNone || b == kNone) { // the negation of which does not fit
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
int64_t Interpreter::evalBits(const Expr &e, int64_t x) {
  auto bits = static_cast<uint64_t>(x);
  auto positive = [&](const char *name) {
    if (x > 0)
      return true;
    fail(e.loc, std::string(name) + " of " + std::to_string(x) + ", which is not positive");
    return false;
  };
  switch (static_cast<Builtin>(e.value)) {
  case Builtin::Ctz:
    return positive("ctz") ? std::countr_zero(bits) : 0;
  case Builtin::Popcount:
    return std::popcount(bits);
  case Builtin::Log2:
    return positive("log2") ? 63 - std::countl_zero(bits) : 0;
  case Builtin::CeilLog2:
    return positive("ceil_log2") ? 64 - std::countl_zero(bits - 1) : 0;
  case Builtin::Pow2Floor:
    return positive("pow2floor") ? int64_t{1} << (63 - std::countl_zero(bits)) : 0;
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
    break; // not of one int
  }
  __builtin_unreachable();
}

} // namespace colldsl
