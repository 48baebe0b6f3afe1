// Clauses of collectives: where, ensures, aliases.
#include "compiler/SemaImpl.h"
#include "compiler/Spelling.h"
#include "ir/Cost.h"
#include "ir/Operators.h"
#include "program/Operands.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SaveAndRestore.h"

namespace colldsl {

using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;

void Sema::analyseClauses(const ast::CollectiveDecl &ast) {
  ensured_.clear();
  for (const ast::Clause *clause : ast.clauses) {
    switch (clause->kind) {
    case ast::ClauseKind::Where: {
      const auto &where = cast<ast::WhereClause>(*clause);
      ExprId condition = exprOf(*where.condition, ValueType::Bool, "condition of 'where'").id;
      decl().requirements.push_back(condition);
      break;
    }
    case ast::ClauseKind::Ensures: {
      uint32_t root =
          analysePostcondition(*cast<ast::EnsuresClause>(*clause).postcondition, Nesting::Whole);
      decl().ensures.push_back(root);
      break;
    }
    case ast::ClauseKind::Aliases:
      analyseAliases(cast<ast::AliasesClause>(*clause));
      break;
    }
  }
  checkOutputs(ast);
}

uint32_t Sema::analysePostcondition(const ast::Postcondition &postcondition, Nesting nesting) {
  BlockScope block(*scope_);
  EnsureNode node;
  node.loc = postcondition.loc;
  switch (postcondition.kind) {
  case ast::PostconditionKind::Synchronizes:
    node.kind = EnsureKind::Synchronizes;
    if (inInvariant_)
      error(postcondition.loc, "'synchronizes' is a promise of a collective, not of a loop");
    else if (nesting == Nesting::Inner)
      error(postcondition.loc,
            "'synchronizes' is a promise of all ranks: it stands alone after 'ensures'");
    break;
  case ast::PostconditionKind::For: {
    const auto &each = cast<ast::ForPostcondition>(postcondition);
    node.kind = EnsureKind::ForEach;
    Iterable over = iterable(each.iteration.range);
    if (over.element.is(ValueType::Slice))
      error(each.loc, clauseWord() + " cannot run over segments");
    node.iterable = over.id;
    node.slot = loopName(each.iteration.name, over.element);
    node.condition = conditionOf(each.iteration);
    node.inner = analysePostcondition(*each.inner, Nesting::Inner);
    break;
  }
  case ast::PostconditionKind::At: {
    const auto &at = cast<ast::AtPostcondition>(postcondition);
    node.kind = EnsureKind::At;
    node.condition = exprOf(*at.condition, ValueType::Bool, "condition of 'at'").id;
    node.inner = analysePostcondition(*at.inner, Nesting::Inner);
    break;
  }
  case ast::PostconditionKind::Value:
    node = analyseValuePostcondition(cast<ast::ValuePostcondition>(postcondition));
    break;
  }
  program_.ensures.push_back(node);
  return static_cast<uint32_t>(program_.ensures.size() - 1);
}

void Sema::noteOutput(const AstExpr &target) {
  const AstExpr *base = &target;
  while (true) {
    if (const auto *index = dyn_cast<ast::IndexExpr>(base))
      base = index->base;
    else if (const auto *call = dyn_cast<ast::CallExpr>(base); call && !call->arguments.empty())
      base = call->arguments[0].value;
    else
      break;
  }
  if (const auto *name = dyn_cast<ast::NameExpr>(base))
    ensured_.insert(name->name);
}

/// The cost that `COST <= e` bounds.
static std::optional<Cost> boundedCost(const ast::BinaryExpr &comparison) {
  const auto *name = dyn_cast<ast::NameExpr>(comparison.left);
  return name && comparison.op == ast::BinaryOp::Le ? parseCost(name->name) : std::nullopt;
}

EnsureNode Sema::analyseValuePostcondition(const ast::ValuePostcondition &postcondition) {
  EnsureNode node;
  node.loc = postcondition.loc;
  const auto *equation = dyn_cast<ast::BinaryExpr>(postcondition.equation);
  if (std::optional<Cost> cost = equation ? boundedCost(*equation) : std::nullopt) {
    if (inInvariant_)
      error(postcondition.loc, "a cost is bounded by 'ensures', for the whole collective");
    node.kind = EnsureKind::Cost;
    node.slot = static_cast<uint32_t>(*cost);
    node.operand = exprOf(*equation->right, ValueType::Int, "bound of a cost").id;
    return node;
  }
  if (!equation || equation->op != ast::BinaryOp::Eq) {
    error(postcondition.loc, clauseWord() + " states an equation, as in 'y == x@root'",
          inInvariant_ ? "" : "a cost is bounded by 'rounds <= 2 * (ranks - 1)'");
    return node;
  }
  std::string left = "left side of " + clauseWord();
  TypedExpr target = exprOf(*equation->left, ValueType::Slice, left.c_str());
  node.target = target.id;
  if (!inInvariant_)
    noteOutput(*equation->left);
  const auto *call = dyn_cast<ast::CallExpr>(equation->right);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  if (callee && callee->name == "reduce")
    analyseReduce(*call, target.type, node);
  else
    analyseEntryValue(*equation->right, target.type, node);
  if (inInvariant_)
    checkInvariant(node);
  return node;
}

/// The statements behind the header of a loop, in the scope of its variable.
void Sema::analyseInvariants(const ast::ForStmt &ast, Stmt &loop) {
  SourceLoc first = ast.invariants.front()->loc;
  if (decl().kind != DeclKind::Collective)
    return error(first, "'invariant' belongs to the loops of a collective");
  if (program_.expr(loop.a).kind != ExprKind::RangeOf)
    return error(first, "'invariant' belongs to a loop over a range",
                 "it holds behind the last iteration, too, where i of 'for i in 0..n' is n");
  llvm::SaveAndRestore isInvariant(inInvariant_, true);
  std::vector<uint32_t> roots;
  for (const ast::Postcondition *stated : ast.invariants)
    roots.push_back(analysePostcondition(*stated, Nesting::Inner));
  loop.listBegin = static_cast<uint32_t>(program_.operands.size());
  loop.listCount = static_cast<uint32_t>(roots.size());
  program_.operands.insert(program_.operands.end(), roots.begin(), roots.end());
}

/// The right side is a value at entry, which parameters alone have.
void Sema::checkInvariant(const EnsureNode &node) {
  if (node.operand == kNoExpr || invalidAt_.known())
    return;
  if (!isOfParameters(program_, decl(), node.operand))
    error(program_.expr(node.operand).loc,
          "the right side of 'invariant' is a value at entry: a part of a parameter");
}

/// SLICE or SLICE@r: the value at entry.
void Sema::analyseEntryValue(const AstExpr &ast, const Type &target, EnsureNode &node) {
  const AstExpr *slice = &ast;
  if (const auto *at = dyn_cast<ast::BinaryExpr>(&ast); at && at->op == ast::BinaryOp::At) {
    slice = at->left;
    node.rank = exprOf(*at->right, ValueType::Rank, "rank after '@'").id;
  }
  std::string right = "right side of " + clauseWord();
  TypedExpr operand = exprOf(*slice, ValueType::Slice, right.c_str());
  node.operand = operand.id;
  const std::optional<ElementType> &to = target.element, &from = operand.type.element;
  if (Status s = to && from ? checkComparable(*to, *from) : Status(); !s)
    error(node.loc, s.message());
}

/// reduce(op, for r in R [if C]: SLICE@r)
void Sema::analyseReduce(const ast::CallExpr &call, const Type &target, EnsureNode &node) {
  node.kind = EnsureKind::EqualReduce;
  bool right = call.arguments.size() == 2 && call.arguments[0].kind == ast::ArgumentKind::Plain &&
               call.arguments[1].kind == ast::ArgumentKind::Comprehension;
  if (!right) {
    error(call.loc, "'reduce' takes an operator and its operands",
          "reduce(op, for r in 0..ranks: x@r)");
    return;
  }
  node.reduction = exprOf(*call.arguments[0].value, ValueType::Reduction, "operator").id;
  checkOperator(call.loc, node.reduction, target);
  const ast::Argument &operands = call.arguments[1];
  Iterable over = iterable(operands.iteration->range);
  if (over.element.is(ValueType::Slice))
    error(call.loc, "'reduce' cannot run over segments");
  node.iterable = over.id;
  node.slot = loopName(operands.iteration->name, over.element);
  node.condition = conditionOf(*operands.iteration);
  analyseEntryValue(*operands.value, target, node);
}

void Sema::analyseAliases(const ast::AliasesClause &clause) {
  StringRef name = clause.parameter.text;
  AliasClause alias;
  alias.loc = clause.parameter.loc;
  const auto &params = decl().params;
  size_t at = 0;
  while (at < params.size() && program_.strings[params[at].name] != name)
    ++at;
  if (at == params.size() || !params[at].isBuffer) {
    error(alias.loc, "'" + name.str() + "' is no buffer of this collective");
    return;
  }
  noteUse(alias.loc, params[at].loc);
  alias.param = static_cast<uint32_t>(at);
  alias.slice = exprOf(*clause.slice, ValueType::Slice, "after 'aliases'").id;
  decl().aliases.push_back(alias);
}

/// Reports `out` buffers without a promise: they could hold anything.
void Sema::checkOutputs(const ast::CollectiveDecl &ast) {
  for (const ast::Parameter &p : ast.parameters)
    if (p.isBuffer && p.role == BufferRole::Out && !ensured_.contains(p.name.text))
      error(p.name.loc, "no 'ensures' speaks of the 'out' buffer '" + p.name.text.str() + "'");
}

} // namespace colldsl
