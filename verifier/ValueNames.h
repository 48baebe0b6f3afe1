/// Symbolic values as diagnostics name them: `x[0..8]@2`, `sum of x[0..8] at ranks 0, 1, 1, 3`.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/SymbolicValues.h"

namespace colldsl::proof {

class ValueNames {
public:
  ValueNames(const Values &values, const DiagnosticNames &names) : values_(values), names_(names) {}

  std::string value(Value value, uint64_t length) const;
  /// The operands at a position of the line that their shifts count from.
  std::string reduction(Reduction reduction, const std::vector<Leaf> &operands, uint64_t position,
                        uint64_t length) const;
  std::string leaf(const Leaf &leaf, uint64_t position, uint64_t length) const;
  /// The combine tree of a value: `((0 1) (2 3))`, ranks standing for their contributions.
  std::string tree(NodeId node) const;

private:
  std::string nested(Value value, uint64_t length, unsigned depth) const;
  std::string operands(Reduction reduction, const std::vector<Leaf> &leaves, uint64_t position,
                       uint64_t length, unsigned depth) const;

  const Values &values_;
  const DiagnosticNames &names_;
};

} // namespace colldsl::proof
