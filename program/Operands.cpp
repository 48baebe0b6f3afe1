#include "program/Operands.h"

#include <algorithm>

namespace colldsl {
namespace {

/// Looks for an int slot in the parts of a contract.
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
    if (e.kind ==
        EnsureKind::Cost) // a bound on what the body does, which a tuning parameter may move
      return false;
    for (ExprId id : {e.target, e.operand, e.rank, e.reduction, e.iterable, e.condition})
      if (isIn(id))
        return true;
    return isInEnsure(e.inner);
  }

private:
  const Program &program_;
  uint32_t slot_;
};

/// True if the contract itself uses the parameter.
bool isNamed(const Program &program, const Decl &collective, const Param &param) {
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

/// Walks from declaration to declaration. Expressions know theirs; statements are found from its
/// body.
class Reach {
public:
  explicit Reach(const Program &program)
      : program_(program), reached_(program.decls.size()), exprsOf_(program.decls.size()) {
    for (const Expr &e : program.exprs)
      if (e.owner != kNoDecl && isCallee(infoOf(e.kind).value))
        exprsOf_[index(e.owner)].push_back(&e);
  }

  void add(DeclId id) {
    if (reached_[index(id)])
      return;
    reached_[index(id)] = true;
    for (const Expr *e : exprsOf_[index(id)])
      add(DeclId{static_cast<uint32_t>(e->value)});
    forEachCall(program_, program_.decl(id).body,
                [&](const Stmt &s) { add(DeclId{static_cast<uint32_t>(s.value)}); });
  }

  std::vector<bool> take() { return std::move(reached_); }

private:
  const Program &program_;
  std::vector<bool> reached_;
  std::vector<std::vector<const Expr *>> exprsOf_;
};

} // namespace

std::vector<bool> reachableFrom(const Program &program, const std::vector<DeclId> &roots) {
  Reach reach(program);
  for (DeclId root : roots)
    reach.add(root);
  return reach.take();
}

bool isOfParameters(const Program &program, const Decl &decl, ExprId slice) {
  const Expr &e = program.expr(slice);
  auto isOf = [&](ExprId id) { return isOfParameters(program, decl, id); };
  switch (e.kind) {
  case ExprKind::LocalSlice:
    return std::any_of(decl.params.begin(), decl.params.end(),
                       [&](const Param &p) { return p.isBuffer && p.slot == e.slot; });
  case ExprKind::Block:
  case ExprKind::Blocks:
  case ExprKind::Elements:
    return isOf(e.a);
  case ExprKind::Part:
    return isOf(ExprId{program.operands[index(e.a)]});
  case ExprKind::Select:
    return isOf(e.b) && isOf(e.c);
  default:
    return false;
  }
}

std::vector<bool> contractParams(const Program &program, const Decl &collective) {
  const std::vector<Param> &params = collective.params;
  std::vector<bool> isIn(params.size());
  std::vector<size_t> added;
  auto add = [&](size_t p) {
    isIn[p] = true;
    added.push_back(p);
  };
  for (size_t p = 0; p < params.size(); ++p)
    if (!params[p].isBuffer && isNamed(program, collective, params[p]))
      add(p);
  for (size_t done = 0; done < added.size(); ++done)
    for (size_t p = 0; p < params.size(); ++p)
      if (!params[p].isBuffer && !isIn[p] &&
          SlotSearch(program, params[p].slot).isIn(params[added[done]].defaultValue))
        add(p);
  return isIn;
}

} // namespace colldsl
