/// The parts of expressions and contracts, for walks over them.
#pragma once

#include "program/Program.h"

#include <optional>

namespace colldsl {

/// Calls visit(ExprId) for each operand that the expression has, lists in their order.
template <typename Visit> void forEachOperand(const Program &program, const Expr &e, Visit visit) {
  const ExprInfo &info = infoOf(e.kind);
  const ExprId ids[] = {e.a, e.b, e.c};
  auto visitOne = [&](ExprId id) {
    if (id != kNoExpr)
      visit(id);
  };
  for (unsigned i = 0; i < 3; ++i) {
    if (info.operands[i] == Operand::None || info.operands[i] == Operand::Count)
      continue;
    if (!isList(info.operands[i]))
      visitOne(ids[i]);
    else
      for (uint32_t k = 0; k < index(e.b); ++k)
        visitOne(ExprId{program.operands[index(e.a) + k]});
  }
}

/// Calls visit(const Stmt &) for the statements at and below `id` that call a collective. Only
/// statements do.
template <typename Visit> void forEachCall(const Program &program, StmtId id, Visit visit) {
  if (id == kNoStmt)
    return;
  const Stmt &s = program.stmt(id);
  const StmtInfo &info = infoOf(s.kind);
  if (isCallee(info.value))
    visit(s);
  if (info.list == Operand::Statements)
    for (uint32_t i = 0; i < s.listCount; ++i)
      forEachCall(program, StmtId{program.operands[s.listBegin + i]}, visit);
  forEachCall(program, s.body, visit);
  forEachCall(program, s.otherwise, visit);
}

/// Calls visit(uint32_t) for the invariants of the loops at and below `id`: indices into
/// Program::ensures.
template <typename Visit> void forEachInvariant(const Program &program, StmtId id, Visit visit) {
  if (id == kNoStmt)
    return;
  const Stmt &s = program.stmt(id);
  Operand list = infoOf(s.kind).list;
  for (uint32_t i = 0; list == Operand::Invariants && i < s.listCount; ++i)
    visit(program.operands[s.listBegin + i]);
  for (uint32_t i = 0; list == Operand::Statements && i < s.listCount; ++i)
    forEachInvariant(program, StmtId{program.operands[s.listBegin + i]}, visit);
  forEachInvariant(program, s.body, visit);
  forEachInvariant(program, s.otherwise, visit);
}

/// True if the slice is one of the declaration's buffer parameters, or a part of one.
bool isOfParameters(const Program &program, const Decl &decl, ExprId slice);

/// The number that a literal is; empty: it is another expression, or none.
inline std::optional<int64_t> literalOf(const Program &program, ExprId id) {
  bool isLiteral = id != kNoExpr && program.expr(id).kind == ExprKind::IntLit;
  return isLiteral ? std::optional(program.expr(id).value) : std::nullopt;
}

/// By DeclId: true for these declarations and for all that they use, directly or through others.
std::vector<bool> reachableFrom(const Program &program, const std::vector<DeclId> &roots);

/// By the numbers of a collective's parameters: true for those that callers rely on. These are the
/// parameters in its postconditions, its aliases, its buffers' lengths and the ranks where these
/// are significant, and those that a default of such a parameter uses; all parameters if there are
/// no postconditions. The others only choose how the collective is done. False for buffers.
std::vector<bool> contractParams(const Program &program, const Decl &collective);

} // namespace colldsl
