#include "tests/random/NestedTrees.h"

namespace colldsl::generated {
namespace {

/// let u = inner(root); parent u.parent; for c in u.children { child c; }
uint32_t addCopyOf(uint32_t inner, Program &program, Random &random) {
  Structure copy;
  copy.root = program.newName();
  Name u = program.newName(), child = program.newName();
  Expr above = of(ExprOp::TreeParent, u);
  Stmt parent = simple(Stmt::Kind::Parent, {above});
  copy.body = {
      letTree(u, inner, var(copy.root)),
      random.chance(50) ? parent : when(differs(above, none()), {parent}),
      forEach(child, overAll(Range::Kind::Children, u), {simple(Stmt::Kind::Child, {var(child)})})};
  program.structures.push_back(copy);
  return static_cast<uint32_t>(program.structures.size() - 1);
}

} // namespace

void nestTrees(Program &program, Random &random) {
  for (Collective &collective : program.collectives)
    for (Param &param : collective.params)
      while (param.kind == Param::Kind::Tree && random.chance(25))
        param.structure = addCopyOf(param.structure, program, random);
}

} // namespace colldsl::generated
