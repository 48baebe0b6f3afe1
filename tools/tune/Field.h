/// What can be done for a function: the collectives of the standard library with the values of
/// their tuning parameters, the most promising by the model first.
#pragma once

#include "passes/Cost.h"
#include "runtime/Library.h"
#include "topology/MachineProfile.h"

namespace colldsl::tools {

/// A function for so many bytes, and what is to be compared.
struct FieldOfPoint {
  std::string function;
  uint64_t bytes = 0; ///< 0 for a function without elements of its own
  std::vector<TunedCollective> field;
};

/// A collective of the function by which its buffers are known; kNoDecl: there is no such function.
DeclId modelOf(const std::vector<SelectionRule> &rules, const std::string &function);

/// All functions of the rules, in their order.
std::vector<std::string> functionsOf(const std::vector<SelectionRule> &rules);

class FieldMaker {
public:
  /// All of it outlives this.
  FieldMaker(Library &library, const CostModel &cost, const Topology &topology)
      : program_(**library.program()), rules_(**library.rules()), cost_(cost), topology_(topology) {
  }

  /// Those that the model does not call hopeless, at most so many. Values that the model cannot
  /// tell apart from others of the same collective are left out.
  FieldOfPoint make(const std::string &function, uint64_t bytes, size_t atMost) const;

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

} // namespace colldsl::tools
