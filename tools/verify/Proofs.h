/// The proofs that `verify` tries of one collective: all that the options have of numbers of
/// ranks, sizes, parameters, and forms in place or not.
#pragma once

#include "tools/input/MakeSchedule.h"
#include "verifier/Verifier.h"

#include <map>

namespace colldsl::tools {

/// One of them.
struct ProofTask {
  Shape shape;
  uint64_t bytes = 0; ///< n times the size of T
  Call call;

  /// "3 ranks, 64 KiB, in place, root=2".
  std::string words() const;
};

struct ProofOutcome {
  enum class Kind : uint8_t {
    Proved,
    Refused,  ///< by the verifier
    Invalid,  ///< the program has a mistake, or its input has
    Excluded, ///< the collective's `where` does not allow it
  };
  Kind kind = Kind::Proved;
  std::vector<Diagnostic> why;     ///< Refused, Invalid: the counterexample, or what the mistake is
  std::vector<SourceLoc> compared; ///< Proved: as in VerifyReport
  std::string pattern = {};        ///< Refused, Invalid: of the first failure, as in Failure
  Waste waste = {};                ///< Proved: as in VerifyReport
};

struct ProofRequest {
  std::optional<std::vector<uint32_t>> ranks;
  std::optional<std::vector<uint64_t>> bytes;
  bool onlyInPlace = false;
  VerifyOptions verify;
  uint64_t seed = 1;
  Variety variety;
};

class Proofs {
public:
  /// All arguments outlive this object.
  Proofs(Source &source, const ScheduleOptions &options, const ProofRequest &request)
      : source_(source), options_(options), request_(request),
        parameters_(source, options, request.variety) {}

  /// In the order from few ranks to many, small sizes to large.
  Result<std::vector<ProofTask>> plan(const Source::Target &target);

  // Thread safe

  ProofOutcome prove(const Source::Target &target, const ProofTask &task) const;

  /// The two steps of prove(). Null: there is no schedule, and `outcome` has the reason.
  std::shared_ptr<const Schedule> make(const Source::Target &target, const ProofTask &task,
                                       ProofOutcome &outcome) const;
  ProofOutcome prove(const ProofTask &task, const Schedule &schedule) const;

private:
  Result<std::vector<uint32_t>> ranksOf(const Source::Target &target);
  Result<std::vector<uint64_t>> bytesOf(const Source::Target &target) const;
  Result<const Topology *> topology(uint32_t ranks);

  Source &source_;
  const ScheduleOptions &options_;
  const ProofRequest &request_;
  Parameters parameters_;
  std::map<uint32_t, Topology> topologies_;
};

/// What refuses a proof, for people: each failure, with its steps as notes.
std::vector<Diagnostic> counterexample(const VerifyReport &report);

} // namespace colldsl::tools
