/// Calls of an MPI that take turns with different algorithms.
#pragma once

#include "tools/tune/Contest.h"
#include "tools/tune/mpi/MpiJob.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

namespace colldsl::tools {

/// A contender: an algorithm, or the MPI's own choice.
struct Arm : Contender {
  Environment environment; ///< of its job
  std::string words = "-"; ///< variables that the job writes
  double callNs = 0;       ///< approximate; 0: unknown
  ArmResult::Verdict verdict = ArmResult::NotRun;
};
using Arms = std::vector<Arm *>;

/// "bcast 4 KiB on 2 ranks".
std::string pointWords(const std::string &function, uint64_t bytes, uint32_t ranks);

/// Jobs of so many ranks, one for each environment of the arms.
class ArmRunner {
public:
  /// `launch` outlives this object.
  ArmRunner(const MpiLaunch &launch, const std::string &form, uint32_t ranks,
            std::function<void(const std::string &)> note)
      : launch_(launch), form_(form), ranks_(ranks), note_(std::move(note)) {}

  /// Runs rounds in which each arm calls once, or a few times if the arms are of several jobs.
  /// Removes arms that fail, and all arms of a job that ends after each of them was checked. An
  /// error: a job cannot be started.
  Status measure(const MeasuredCall &call, Arms &arms);

  /// The estimated ns of a round, from the times of the arms so far.
  static double roundNs(const Arms &arms);

  /// Ends the jobs of other environments.
  void keepOnly(const Environment &environment);

  /// The number of nodes of the jobs; 1 before the first job.
  uint32_t nodes() const { return nodes_; }

private:
  using Take = llvm::function_ref<void(Arm &, const RoundTimes &)>;

  Result<Job *> jobOf(const Environment &environment);
  /// False: an arm was lost, and all have to run again.
  Result<bool> runOnce(const MeasuredCall &call, Arms &arms);
  Result<bool> run(const MeasuredCall &call, const Arms &arms, Take take);
  /// Removes arms that failed and, after a whole run, those that did not run.
  void drop(const MeasuredCall &call, Arms &arms, bool isWhole) const;

  const MpiLaunch &launch_;
  const std::string form_;
  uint32_t ranks_, nodes_ = 1;
  std::function<void(const std::string &)> note_;
  std::map<Environment, std::unique_ptr<Job>> jobs_;
};

} // namespace colldsl::tools
