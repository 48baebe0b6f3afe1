/// Candidates for a function: the collectives of the library with the values of their tuning
/// parameters, the most promising by the model first. For sweeps, for jobs that learn, and for
/// people who ask why a collective was chosen.
#pragma once

#include "passes/CostModel.h"
#include "program/library/Library.h"
#include "topology/MachineProfile.h"

#include <map>

namespace colldsl {

/// A function for so many bytes, and the candidates to compare.
struct CandidatesOfPoint {
  std::string function;
  uint64_t bytes = 0; ///< 0 for a function without elements of its own
  std::vector<TunedCollective> candidates;
};

/// The call that candidates are to serve.
struct CandidateCall {
  std::string function;
  uint64_t bytes = 0;
  std::optional<ElementType> type; ///< empty: that of calls that are compared
  bool inPlace = false;
  std::map<std::string, ArgumentValue> values; ///< of parameters in the contract
};

struct RatedCandidate {
  TunedCollective what;
  std::optional<uint64_t> ns; ///< that the model expects; empty: it has no estimate
};

/// Limits on the candidates that are worth a try.
struct CandidateLimits {
  size_t most = 16;
  /// A candidate that the model expects to take more than this many times the best is left out.
  uint64_t reach = 4;
  /// Ops that are simulated; beyond them the model has no estimate.
  uint64_t mostOps = uint64_t{1} << 20;
  uint64_t mostOpsOfOne = UINT64_MAX; ///< of these, for one candidate
  bool needsModel = false; ///< leaves out candidates without an estimate; else they come last
};

/// True if some buffer of the collective has the length n, which rules refer to. In other
/// collectives each rank knows only its own lengths, so rules know no bytes.
bool hasElements(const Decl &collective);

/// Bytes of an element in calls that are compared: of f64 for reductions, else 1.
uint64_t timedElementBytes(const Decl &collective);

/// The request for a collective that serves the call, on the ranks of the topology, which outlives
/// it. Lengths of blocks that each rank knows for itself are those of n.
InstantiateRequest requestFor(const Program &program, DeclId collective, const CandidateCall &call,
                              const Topology &topology);

class CandidateFinder {
public:
  /// The arguments outlive this.
  CandidateFinder(const Program &program, std::span<const SelectionRule> rules,
                  const CostModel &cost, const Topology &topology)
      : program_(program), rules_(rules), cost_(cost), topology_(topology) {}
  /// Among the collectives of the library, which outlives this. An error: its rules are damaged.
  static Result<CandidateFinder> of(Library &library, const CostModel &cost,
                                    const Topology &topology);

  /// The candidates within the limits. Values that the model cannot tell from others of the same
  /// collective are left out.
  CandidatesOfPoint make(const std::string &function, uint64_t bytes,
                         const CandidateLimits &limits) const;
  /// Variant of make() that tells the expected times.
  std::vector<RatedCandidate> find(const CandidateCall &call, const CandidateLimits &limits) const;

private:
  void add(DeclId collective, const CandidateCall &call, uint64_t mostOps, uint64_t &opsLeft,
           std::vector<RatedCandidate> &found) const;
  bool predict(const InstantiateRequest &request, uint64_t mostOps, uint64_t &opsLeft,
               RatedCandidate &candidate) const;

  const Program &program_;
  std::span<const SelectionRule> rules_;
  const CostModel &cost_;
  const Topology &topology_;
};

} // namespace colldsl
