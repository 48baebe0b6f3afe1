#include "program/Operands.h"

namespace colldsl {
namespace {

/// Looks for an int slot in what a contract is made of.
class SlotSearch {
public:
  SlotSearch(const Program &program, uint32_t slot) : program_(program), slot_(slot) {}

  bool isIn(ExprId id) const {
    if (id == kNoExpr)
      return false;
    const Expr &e = program_.expr(id);
    bool found = e.kind == ExprKind::LocalInt && e.slot == slot_;
    forEachOperand(program_, e, [&](ExprId operand) { found = found || isIn(operand); });
    return found;
  }

  bool isIn(const Param &param) const {
    return isIn(param.significantAt) || isIn(param.buffer.dim[0].expr) ||
           isIn(param.buffer.dim[1].expr);
  }

  bool isInEnsure(uint32_t node) const {
    if (node == kNoSlot)
      return false;
    const EnsureNode &e = program_.ensures[node];
    for (ExprId id : {e.target, e.operand, e.rank, e.reduction, e.iterable, e.condition})
      if (isIn(id))
        return true;
    return isInEnsure(e.inner);
  }

private:
  const Program &program_;
  uint32_t slot_;
};

} // namespace

bool isInContract(const Program &program, const Decl &collective, const Param &param) {
  SlotSearch search(program, param.slot);
  bool found = collective.ensures.empty();
  for (uint32_t root : collective.ensures)
    found = found || search.isInEnsure(root);
  for (const AliasClause &alias : collective.aliases)
    found = found || search.isIn(alias.slice);
  for (const Param &other : collective.params)
    found = found || (other.isBuffer && search.isIn(other));
  return found;
}

} // namespace colldsl
