// Declarations: parameters, buffers, contracts, bodies, and arguments from outside.
#include "program/CheckProgram.h"
#include "ir/Cost.h"
#include "program/Operands.h"
#include "program/ProgramChecker.h"

#include <algorithm>

namespace colldsl {

Status ProgramChecker::check() {
  require(program_.tempNames.size() == program_.temps.size(), "names of temporaries");
  for (uint32_t name : program_.tempNames)
    string(name);
  for (size_t i = 0; i < program_.decls.size() && ok(); ++i)
    declaration(DeclId{static_cast<uint32_t>(i)});
  for (const GivenArgument &given : program_.arguments)
    argument(given);
  decl_ = nullptr;
  nothingUnused();
  return ok() ? Status() : Status::error("program: " + error_);
}

/// Unused parts were not checked, and must not be lowered.
void ProgramChecker::nothingUnused() {
  auto all = [](const std::vector<bool> &used) {
    return std::find(used.begin(), used.end(), false) == used.end();
  };
  require(all(tempUsed_), "unused temporaries");
  require(all(labelUsed_), "unused labels");
  for (size_t i = 0; i < exprUsed_.size(); ++i)
    require(exprUsed_[i] || program_.exprs[i].owner == kNoDecl, "unused expressions");
}

void ProgramChecker::bufferType(const BufferType &type) {
  if (!require(type.dims == 1 || type.dims == 2, "dimensions"))
    return;
  for (uint32_t d = 0; d < type.dims; ++d) {
    const Dim &dim = type.dim[d];
    bool isLast = d + 1 == type.dims;
    require(dim.slot == kNoSlot || dim.slot < decl_->sizeSlots, "sizes");
    switch (dim.kind) {
    case DimKind::Symbol:
      require(dim.slot != kNoSlot, "sizes");
      [[fallthrough]];
    case DimKind::Fixed:
      expression(dim.expr, ValueType::Int);
      break;
    case DimKind::Counts:
      require(isLast && type.dims == 2, "dimensions");
      expression(dim.expr, ValueType::IntList);
      break;
    case DimKind::CallTime:
      require(isLast && dim.expr == kNoExpr, "dimensions");
      break;
    case DimKind::Capacity:
      require(isLast, "dimensions");
      expression(dim.expr, ValueType::Int);
      break;
    }
  }
}

void ProgramChecker::parameter(const Param &p) {
  string(p.name);
  place(p.loc);
  if (p.isBuffer) {
    require(p.role != BufferRole::Temp && decl_->kind == DeclKind::Collective, "parameters");
    bufferType(p.buffer);
    optional(p.significantAt, ValueType::Int);
    return giveSlice(p.slot);
  }
  require(p.type < ValueType::Slice && p.type != ValueType::Edge && p.type != ValueType::Group,
          "types of parameters");
  optional(p.defaultValue, representation(p.type));
  for (const Candidate &candidate : p.candidates) {
    expression(candidate.lo, representation(p.type));
    optional(candidate.hi, representation(p.type));
  }
  giveInt(p.slot, representation(p.type));
}

/// Checks that the value of a slice at entry is known.
void ProgramChecker::ofParameters(ExprId slice) {
  if (ok())
    require(isOfParameters(program_, *decl_, slice), "values at entry");
}

void ProgramChecker::promise(uint32_t id, Nesting nesting) {
  Nested nested(*this);
  if (!ok() || !require(id < program_.ensures.size() && !ensureUsed_[id], "promises"))
    return;
  ensureUsed_[id] = true;
  const EnsureNode &node = program_.ensures[id];
  place(node.loc);
  Scope scope(*this);
  Nesting inner = nesting == Nesting::Invariant ? nesting : Nesting::Inner;
  switch (node.kind) {
  case EnsureKind::Equal:
    expression(node.target, ValueType::Slice);
    expression(node.operand, ValueType::Slice);
    ofParameters(node.operand);
    return optional(node.rank, ValueType::Int);
  case EnsureKind::EqualReduce:
    expression(node.target, ValueType::Slice);
    expression(node.reduction, ValueType::Reduction);
    iterable(node.iterable, node.slot, false);
    optional(node.condition, ValueType::Int);
    expression(node.operand, ValueType::Slice);
    ofParameters(node.operand);
    return optional(node.rank, ValueType::Int);
  case EnsureKind::ForEach:
    iterable(node.iterable, node.slot, false);
    optional(node.condition, ValueType::Int);
    return promise(node.inner, inner);
  case EnsureKind::At:
    expression(node.condition, ValueType::Int);
    return promise(node.inner, inner);
  case EnsureKind::Synchronizes:
    require(nesting == Nesting::Whole, "promises"); // of all ranks, under no condition
    return;
  case EnsureKind::Cost:
    require(node.slot < kCosts && nesting != Nesting::Invariant, "promises");
    return expression(node.operand, ValueType::Int);
  }
}

void ProgramChecker::declaration(DeclId id) {
  const Decl &decl = program_.decl(id);
  decl_ = &decl;
  declId_ = index(id);
  string(decl.name);
  string(decl.doc);
  place(decl.loc);
  // Each has something of its own that gives it a value: no frame is larger than the file.
  size_t most =
      decl.params.size() + program_.exprs.size() + program_.stmts.size() + program_.ensures.size();
  require(decl.intSlots <= most && decl.sliceSlots <= most &&
              decl.sizeSlots == decl.sizeNames.size(),
          "numbers of slots");
  if (!ok())
    return;
  for (uint32_t name : decl.sizeNames)
    string(name);
  ints_.assign(decl.intSlots, std::nullopt);
  slices_.assign(decl.sliceSlots, false);
  given_.clear();
  for (bool buffers : {false, true}) // values are bound first
    for (const Param &p : decl.params)
      if (p.isBuffer == buffers)
        parameter(p);
  for (ExprId requirement : decl.requirements)
    expression(requirement, ValueType::Int);
  for (const AliasClause &alias : decl.aliases) {
    require(alias.param < decl.params.size() && decl.params[alias.param].isBuffer, "aliases");
    expression(alias.slice, ValueType::Slice);
    place(alias.loc);
  }
  for (uint32_t ensure : decl.ensures)
    promise(ensure, Nesting::Whole);
  bool isFunction = decl.kind == DeclKind::Function;
  require(isFunction == (decl.body == kNoStmt) && isFunction == (decl.result != kNoExpr), "bodies");
  require(decl.kind == DeclKind::Collective || (decl.ensures.empty() && decl.aliases.empty()),
          "promises");
  if (!ok())
    return;
  if (!isFunction)
    return statement(decl.body);
  if (!require(index(decl.result) < program_.exprs.size(), "results"))
    return;
  ValueType result = program_.expr(decl.result).type;
  require(result < ValueType::Slice, "results"); // what a loop runs over is no value
  expression(decl.result, representation(result));
}

void ProgramChecker::argument(const GivenArgument &given) {
  if (!ok() || !require(index(given.decl) < program_.decls.size(), "arguments"))
    return;
  decl_ = &program_.decl(given.decl);
  declId_ = index(given.decl);
  if (!require(given.param < decl_->params.size() && !decl_->params[given.param].isBuffer,
               "arguments"))
    return;
  ints_.assign(decl_->intSlots, std::nullopt);
  slices_.assign(decl_->sliceSlots, false);
  given_.clear();
  expression(given.value, representation(decl_->params[given.param].type));
}

Status checkProgram(const Program &program) { return ProgramChecker(program).check(); }

void disownUnused(Program &program) {
  ProgramChecker checker(program);
  (void)checker.check(); // its error is about to be mended
  for (size_t i = 0; i < program.exprs.size(); ++i)
    if (!checker.usedExprs()[i])
      program.exprs[i].owner = kNoDecl;
}

} // namespace colldsl
