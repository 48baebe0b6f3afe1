/// The proofs that a request tries of one collective: the numbers of ranks, sizes, parameters and
/// forms (in place or not) that it asks for; and machines, if the schedule depends on the machine.
#pragma once

#include "driver/Watch.h"
#include "driver/proofs/Machines.h"
#include "driver/proofs/ProveLengths.h"
#include "driver/requests/ProofRequest.h"
#include "driver/schedule/MakeSchedule.h"
#include "program/MachineUse.h"

#include <map>
#include <tuple>

namespace colldsl::driver {

/// One proof to try.
struct ProofTask {
  Shape shape;
  uint64_t bytes = 0; ///< n times the size of T
  Call call;
  std::string topology = {}; ///< as --topology takes it; empty: the schedule depends on none
  LevelSet levels = {};      ///< levels of the machine that the collective's text uses
  /// The leaders of groups. None: the schedule does not depend on them, or a pass chooses them.
  enum class Lead : uint8_t { None, Lowest, Highest } lead = Lead::None;
  bool hasSize = true; ///< some size symbol is n; else `bytes` only bounds lengths of blocks

  /// "in place, root=2, topology=node:3, leaders=highest"; may be empty.
  std::string callWords() const;
  /// "3 ranks, 64 KiB, in place, root=2, topology=node:3".
  std::string words() const;
};

struct ProofOutcome {
  enum class Kind : uint8_t {
    Proved,
    Refused,  ///< by the verifier
    Invalid,  ///< a mistake in the program or in its input
    Excluded, ///< the collective's `where` does not allow it
  };
  Kind kind = Kind::Proved;
  std::vector<Diagnostic> why;     ///< Refused, Invalid: the counterexample, or the mistake
  std::vector<SourceLoc> compared; ///< Proved: as in VerifyReport
  std::string pattern = {};        ///< Refused, Invalid: of the first failure, as in Failure
  proof::Waste waste = {};         ///< Proved: as in VerifyReport
  LengthProofs::Lengths lengths = LengthProofs::Lengths::None; ///< Proved
};

class Proofs {
public:
  /// `source` and the stop of `watch` outlive this object.
  Proofs(Source &source, const ProofRequest &request, const Watch &watch = {});
  Proofs(const Proofs &) = delete;
  Proofs &operator=(const Proofs &) = delete;

  const ProofRequest &request() const { return request_; }

  /// The tasks, from few ranks to many, small sizes to large.
  Result<std::vector<ProofTask>> plan(const Source::Target &target);

  // Thread safe

  ProofOutcome prove(const Source::Target &target, const ProofTask &task) const;

  /// The two steps of prove(): the schedule, then its proof. Null: there is no schedule, and
  /// `outcome` has the reason.
  std::shared_ptr<const Schedule> make(const Source::Target &target, const ProofTask &task,
                                       ProofOutcome &outcome) const;
  ProofOutcome prove(const ProofTask &task, const Schedule &schedule) const;

private:
  /// A size and a call to prove for one number of ranks, on each machine or on the first.
  struct Trial {
    uint64_t bytes;
    Call call;
    MachineUse::Found use;   ///< the features of the machine that its text uses
    LevelSet levels;         ///< levels of the machine on which its schedule depends
    bool variesLead = false; ///< it uses leaders, and no pass chooses them
    bool isOnAll = false;    ///< proved on each machine, not on the first alone
  };
  struct Place {
    TrialMachine machine;
    const Topology *topology;
    /// A key of the features that distinguish places for a trial.
    std::tuple<uint8_t, uint64_t, bool> look(const Trial &trial) const;
  };

  Result<std::vector<uint32_t>> ranksOf(const Source::Target &target);
  bool hasSize(const Source::Target &target) const;
  Result<std::vector<uint64_t>> bytesOf(const Source::Target &target) const;
  std::vector<bool> formsOf(const Source::Target &target) const;
  Result<std::vector<Trial>> trialsOf(const Source::Target &target, uint32_t ranks,
                                      const std::vector<uint64_t> &sizes);
  Result<std::vector<Place>> placesOf(uint32_t ranks);
  Status addTask(const Source::Target &target, const Trial &trial, const Place &place, Shape shape,
                 std::vector<ProofTask> &tasks);
  Status addTasks(const Source::Target &target, uint32_t ranks, const std::vector<uint64_t> &sizes,
                  std::vector<ProofTask> &tasks);
  Result<const Topology *> topology(const std::string &description, uint32_t ranks);

  Source &source_;
  ProofRequest request_;
  Parameters parameters_;
  std::map<std::pair<std::string, uint32_t>, Topology> topologies_;
};

} // namespace colldsl::driver
