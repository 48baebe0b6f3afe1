// Expressions and statements: each is as its row in Exprs.def or Stmts.def says. Types are
// representations here.
#include "program/ProgramChecker.h"

namespace colldsl {

void ProgramChecker::optional(ExprId id, ValueType wanted) {
  if (id != kNoExpr)
    expression(id, wanted);
}

/// The type of an expression that may not have been checked yet.
ValueType ProgramChecker::typeAt(ExprId id) {
  if (!require(index(id) < program_.exprs.size(), "expressions"))
    return ValueType::Int;
  return representation(program_.expr(id).type);
}

void ProgramChecker::slices(ExprId id) {
  bool isList = typeAt(id) == ValueType::Slices;
  if (isList && !require(program_.expr(id).kind != ExprKind::Segments, "lists of slices"))
    return; // they are run over only
  expression(id, isList ? ValueType::Slices : ValueType::Slice);
}

void ProgramChecker::expression(ExprId id, ValueType wanted) {
  Nested nested(*this);
  if (!ok() || !require(index(id) < program_.exprs.size(), "expressions"))
    return;
  const Expr &e = program_.expr(id);
  const ExprInfo &info = infoOf(e.kind);
  const ExprId ids[] = {e.a, e.b, e.c};
  require(!exprUsed_[index(id)], "users of an expression");
  exprUsed_[index(id)] = true;
  require(index(e.owner) == declId_, "owners of expressions");
  require(representation(e.type) == wanted, "types of expressions");
  for (unsigned i = 0; i < 3; ++i) // else it would have unchecked operands
    require(info.operands[i] != Operand::None || ids[i] == kNoExpr, "operands of expressions");
  place(e.loc);
  Scope scope(*this);
  value(info.value, e.value);
  useSlot(e, info.slot);
  for (unsigned i = 0; i < 3 && ok(); ++i)
    operand(info.operands[i], ids[i], e);
  if (ok())
    require(typeOf(e, info) == wanted, "types of expressions");
}

ValueType ProgramChecker::typeOf(const Expr &e, const ExprInfo &info) {
  if (info.result != Operand::Own)
    return representation(colldsl::typeOf(info.result));
  if (info.value == ValueUse::Builtin)
    return representation(colldsl::typeOf(infoOf(static_cast<Builtin>(e.value)).result));
  if (info.value == ValueUse::Function)
    return typeAt(program_.decls[e.value].result);
  if (info.value == ValueUse::Literal) {
    if (e.type == ValueType::Reduction)
      require(e.value >= 0 && e.value < kReductions, "reductions");
    else
      require(representation(e.type) == ValueType::Int, "literals");
  }
  return representation(e.type);
}

/// The slot that an expression reads, or that it fills before its operands.
void ProgramChecker::useSlot(const Expr &e, SlotUse use) {
  if (use == SlotUse::Int)
    require(e.slot < ints_.size() && ints_[e.slot] == representation(e.type), "values of slots");
  else if (use == SlotUse::Slice)
    require(e.slot < slices_.size() && slices_[e.slot], "values of slots");
  else if (use == SlotUse::Size)
    require(e.slot < decl_->sizeSlots, "sizes");
  else if (use == SlotUse::Rank)
    giveInt(e.slot, ValueType::Int);
}

/// The number of values that the field may have, and the name of a wrong one in the error.
std::pair<size_t, const char *> ProgramChecker::boundOf(ValueUse use) const {
  switch (use) {
  case ValueUse::None:
  case ValueUse::Literal:
    return {SIZE_MAX, ""};
  case ValueUse::Level:
    return {kLevels.size(), "levels"};
  case ValueUse::Direction:
    return {2, "directions"};
  case ValueUse::Closed:
    return {2, "ranges"};
  case ValueUse::Multicast:
    return {2, "messages"};
  case ValueUse::String:
    return {program_.strings.size(), "strings"};
  case ValueUse::Temp:
    return {program_.temps.size(), "temporaries"};
  case ValueUse::Aggregate:
    return {kAggregateKinds, "aggregates"};
  case ValueUse::Builtin:
    return {kBuiltinKinds, "built-in functions"};
  case ValueUse::Collective:
  case ValueUse::Tree:
  case ValueUse::Graph:
  case ValueUse::Function:
    return {program_.decls.size(), "callees"};
  }
  __builtin_unreachable();
}

void ProgramChecker::value(ValueUse use, int64_t value) {
  auto [end, what] = boundOf(use);
  if (end == SIZE_MAX) // any number
    return;
  bool isBelow = value >= 0 && static_cast<uint64_t>(value) < end;
  if (!require(isBelow, what) || !isCallee(use))
    return;
  const Decl &callee = program_.decls[value];
  require(callee.kind == calleeKind(use), "callees");
  if (use == ValueUse::Function)
    require(index(callee.result) < program_.exprs.size(), "results");
}

void ProgramChecker::operand(Operand type, ExprId id, const Expr &e) {
  switch (type) {
  case Operand::Own:
    require(e.type <= ValueType::Slice, "types of choices");
    return expression(id, representation(e.type));
  case Operand::Comparable: {
    ValueType found = typeAt(id);
    require(found == ValueType::Int || found == ValueType::Reduction, "types of comparisons");
    return expression(id, found);
  }
  case Operand::First:
    return expression(id, typeAt(e.a));
  case Operand::Iterable:
    return iterable(id, e.slot, false);
  default:
    return isList(type) ? listed(type, list(index(e.a), index(e.b)), e.value)
                        : plainOperand(type, id);
  }
}

void ProgramChecker::operand(Operand type, ExprId id, const Stmt &s) {
  switch (type) {
  case Operand::Value:
    return named(id, s);
  case Operand::Iterable:
    return iterable(id, s.slot, s.sliceSlot);
  case Operand::Carried:
    return carried(id, s);
  case Operand::Peer:
    return expression(id, s.alongEdge ? ValueType::Edge : ValueType::Int);
  default:
    return plainOperand(type, id);
  }
}

/// Checks an operand whose type does not depend on its expression.
void ProgramChecker::plainOperand(Operand type, ExprId id) {
  switch (type) {
  case Operand::None:
  case Operand::Count: // of the list before it
    return;
  case Operand::OptionalInt:
    return optional(id, ValueType::Int);
  case Operand::OptionalReduction:
    return optional(id, ValueType::Reduction);
  case Operand::OptionalGroup:
    return optional(id, ValueType::Group);
  case Operand::SliceOrSlices:
    return slices(id);
  default:
    return expression(id, representation(colldsl::typeOf(type)));
  }
}

void ProgramChecker::listed(Operand type, std::span<const uint32_t> items, int64_t callee) {
  if (!ok())
    return;
  if (type == Operand::BuiltinArgs)
    return arguments(items, infoOf(static_cast<Builtin>(callee)));
  if (type == Operand::CalleeArgs)
    return arguments(items, program_.decls[callee]);
  if (type == Operand::PartArgs && require(items.size() == 4, "parts")) {
    constexpr Operand kTypes[] = {Operand::Slice, Operand::Int, Operand::OptionalInt, Operand::Int};
    for (size_t i = 0; i < 4; ++i)
      plainOperand(kTypes[i], ExprId{items[i]});
    return;
  }
  for (uint32_t item : items)
    if (type == Operand::IntArgs)
      expression(ExprId{item}, ValueType::Int);
    else if (type == Operand::SliceArgs)
      slices(ExprId{item});
    else if (type == Operand::Statements)
      statement(StmtId{item});
}

void ProgramChecker::arguments(std::span<const uint32_t> args, const BuiltinInfo &callee) {
  require(args.size() >= callee.least && args.size() <= callee.most,
          "arguments of built-in functions");
  for (size_t i = 0; i < args.size(); ++i)
    expression(ExprId{args[i]}, i == 0 ? callee.first : ValueType::Int);
}

void ProgramChecker::arguments(std::span<const uint32_t> args, const Decl &callee) {
  if (!require(args.size() == callee.params.size(), "numbers of arguments"))
    return;
  for (size_t i = 0; i < args.size(); ++i) {
    const Param &param = callee.params[i];
    if (ExprId{args[i]} == kNoExpr)
      require(!param.isBuffer && param.defaultValue != kNoExpr, "arguments left out");
    else
      expression(ExprId{args[i]}, param.isBuffer ? ValueType::Slice : representation(param.type));
  }
}

/// Checks an iterable of a loop. The loop's name is known up to the end of the scope at hand.
void ProgramChecker::iterable(ExprId id, uint32_t slot, bool isSlice) {
  ValueType type = typeAt(id);
  if (!ok())
    return;
  bool fits =
      isSlice ? program_.expr(id).kind == ExprKind::Segments
              : type == ValueType::Range || type == ValueType::Edges || type == ValueType::IntList;
  if (!require(fits, "what loops run over"))
    return;
  expression(id, type);
  if (isSlice)
    giveSlice(slot);
  else
    giveInt(slot, type == ValueType::Edges ? ValueType::Edge : ValueType::Int);
}

/// Checks the expression that a name is given to.
void ProgramChecker::named(ExprId id, const Stmt &s) {
  ValueType type = s.sliceSlot ? ValueType::Slice : typeAt(id);
  require(s.sliceSlot || livesInIntSlot(type), "types of slots");
  expression(id, type);
  s.sliceSlot ? giveSlice(s.slot) : giveInt(s.slot, type);
}

void ProgramChecker::carried(ExprId id, const Stmt &s) {
  bool carries = s.op == OpKind::Send || s.op == OpKind::Recv;
  require(isMessage(s.op) && carries == (id != kNoExpr), "messages");
  require(s.d == kNoExpr || s.op == OpKind::Recv, "messages");
  require(s.value == 0 || carries, "messages");
  if (carries)
    slices(id);
}

void ProgramChecker::statement(StmtId id) {
  Nested nested(*this);
  if (!ok() || !require(index(id) < program_.stmts.size(), "statements"))
    return;
  const Stmt &s = program_.stmt(id);
  const StmtInfo &info = infoOf(s.kind);
  require(!stmtUsed_[index(id)], "users of a statement");
  stmtUsed_[index(id)] = true;
  place(s.loc);
  require(info.mayHaveLabel || s.label == kNoSlot, "labels");
  bool fits = canStandIn(info.where, decl_->kind);
  bool namesSlice = info.slot != SlotUse::None && s.sliceSlot;
  require(fits && (!namesSlice || decl_->kind == DeclKind::Collective), "kinds of statements");
  std::optional<Scope> scope;
  if (info.bodies > 0 || info.list == Operand::Statements)
    scope.emplace(*this);
  value(info.value, s.value);
  if (info.list == Operand::Labels)
    ordered(s);
  else if (isList(info.list) && info.list != Operand::Invariants)
    listed(info.list, list(s.listBegin, s.listCount), s.value);
  const ExprId ids[] = {s.a, s.b, s.c, s.d};
  for (unsigned i = 0; i < 4; ++i)
    require(info.operands[i] != Operand::None || ids[i] == kNoExpr, "operands of statements");
  for (unsigned i = 0; i < 4 && ok(); ++i)
    operand(info.operands[i], ids[i], s);
  if (info.list == Operand::Invariants)
    invariants(s);
  if (info.slot == SlotUse::Temp)
    temporary(s);
  if (info.bodies > 0)
    scoped(s.body);
  if (info.bodies > 1 && s.otherwise != kNoStmt)
    scoped(s.otherwise);
  if (s.label != kNoSlot)
    labelRef(s.label);
}

void ProgramChecker::scoped(StmtId id) {
  Scope scope(*this);
  statement(id);
}

void ProgramChecker::temporary(const Stmt &s) {
  if (!ok() || !require(!tempUsed_[s.value], "temporaries"))
    return;
  tempUsed_[s.value] = true;
  bufferType(program_.temps[s.value]);
  giveSlice(s.slot);
}

/// The invariants of a loop, whose variable has a value.
void ProgramChecker::invariants(const Stmt &s) {
  bool mayHave = decl_->kind == DeclKind::Collective &&
                 (!ok() || program_.expr(s.a).kind == ExprKind::RangeOf);
  require(s.listCount == 0 || mayHave, "invariants");
  for (uint32_t root : list(s.listBegin, s.listCount))
    promise(root, Nesting::Invariant);
}

void ProgramChecker::ordered(const Stmt &s) {
  require(s.listCount >= 2, "labels");
  for (uint32_t i = 0; i < s.listCount && ok(); ++i)
    labelRef(s.listBegin + i);
}

void ProgramChecker::labelRef(uint32_t id) {
  if (!require(id < program_.labels.size() && !labelUsed_[id], "labels"))
    return;
  labelUsed_[id] = true;
  const LabelRef &label = program_.labels[id];
  require(label.name <= program_.labels.size(), "labels");
  string(label.text);
  place(label.loc);
  for (uint32_t at : list(label.indexBegin, label.indexCount))
    expression(ExprId{at}, ValueType::Int);
}

} // namespace colldsl
