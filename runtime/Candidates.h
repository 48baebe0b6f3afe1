/// Candidates for a function: the collectives of the standard library with the values of their
/// tuning parameters, the most promising by the model first. For sweeps, and for jobs that learn.
#pragma once

#include "passes/CostModel.h"
#include "runtime/Library.h"
#include "topology/MachineProfile.h"

namespace colldsl {

/// A function for so many bytes, and the candidates to compare.
struct CandidatesOfPoint {
  std::string function;
  uint64_t bytes = 0; ///< 0 for a function without elements of its own
  std::vector<TunedCollective> candidates;
};

/// Limits on the candidates that are worth a try.
struct CandidateLimits {
  size_t most = 16;
  /// A candidate that the model expects to take more than this many times the best is left out.
  uint64_t reach = 4;
  /// Ops that are simulated; beyond them the model has no estimate.
  uint64_t mostOps = uint64_t{1} << 20;
  bool needsModel = false; ///< leaves out candidates without an estimate; else they come last
};

/// True if some buffer of the collective has the length n, which rules refer to. In other
/// collectives each rank knows only its own lengths, so rules know no bytes.
bool hasElements(const Decl &collective);

/// Bytes of an element in calls that are compared: of f64 for reductions, else 1.
uint64_t timedElementBytes(const Decl &collective);

/// All functions of the rules, in their order.
std::vector<std::string> functionsOf(const std::vector<SelectionRule> &rules);

class CandidateFinder {
public:
  /// The arguments outlive this.
  CandidateFinder(Library &library, const CostModel &cost, const Topology &topology)
      : program_(**library.program()), rules_(**library.rules()), cost_(cost), topology_(topology) {
  }

  /// The candidates within the limits. Values that the model cannot tell from others of the same
  /// collective are left out.
  CandidatesOfPoint make(const std::string &function, uint64_t bytes,
                         const CandidateLimits &limits) const;

private:
  struct Entry {
    TunedCollective what;
    std::optional<uint64_t> ns; ///< empty: the model has no estimate
  };

  void add(DeclId collective, uint64_t bytes, uint64_t &opsLeft, std::vector<Entry> &entries) const;
  bool predict(const InstantiateRequest &request, uint64_t &opsLeft, Entry &entry) const;

  const Program &program_;
  const std::vector<SelectionRule> &rules_;
  const CostModel &cost_;
  const Topology &topology_;
};

} // namespace colldsl
