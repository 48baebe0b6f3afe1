// Clauses of collectives: where, ensures, aliases.
#include "compiler/SemaImpl.h"
#include "compiler/Spelling.h"
#include "ir/Cost.h"
#include "ir/Operators.h"

#include "llvm/Support/ErrorHandling.h"

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
    if (nesting == Nesting::Inner)
      error(postcondition.loc,
            "'synchronizes' is a promise of all ranks: it stands alone after 'ensures'");
    break;
  case ast::PostconditionKind::For: {
    const auto &each = cast<ast::ForPostcondition>(postcondition);
    node.kind = EnsureKind::ForEach;
    Iterable over = iterable(each.iteration.range);
    if (over.element.is(ValueType::Slice))
      error(each.loc, "'ensures' cannot run over segments");
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
    node.kind = EnsureKind::Cost;
    node.slot = static_cast<uint32_t>(*cost);
    node.operand = exprOf(*equation->right, ValueType::Int, "bound of a cost").id;
    return node;
  }
  if (!equation || equation->op != ast::BinaryOp::Eq) {
    error(postcondition.loc, "'ensures' states an equation, as in 'y == x@root'",
          "a cost is bounded by 'rounds <= 2 * (ranks - 1)'");
    return node;
  }
  TypedExpr target = exprOf(*equation->left, ValueType::Slice, "left side of 'ensures'");
  node.target = target.id;
  noteOutput(*equation->left);
  const auto *call = dyn_cast<ast::CallExpr>(equation->right);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  if (callee && callee->name == "reduce")
    analyseReduce(*call, target.type, node);
  else
    analyseEntryValue(*equation->right, target.type, node);
  return node;
}

/// SLICE or SLICE@r: the value at entry.
void Sema::analyseEntryValue(const AstExpr &ast, const Type &target, EnsureNode &node) {
  const AstExpr *slice = &ast;
  if (const auto *at = dyn_cast<ast::BinaryExpr>(&ast); at && at->op == ast::BinaryOp::At) {
    slice = at->left;
    node.rank = exprOf(*at->right, ValueType::Rank, "rank after '@'").id;
  }
  TypedExpr operand = exprOf(*slice, ValueType::Slice, "right side of 'ensures'");
  node.operand = operand.id;
  const std::optional<ElementType> &left = target.element, &right = operand.type.element;
  if (Status s = left && right ? checkComparable(*left, *right) : Status(); !s)
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
