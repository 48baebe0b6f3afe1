/// Makes a plan's schedule if no image of a library serves the call: program passes choose tuning
/// parameters and leaders for the machine of the ranks; then this rank's DAG is instantiated. If
/// passes on DAGs, or a proof that the text does not have for all P, were requested, each rank
/// instantiates all ranks, runs the passes on them, proves the result, and keeps its own DAG.
/// Passes on DAGs do not run, and a remark says so, on a schedule that is too large for that, or
/// that has blocks whose lengths are known at call time only. If a proof is required, a schedule
/// that is too large is refused, and one with such blocks is proved for all lengths, since each
/// rank knows its own alone.
///
/// All decisions depend only on data that all ranks know, so that ranks make the same choice
/// without messages.
#pragma once

#include "passes/Pipeline.h"
#include "program/library/Library.h"
#include "runtime/PlanProof.h"
#include "topology/KnownModels.h"

#include <map>
#include <mutex>
#include <optional>

namespace colldsl {

/// Alike on all ranks.
struct CompileSettings {
  std::string passes = "tune{most-ops=4096}"; ///< as Pipeline::parse() takes them
  MachineModel machine = knownModel(KnownModel::Cluster);
  ProofLevel leastProof = ProofLevel::None; ///< a plan with less is refused
  /// Ops of all ranks that one rank instantiates, so that it can run passes on them or prove them.
  uint64_t mostOps = 1 << 22;
};

struct CompiledSchedule {
  Dag dag; ///< of this rank
  SizeClass sizeClass;
  std::string remarks; ///< "tune: 900 ns, then 700 ns; segment = 8KiB": of each pass that has one
  bool hasDagPasses = false;
  bool isProved = false; ///< for its ranks, arguments, validity range, and all lengths of blocks
  SizeClass alike = {};  ///< n for which a schedule would be the same, within its size class
};

/// Thread safe.
class PlanCompiler {
public:
  /// An error: no such passes.
  static Result<std::shared_ptr<const PlanCompiler>> make(CompileSettings settings);

  const CompileSettings &settings() const { return settings_; }
  /// True if a schedule is proved when it is made. `isTextProved`: its text is proved for all P,
  /// with all its promises.
  bool proves(bool isTextProved) const {
    return settings_.leastProof == ProofLevel::Exact && !isTextProved;
  }
  /// A hash of all settings.
  uint64_t hash() const { return hash_; }
  /// True if compile() needs the graphs of all ranks, not only of this one.
  bool needsAllRanks(bool isTextProved) const {
    return pipeline_.has(PassKind::Dag) || proves(isTextProved);
  }

  /// Makes the schedule of a program of the library; uses the library's costs if it has some.
  /// `request`: gets the values that program passes bind. `isTextProved`: as in proves(). An error:
  /// the request cannot be instantiated, or the result of passes is not proved.
  Result<CompiledSchedule> compile(Library &library, InstantiateRequest &request, Rank rank,
                                   bool isTextProved) const;

private:
  struct Choice {
    BindOutcome outcome{{}, nullptr, "", false};
    std::string remarks;
  };

  PlanCompiler(CompileSettings settings, Pipeline pipeline);
  /// The input of schedules.
  struct From {
    const Program &program;
    uint64_t hash;  ///< of the library
    CostModel cost; ///< of the elements of the request
    bool proves;    ///< PlanCompiler::proves()
  };
  /// The verdict on the schedule of all ranks, as it is written.
  struct Verdict {
    std::optional<SizeClass> proved; ///< empty: not proved at this n
    std::string why;                 ///< the reason why it is not
  };
  /// The hash of all inputs; empty: some value has none.
  static std::optional<uint64_t> keyOf(const From &from, const InstantiateRequest &request);
  /// The value that is kept under the key, or else a new one, which is kept in place of all others
  /// if there are `most`.
  template <typename Value, typename Make>
  Value once(std::map<uint64_t, Value> &kept, size_t most, std::optional<uint64_t> key,
             Make make) const;
  SizeClass alikeAround(uint64_t n, const Choice &choice) const;
  Result<Choice> choose(const From &from, const InstantiateRequest &request) const;
  Verdict prove(const From &from, const InstantiateRequest &request) const;
  Verdict proveOnce(const From &from, const InstantiateRequest &request) const;
  Result<CompiledSchedule> compileProved(const From &from, const InstantiateRequest &request,
                                         Rank rank) const;
  Result<CompiledSchedule> compileAlone(const From &from, const InstantiateRequest &request,
                                        Rank rank) const;
  Result<CompiledSchedule> compileAll(const From &from, const InstantiateRequest &request,
                                      Rank rank) const;
  Result<CompiledSchedule> compileAllOnce(const From &from, const InstantiateRequest &request,
                                          Rank rank) const;
  Result<CompiledSchedule> passesOnAll(Schedule schedule, const From &from,
                                       const InstantiateRequest &request, Rank rank) const;

  CompileSettings settings_;
  Pipeline pipeline_;
  uint64_t hash_;
  mutable std::mutex lock_;
  // Keyed by a hash of all their inputs.
  mutable std::map<uint64_t, Result<Choice>> choices_;
  mutable std::map<uint64_t, Verdict> verdicts_;
  mutable std::map<uint64_t, Result<CompiledSchedule>> compiled_; ///< of all ranks' schedules
};

} // namespace colldsl
