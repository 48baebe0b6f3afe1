/// The outcome of the proofs of one collective, and the range for which it is proved.
#pragma once

#include "driver/proofs/Proofs.h"

namespace colldsl::driver {

struct Summary {
  Source::Target target;
  std::vector<ProofTask> tasks;
  std::vector<ProofOutcome> outcomes; ///< of the tasks
  std::vector<Diagnostic> vacuous; ///< promises of which no byte was compared, if no proof failed
  /// A vacuous promise may be due to values of --set, or to values chosen when the schedule was
  /// made.
  bool mayBeVacuous = false;
  bool isAsWritten =
      true; ///< else passes changed schedules, which have no invariants and bounds then

  size_t count(ProofOutcome::Kind kind) const;
  bool hasFailed(size_t task) const;
  size_t failed() const;
  size_t proofs() const { return outcomes.size() - count(ProofOutcome::Kind::Excluded); }
  bool promisesNothing() const { return !vacuous.empty() && !mayBeVacuous; }
  /// The tasks that failed, few ranks and small sizes first. Leaves out a task of 0 bytes if a task
  /// with bytes fails with the same pattern.
  std::vector<size_t> counterexamples() const;
  /// Variant of counterexamples() for failures given by bytes and pattern: their indices, in order.
  static std::vector<size_t>
  counterexamples(const std::vector<std::pair<uint64_t, std::string>> &failures);
  bool ok() const { return failed() == 0 && !promisesNothing(); }

  /// Fills in `vacuous`: promises of which no rank compared a byte in any proof. A schedule from a
  /// file has one promise for each place in its sources; one of them at least must compare
  /// something.
  void findPromisesOfNothing(const Program &program);

  /// "proved for ranks 1..4; 8 B; root=all: 10 proofs"; or the number that were refused.
  std::string words(const Program &program) const;
  /// Ranks, sizes, and the values of each parameter: "ranks 1..4; 8 B; root=all; k at its default".
  std::string range(const Program &program) const;

private:
  bool isProof(size_t task) const { return outcomes[task].kind != ProofOutcome::Kind::Excluded; }
  /// True if the summary lists the task's values: it is a proof, or there is no proof at all.
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

} // namespace colldsl::driver
