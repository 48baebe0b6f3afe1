/// Calls of an MPI with different algorithms, which take turns.
#pragma once

#include "tools/tune/Contest.h"
#include "tools/tune/mpi/MpiJob.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

namespace colldsl::tools {

/// What competes: an algorithm, or the MPI's own choice.
struct Arm : Contender {
  Environment environment; ///< of its job
  std::string words = "-"; ///< variables that the job writes
  double callNs = 0;       ///< about; 0: not known
  ArmResult::Verdict verdict = ArmResult::NotRun;
};
using Arms = std::vector<Arm *>;

/// "bcast 4 KiB on 2 ranks".
std::string pointWords(const std::string &function, uint64_t bytes, uint32_t ranks);

/// Jobs of so many ranks, one for each environment that arms have.
class ArmRunner {
public:
  /// All of it outlives this.
  ArmRunner(const MpiLaunch &launch, const std::string &form, uint32_t ranks,
            std::function<void(const std::string &)> note)
      : launch_(launch), form_(form), ranks_(ranks), note_(std::move(note)) {}

  /// Rounds in which each arm calls once, or a few times if the arms are of several jobs. Arms that
  /// fail leave the list; all of a job do if it ends after each of them was checked. An error: a
  /// job cannot be started.
  Status measure(const MeasuredCall &call, Arms &arms);

  /// What a round takes, by what the arms took so far.
  static double roundNs(const Arms &arms);

  /// Ends the jobs of other environments.
  void keepOnly(const Environment &environment);

  /// Of the jobs; 1 before there was any.
  uint32_t nodes() const { return nodes_; }

private:
  using Take = llvm::function_ref<void(Arm &, const RoundTimes &)>;

  Result<Job *> jobOf(const Environment &environment);
  /// False: an arm was lost, and all have to run again.
  Result<bool> runOnce(const MeasuredCall &call, Arms &arms);
  Result<bool> run(const MeasuredCall &call, const Arms &arms, Take take);
  /// Arms that failed; of a whole run, those that did not run, too.
  void drop(const MeasuredCall &call, Arms &arms, bool isWhole) const;

  const MpiLaunch &launch_;
  const std::string form_;
  uint32_t ranks_, nodes_ = 1;
  std::function<void(const std::string &)> note_;
  std::map<Environment, std::unique_ptr<Job>> jobs_;
};

} // namespace colldsl::tools
