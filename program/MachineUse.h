/// The levels of a machine that collectives depend on, by their text. An expression looks at a
/// level if its row in Exprs.def has the value Level.
#pragma once

#include "program/Program.h"
#include "topology/LevelSet.h"

namespace colldsl {

/// True if an expression asks for the leaders of groups, which passes choose (LeaderOrder.h).
constexpr bool looksAtLeaders(ExprKind kind) {
  return kind == ExprKind::Leader || kind == ExprKind::GroupLeaders;
}

class MachineUse {
public:
  struct Found {
    LevelSet levels;
    bool leaders = false; ///< also of the group of all ranks
  };

  /// The program outlives this, and may get further arguments.
  explicit MachineUse(const Program &program);

  /// Finds all that the collective can look at when it is called with these arguments (as in
  /// InstantiateRequest), in its contract, its body, and all that it uses. Parameters without an
  /// argument have their defaults. Each branch counts, so one run may look at less.
  Found find(DeclId collective, std::span<const ExprId> arguments) const;

private:
  class Walk;
  void excludeOperandsOf(ExprId id, std::vector<bool> &isExcluded) const;

  const Program &program_;
  /// By declaration: expressions that are evaluated whatever the arguments are; so without
  /// defaults, candidates, and arguments from outside.
  std::vector<std::vector<ExprId>> always_;
};

} // namespace colldsl
