/// What expressions and contracts are made of, for those that walk over them.
#pragma once

#include "program/Program.h"

namespace colldsl {

/// visit(ExprId) for each operand of the expression that is there, lists in their order.
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

/// What these declarations use, directly or through others, and themselves; by DeclId.
std::vector<bool> reachableFrom(const Program &program, const std::vector<DeclId> &roots);

/// Which parameters of a collective are part of what callers rely on, by their numbers: those in
/// its postconditions, its aliases, its buffers' lengths and the ranks where these are significant,
/// and those that a default of such a parameter uses. Of a collective without postconditions all
/// are. The others only choose how it is done. Buffers are not.
std::vector<bool> contractParams(const Program &program, const Decl &collective);

} // namespace colldsl
