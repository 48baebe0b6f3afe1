/// The one that chooses a collective for a function. Front ends do not look through rules: they ask
/// a Chooser, which asks the decisions of the machine profile before the rules of the library.
#pragma once

#include "program/library/Library.h"
#include "select/Situation.h"
#include "topology/MachineProfile.h"

#include <span>

namespace colldsl {

/// A view: the program and the rules outlive it.
class Chooser {
public:
  Chooser(const Program &program, std::span<const SelectionRule> decisions,
          std::span<const SelectionRule> rules)
      : program_(program), decisions_(decisions), rules_(rules) {}

  /// Asks the library, and the decisions that precede its rules. An error: a part is corrupt.
  static Result<Chooser> of(Library &library);

  const Program &program() const { return program_; }
  std::span<const SelectionRule> decisions() const { return decisions_; }
  std::span<const SelectionRule> rules() const { return rules_; }

  /// The first rule that fits behind `last`, or of all; null: none does.
  const SelectionRule *choose(const Situation &situation,
                              const SelectionRule *last = nullptr) const;

  /// Bytes from one number to another.
  struct Bytes {
    uint64_t least = 0, most = UINT64_MAX;
  };
  /// The bytes around those of the situation for which choose() returns the same.
  Bytes alikeAround(const Situation &situation) const;

  bool isDecision(const SelectionRule &rule) const;
  /// "rule 5 for bcast", counted from 1, or "decision 0 of the profile for bcast".
  std::string nameOf(const SelectionRule &rule) const;
  /// By parameter of the rule's collective: the argument that the rule gives, or kNoExpr.
  std::vector<ExprId> argumentsOf(const SelectionRule &rule) const;
  /// The rule's collective, with the arguments that are numbers.
  TunedCollective collectiveOf(const SelectionRule &rule) const;

private:
  const Program &program_;
  std::span<const SelectionRule> decisions_, rules_;
};

} // namespace colldsl
