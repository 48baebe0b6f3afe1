/// What came of the proofs of one collective, and for what it is proved.
#pragma once

#include "tools/verify/Proofs.h"

namespace colldsl::tools {

struct Summary {
  Source::Target target;
  std::vector<ProofTask> tasks;
  std::vector<ProofOutcome> outcomes; ///< of the tasks
  std::vector<Diagnostic> vacuous;    ///< promises of which nothing was compared, if nothing failed
  /// Because of values that were given with --set, or chosen when the schedule was made.
  bool mayBeVacuous = false;

  size_t count(ProofOutcome::Kind kind) const;
  bool hasFailed(size_t task) const;
  size_t failed() const;
  size_t proofs() const { return outcomes.size() - count(ProofOutcome::Kind::Excluded); }
  bool promisesNothing() const { return !vacuous.empty() && !mayBeVacuous; }
  /// The tasks that failed, few ranks and small sizes first; none of no bytes where one of some
  /// bytes fails alike.
  std::vector<size_t> counterexamples() const;
  /// The same of failures by their bytes and patterns, in their order.
  static std::vector<size_t>
  counterexamples(const std::vector<std::pair<uint64_t, std::string>> &failures);
  bool ok() const { return failed() == 0 && !promisesNothing(); }

  /// Fills in `vacuous`: what, in all proofs together, no rank compared a byte of. A schedule
  /// from a file has one promise for each place in its sources; one of all must compare something.
  void findPromisesOfNothing(const Program &program);

  /// "proved for ranks 1..4; 8 B; root=all: 10 proofs"; or how many were refused.
  std::string words(const Program &program) const;
  /// Ranks, sizes, and the values of each parameter: "ranks 1..4; 8 B; root=all; k at its default".
  std::string range(const Program &program) const;

private:
  bool isProof(size_t task) const { return outcomes[task].kind != ProofOutcome::Kind::Excluded; }
  /// The summary lists its values: it is a proof, or there is none.
  bool isNamed(size_t task) const { return isProof(task) || proofs() == 0; }
  bool isCompared(SourceLoc promise) const;
  void addVacuous(SourceLoc promise, bool isCost = false);
  void findPromisesOfNothing(const Schedule &schedule);
  bool hasContract(const Program &program) const;
  std::string rangeOfRanks() const;
  std::string rangeOfSizes(const Program &program) const;
  std::string rangeOfLengths() const;
  std::string rangeOfForms() const;
  std::string rangeOfMachines() const;
  std::string clobbers() const;
  std::string rangeOfValues(const Program &program) const;
  std::vector<std::string> valuesOf(const std::string &name) const;
  std::string ranksWords(const std::string &name) const;
};

} // namespace colldsl::tools
