/// What can be done for a function: the collectives of the standard library with the values of
/// their tuning parameters, the most promising by the model first. For sweeps, and for jobs that
/// learn.
#pragma once

#include "passes/CostModel.h"
#include "runtime/Library.h"
#include "topology/MachineProfile.h"

namespace colldsl {

/// A function for so many bytes, and what is to be compared.
struct CandidatesOfPoint {
  std::string function;
  uint64_t bytes = 0; ///< 0 for a function without elements of its own
  std::vector<TunedCollective> candidates;
};

/// What of it is worth a try.
struct CandidateLimits {
  size_t most = 16;
  /// Times the best that the model expects: what is slower by more is left out.
  uint64_t reach = 4;
  /// Ops that are simulated; behind these the model knows nothing.
  uint64_t mostOps = uint64_t{1} << 20;
  bool needsModel = false; ///< what the model cannot know is left out, too, and else comes last
};

/// Whether what a buffer of a collective holds has the length n, that of rules, somewhere. Of the
/// others each rank knows only its own lengths, so rules know no bytes.
bool hasElements(const Decl &collective);

/// Bytes of an element of calls that are compared: of reductions those of f64, else 1.
uint64_t timedElementBytes(const Decl &collective);

/// All functions of the rules, in their order.
std::vector<std::string> functionsOf(const std::vector<SelectionRule> &rules);

class CandidateFinder {
public:
  /// All of it outlives this.
  CandidateFinder(Library &library, const CostModel &cost, const Topology &topology)
      : program_(**library.program()), rules_(**library.rules()), cost_(cost), topology_(topology) {
  }

  /// Those within the limits. Values that the model cannot tell apart from others of the same
  /// collective are left out.
  CandidatesOfPoint make(const std::string &function, uint64_t bytes,
                         const CandidateLimits &limits) const;

private:
  struct Entry {
    TunedCollective what;
    std::optional<uint64_t> ns; ///< nothing: the model cannot know
  };

  void add(DeclId collective, uint64_t bytes, uint64_t &opsLeft, std::vector<Entry> &entries) const;
  bool predict(const InstantiateRequest &request, uint64_t &opsLeft, Entry &entry) const;

  const Program &program_;
  const std::vector<SelectionRule> &rules_;
  const CostModel &cost_;
  const Topology &topology_;
};

} // namespace colldsl
