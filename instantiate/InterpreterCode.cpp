// The register machine: one loop over instructions, one handler for each.
#include "instantiate/Interpreter.h"

#include <algorithm>

namespace colldsl {
namespace {

/// True if neither is negative, 32 bits hold both, and b is not 0: such a division is much cheaper
/// on many machines.
bool isSmallDivision(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) <= UINT32_MAX && static_cast<uint64_t>(b) - 1 < UINT32_MAX;
}

/// x % ranks. x is rarely more than two turns off.
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

/// Runs code in the current frame. A handler executes the current instruction, and returns true
/// unless the code ends there or an error occurred. All functions that take `this` are inlined: a
/// call would keep the machine's state in memory.
class Machine {
public:
  Machine(Interpreter &in, uint32_t begin)
      : in_(in), first_(in.program_.code.instructions.data()), at_(first_ + begin),
        ints_(in.frame_->ints) {}

  /// The register that Return names.
  [[gnu::always_inline]] uint32_t run() {
    for (;; ++at_) {
      switch (at_->opcode) {
#define COLLDSL_OPCODE(Name, summary)                                                              \
  case Opcode::Name:                                                                               \
    if (do##Name())                                                                                \
      continue;                                                                                    \
    return at_->a;
#include "program/Opcodes.def"
#define COLLDSL_VALUE(Name, ...)                                                                   \
  case Opcode::Name:                                                                               \
    to() = in_.eval##Name(expr(), a(), b());                                                       \
    if (goesOn())                                                                                  \
      continue;                                                                                    \
    return at_->a;
#include "program/Exprs.def"
      }
    }
  }

private:
#define COLLDSL_OPCODE(Name, summary) [[gnu::always_inline]] inline bool do##Name();
#include "program/Opcodes.def"

  int64_t a() const { return ints_[at_->a]; }
  int64_t b() const { return ints_[at_->b]; }
  int64_t c() const { return ints_[at_->c]; }
  int64_t &to() { return ints_[at_->to]; }
  Interpreter::Args args() const { return {ints_ + at_->a, at_->c}; }
  SliceValue &slice(Register at) { return in_.frame_->slices[at]; }
  SizeExtent &size(Register at) { return in_.frame_->sizes[at]; }
  const Expr &expr() const { return in_.exprs_[at_->origin]; }
  SourceLoc loc() const { return expr().loc; }
  const Stmt &stmt() const { return in_.program_.stmt(StmtId{at_->origin}); }
  const EnsureNode &ensure() const { return in_.program_.ensures[at_->origin]; }

  bool goesOn() const { return !in_.failed_; }
  [[gnu::always_inline]] bool jump() {
    at_ = first_ + at_->to - 1;
    return true;
  }
  [[gnu::always_inline]] bool jumpIf(bool condition) { return condition ? jump() : true; }
  bool set(int64_t value) {
    to() = value;
    return true;
  }
  bool setOrFail(int64_t value) {
    to() = value;
    return goesOn();
  }
  bool setSlice(const SliceValue &value) {
    slice(at_->to) = value;
    return goesOn();
  }
  bool setSize(const SizeExtent &value) {
    size(at_->to) = value;
    return goesOn();
  }
  bool overflows(const char *what) {
    in_.failOverflow(loc(), what);
    return false;
  }
  void beginStatement() { firstOp_ = in_.builder_.size(); }
  [[gnu::always_inline]] inline bool setLabel(uint32_t id);

  Interpreter &in_;
  const Instruction *const first_;
  const Instruction *at_;
  int64_t *const ints_;
  uint32_t firstOp_ = 0; ///< of the last statement that may have a label
};

uint32_t Interpreter::runCode(uint32_t begin) { return Machine(*this, begin).run(); }

// Ints

bool Machine::doReturn() { return false; }
bool Machine::doMove() { return set(a()); }
bool Machine::doNegate() {
  return !__builtin_sub_overflow(int64_t{0}, a(), &to()) || overflows("negation");
}
bool Machine::doNot() { return set(!a()); }
bool Machine::doAdd() {
  if (addInts(a(), b(), to())) [[likely]]
    return true;
  return overflows("sum");
}
bool Machine::doSub() {
  if (subtractInts(a(), b(), to())) [[likely]]
    return true;
  return overflows("difference");
}
bool Machine::doMul() {
  if (multiplyInts(a(), b(), to())) [[likely]]
    return true;
  return overflows("product");
}
bool Machine::doDiv() { return setOrFail(in_.divide(false, a(), b(), loc())); }
bool Machine::doMod() {
  if (isSmallDivision(a(), b())) [[likely]]
    return set(static_cast<uint32_t>(a()) % static_cast<uint32_t>(b()));
  return setOrFail(in_.divide(true, a(), b(), loc()));
}
bool Machine::doAddWrapped() {
  if (int64_t sum; !__builtin_add_overflow(a(), b(), &sum)) [[likely]]
    return set(wrap(sum, in_.frame_->group->size));
  return overflows("sum");
}
bool Machine::doSubWrapped() {
  if (int64_t difference; !__builtin_sub_overflow(a(), b(), &difference)) [[likely]]
    return set(wrap(difference, in_.frame_->group->size));
  return overflows("difference");
}
bool Machine::doShiftLeft() {
  if (static_cast<uint64_t>(a()) <= UINT16_MAX && static_cast<uint64_t>(b()) < 40) [[likely]]
    return set(a() << b());
  return setOrFail(in_.shift(false, a(), b(), loc()));
}
bool Machine::doShiftRight() { return setOrFail(in_.shift(true, a(), b(), loc())); }
bool Machine::doXor() {
  to() = a() ^ b();
  return to() != kNone || overflows("xor");
}
bool Machine::doEq() { return set(a() == b()); }
bool Machine::doNe() { return set(a() != b()); }
bool Machine::doLess() { return set(a() < b()); }
bool Machine::doLessEqual() { return set(a() <= b()); }
bool Machine::doNotNone() {
  if (a() != kNone) [[likely]]
    return set(a());
  in_.fail(loc(), "arithmetic on 'none'", "test it first: 'if x != none { ... }'");
  return false;
}
bool Machine::doBits() { return setOrFail(in_.bits(expr(), a())); }
bool Machine::doMin() { return set(std::min(a(), b())); }
bool Machine::doMax() { return set(std::max(a(), b())); }
bool Machine::doBitReverse() { return setOrFail(in_.reverseBits(a(), b(), loc())); }
bool Machine::doLogarithm() { return setOrFail(in_.logarithm(expr(), a(), b())); }
bool Machine::doSumList() { return setOrFail(in_.foldList(a(), 0, addInts, "sum", loc())); }
bool Machine::doProductList() {
  return setOrFail(in_.foldList(a(), 1, multiplyInts, "product", loc()));
}
bool Machine::doGridShift() { return setOrFail(in_.gridShift(expr(), a(), b(), c())); }
bool Machine::doEdgeSlot() { return set(EdgeRef::of(a()).slot); }
bool Machine::doJoinIndices() { return set(joinIndices(a(), b())); }

// Jumps and loops

bool Machine::doJump() { return jump(); }
bool Machine::doJumpIf() { return jumpIf(a() != 0); }
bool Machine::doJumpUnless() { return jumpIf(a() == 0); }
bool Machine::doJumpUnlessLess() { return jumpIf(a() >= b()); }
bool Machine::doJumpUnlessEqual() { return jumpIf(a() != b()); }
bool Machine::doJumpIfEqual() { return jumpIf(a() == b()); }
bool Machine::doJumpIfNone() { return jumpIf(a() == kNone); }
bool Machine::doJumpIfNowhere() {
  bool isNowhere = in_.edge(a(), loc()).peer == kNone;
  return goesOn() && jumpIf(isNowhere);
}
bool Machine::doJumpUnlessMember() {
  beginStatement();
  return in_.groupOfCall(a()) || (in_.step(stmt().loc) && jump());
}
bool Machine::doLoopBegin() { return a() < b() ? in_.step(loc()) : jump(); }
bool Machine::doLoopNext() {
  if (++ints_[at_->a] >= b())
    return true;
  return in_.step(loc()) && jump();
}
bool Machine::doCloseRange() {
  return !__builtin_add_overflow(a(), 1, &to()) || overflows("end of the range");
}
bool Machine::doEdgesOf() {
  auto graph = static_cast<uint32_t>(a());
  bool isIn = expr().value == 1;
  size_t count = in_.graphViewOf(graph, loc()).edges[isIn].size();
  to() = EdgeRef{graph, isIn, 0}.handle();
  ints_[at_->b] = to() + static_cast<int64_t>(count);
  return goesOn();
}
bool Machine::doRequireAny() {
  if (a())
    return true;
  in_.failNothing(expr());
  return false;
}

// Lists, calls, groups

bool Machine::doNewList() { return set(in_.newList()); }
bool Machine::doAppend() {
  in_.list(to()).push_back(b());
  return true;
}
bool Machine::doListLiteral() { return setOrFail(in_.listLiteral(args(), loc())); }
bool Machine::doDefaultArgument() { return setOrFail(in_.defaultArgument(expr(), args())); }
bool Machine::doCallFunction() { return setOrFail(in_.callFunction(expr(), args())); }
bool Machine::doMakeTree() { return setOrFail(in_.makeTree(expr(), args())); }
bool Machine::doMakeGraph() { return setOrFail(in_.makeGraph(expr(), args())); }
bool Machine::doGroupWhere() { return setOrFail(in_.groupWhere(a())); }
bool Machine::doGroupSplit() { return setOrFail(in_.groupSplit(a())); }

// Slices

bool Machine::doMoveSlice() { return setSlice(slice(at_->a)); }
bool Machine::doRemoteSlice() {
  return setSlice(in_.remote_ == kNone ? slice(at_->a) : in_.bufferAt(at_->a, in_.remote_));
}
bool Machine::doBlockSlice() { return setSlice(in_.blockAt(slice(at_->a), b(), expr())); }
bool Machine::doBlocksSlice() { return setSlice(in_.blocksAt(slice(at_->a), b(), c(), expr())); }
bool Machine::doElementSlice() { return setSlice(in_.elementAt(slice(at_->a), b(), expr())); }
bool Machine::doElementsSlice() {
  return setSlice(in_.elementsAt(slice(at_->a), b(), c(), expr()));
}
bool Machine::doPartSlice() {
  in_.partAt(slice(at_->a), b(), c(), expr(), slice(at_->to));
  return goesOn();
}
bool Machine::doPartsSlice() {
  return setSlice(in_.partsAt(slice(at_->a), b(), ints_[at_->b + 1], c(), expr()));
}
bool Machine::doSegments() {
  in_.beginSegments(slice(at_->a), b(), loc(), ints_ + at_->to);
  return goesOn();
}
bool Machine::doSegmentSlice() {
  return setSlice(in_.segmentAt(slice(at_->a), ints_ + at_->b, loc()));
}
bool Machine::doCarrySlice() {
  in_.carryWhole(slice(at_->a), loc());
  return goesOn();
}
bool Machine::doCarryBlock() {
  in_.carryBlock(slice(at_->a), b(), expr());
  return goesOn();
}
bool Machine::doCarryBlocks() {
  in_.carryBlocks(slice(at_->a), b(), c(), expr());
  return goesOn();
}
bool Machine::doCarryPart() {
  in_.carryPart(slice(at_->a), b(), c(), expr());
  return goesOn();
}
bool Machine::doEndSources() {
  in_.sources_.swap(in_.carried_);
  in_.carried_.clear();
  return true;
}

// Sizes

bool Machine::doLoadSize() { return setSize(in_.loadSize(at_->a, loc())); }
bool Machine::doAddSizes() { return setSize(in_.addSizes(size(at_->a), 1, size(at_->b), expr())); }
bool Machine::doSubSizes() { return setSize(in_.addSizes(size(at_->a), -1, size(at_->b), expr())); }
bool Machine::doMulSizes() {
  return setSize(in_.multiplySizes(size(at_->a), size(at_->b), expr()));
}
bool Machine::doSizeOfInt() { return setSize(Interpreter::sizeOfInt(a())); }

// Statements

bool Machine::setLabel(uint32_t id) {
  const LabelRef &label = in_.program_.labels[id];
  if (in_.labels_.set(in_.frame_->labels, label.name, b(), {firstOp_, in_.builder_.size()}))
    return true;
  in_.failLabelSetTwice(label);
  return false;
}
bool Machine::doMessage() {
  beginStatement();
  const Stmt &s = stmt();
  in_.execMessage(s, a(), c(), to());
  return goesOn() && (s.label == kNoSlot || setLabel(s.label));
}
bool Machine::doCopy() {
  beginStatement();
  in_.execCopy(stmt());
  return goesOn();
}
bool Machine::doCombine() {
  beginStatement();
  in_.execCombine(stmt(), a());
  return goesOn();
}
bool Machine::doCalc() {
  beginStatement();
  in_.execCalc(stmt(), a());
  return goesOn();
}
bool Machine::doTemp() { return setSlice(in_.execTemp(stmt())); }
bool Machine::doCall() {
  beginStatement();
  const Stmt &s = stmt();
  const Group *group = s.a == kNoExpr ? in_.frame_->group : in_.groupOfCall(to());
  in_.execCall(s, group, ints_ + at_->a, in_.frame_->slices + at_->b);
  return goesOn();
}
bool Machine::doLabel() { return setLabel(at_->to); }
bool Machine::doRequires() {
  in_.depend(*at_, a(), b());
  return goesOn();
}
bool Machine::doIRequires() { return doRequires(); }
bool Machine::doParent() {
  in_.execParent(stmt(), a());
  return goesOn();
}
bool Machine::doChild() {
  in_.execChild(stmt(), a());
  return goesOn();
}
bool Machine::doEdge() {
  in_.execEdge(stmt(), {a(), b(), c()});
  return goesOn();
}

// Postconditions

bool Machine::doBeginEnsure() {
  in_.beginEnsure(ensure(), a());
  return true;
}
bool Machine::doAtRank() {
  bool isSomewhere = in_.enterRank(ensure(), a());
  return goesOn() && jumpIf(!isSomewhere);
}
bool Machine::doEnsureOperand() {
  in_.addOperand(ensure(), slice(at_->a), b());
  return goesOn();
}
bool Machine::doJumpIfNoOperand() {
  bool hasAny = in_.hasOperands(ensure());
  return goesOn() && jumpIf(!hasAny);
}
bool Machine::doEnsure() {
  in_.addEnsure(ensure(), slice(at_->a));
  return goesOn();
}
bool Machine::doInvariants() {
  bool areRecorded = in_.beginInvariants(StmtId{at_->origin});
  return jumpIf(!areRecorded);
}
bool Machine::doEndInvariants() {
  in_.endInvariants();
  return true;
}
bool Machine::doEnsureCost() {
  in_.addCostBound(ensure(), size(at_->a));
  return goesOn();
}

} // namespace colldsl
