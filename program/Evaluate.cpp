// Expressions whose value lives in an int slot.
#include "program/Interpreter.h"

namespace colldsl {

std::span<const uint32_t> Interpreter::operandsOf(const Expr &e) const {
  return {program_.operands.data() + index(e.a), index(e.b)};
}

/// An operand, without a call where it is a leaf.
inline int64_t Interpreter::operand(ExprId id) {
  const Expr &e = exprs_[index(id)];
  switch (e.kind) {
  case ExprKind::IntLit:
    return e.value;
  case ExprKind::LocalInt:
    return intSlot(e.slot);
  case ExprKind::MyRank:
    return frame_->group->me;
  case ExprKind::NumRanks:
    return frame_->group->size;
  default:
    return eval(id);
  }
}

/// The kinds that schedules are made of; the others are in evalOther, so that this one
/// stays small.
int64_t Interpreter::eval(ExprId id) {
  const Expr &e = exprs_[index(id)];
  switch (e.kind) {
  case ExprKind::IntLit:
  case ExprKind::LocalInt:
  case ExprKind::MyRank:
  case ExprKind::NumRanks:
    return operand(id);
  case ExprKind::Add: {
    int64_t a = operand(e.a), b = operand(e.b), sum;
    return __builtin_add_overflow(a, b, &sum) ? evalOverflow(e, "sum") : sum;
  }
  case ExprKind::Sub: {
    int64_t a = operand(e.a), b = operand(e.b), difference;
    return __builtin_sub_overflow(a, b, &difference) ? evalOverflow(e, "difference") : difference;
  }
  case ExprKind::Mod: {
    int64_t a = operand(e.a), b = operand(e.b);
    bool small =
        static_cast<uint64_t>(a) <= UINT32_MAX && static_cast<uint64_t>(b - 1) < UINT32_MAX;
    return small ? static_cast<uint32_t>(a) % static_cast<uint32_t>(b) : evalDivision(e, a, b);
  }
  case ExprKind::ShiftLeft: {
    int64_t a = operand(e.a), b = operand(e.b);
    bool small = static_cast<uint64_t>(a) <= UINT16_MAX && static_cast<uint64_t>(b) < 40;
    return small ? a << b : evalShift(e, a, b);
  }
  case ExprKind::Eq:
    return operand(e.a) == operand(e.b);
  case ExprKind::Ne:
    return operand(e.a) != operand(e.b);
  case ExprKind::Lt:
    return operand(e.a) < operand(e.b);
  case ExprKind::Gt:
    return operand(e.a) > operand(e.b);
  default:
    return evalOther(e);
  }
}

int64_t Interpreter::evalOther(const Expr &e) {
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
  case ExprKind::SizeSymbol:
    return evalSizeSymbol(e);
  case ExprKind::Negate:
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Mod:
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
  case ExprKind::Xor:
  case ExprKind::Eq:
  case ExprKind::Ne:
  case ExprKind::Lt:
  case ExprKind::Le:
  case ExprKind::Gt:
  case ExprKind::Ge:
    return evalBinary(e);
  case ExprKind::Not:
    return !eval(e.a);
  case ExprKind::And:
    return eval(e.a) && eval(e.b);
  case ExprKind::Or:
    return eval(e.a) || eval(e.b);
  case ExprKind::Select:
    return eval(e.a) ? eval(e.b) : eval(e.c);
  case ExprKind::NotNone: {
    int64_t value = eval(e.a);
    if (value == kNone)
      fail(e.loc, "arithmetic on 'none'", "test it first: 'if x != none { ... }'");
    return value;
  }
  case ExprKind::CallBuiltin:
    return evalBuiltin(e);
  case ExprKind::CallFunction:
    return callFunction(e);
  case ExprKind::Aggregation:
    return evalAggregation(e);
  case ExprKind::ListElement:
    return evalListElement(e);
  case ExprKind::ListLength: {
    int64_t handle = eval(e.a);
    return failed_ ? 0 : static_cast<int64_t>(list(handle).size());
  }
  case ExprKind::TreeRoot:
    return treeRoot(e);
  case ExprKind::TreeParent: {
    int64_t tree = eval(e.a);
    return failed_ ? kNone : viewOf(tree, e.loc).parent;
  }
  case ExprKind::GraphDegree: {
    int64_t graph = eval(e.a);
    return failed_ ? 0 : static_cast<int64_t>(graphViewOf(graph, e.loc).edges[e.value].size());
  }
  case ExprKind::EdgeSlot:
  case ExprKind::EdgePeer:
  case ExprKind::EdgePeerSlot:
  case ExprKind::EdgeWeight:
  case ExprKind::EdgeKey:
    return evalEdge(e);
  case ExprKind::GroupSize:
  case ExprKind::GroupRank:
  case ExprKind::GroupMember:
  case ExprKind::GroupContains:
  case ExprKind::GroupOf:
  case ExprKind::GroupWhere:
  case ExprKind::GroupSplit:
  case ExprKind::GroupLeaders:
    return evalGroup(e);
  case ExprKind::Leader:
    return evalLeader(e);
  case ExprKind::IsCommutative:
    return isCommutative(static_cast<Reduction>(eval(e.a)));
  case ExprKind::ListLiteral:
    return evalListLiteral(e);
  case ExprKind::ListComprehension:
    return evalListComprehension(e);
  case ExprKind::TreeChildren:
    return treeChildren(e);
  case ExprKind::TreeSubtree:
    return treeSubtree(e);
  case ExprKind::MakeTree:
    return makeTree(e);
  case ExprKind::MakeGraph:
    return makeGraph(e);
  case ExprKind::EdgesFile:
    return loadEdges(e);
  case ExprKind::TreeAt:
  case ExprKind::GraphAt:
    return structureAt(e);
  case ExprKind::RangeOf:
  case ExprKind::EdgesOf:
  case ExprKind::Segments:
  case ExprKind::LocalSlice:
  case ExprKind::Block:
  case ExprKind::Blocks:
  case ExprKind::Elements:
  case ExprKind::Part:
  case ExprKind::SliceList:
  case ExprKind::SliceComprehension:
    break;
  }
  assert(false && "not a value of an int slot");
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

int64_t Interpreter::callFunction(const Expr &e) {
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
      overflow = __builtin_add_overflow(result, value, &result);
      break;
    case Aggregate::Product:
      overflow = __builtin_mul_overflow(result, value, &result);
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
      evalOverflow(e, kind == Aggregate::Sum ? "sum" : "product");
  });
  if (!any && (kind == Aggregate::Min || kind == Aggregate::Max))
    fail(e.loc, std::string(kind == Aggregate::Min ? "min" : "max") + " of nothing");
  return result;
}

} // namespace colldsl
