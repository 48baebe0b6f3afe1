/// Settings from the environment of rank 0 (docs/mpi.md). They hold for the whole job, even if the
/// launcher passes other values to other ranks.
#pragma once

#include "mpi/Call.h"
#include "runtime/PlanCompiler.h"
#include "runtime/job/JobNetwork.h"

#include <optional>
#include <string>
#include <string_view>

namespace colldsl::mpi {

/// Selects when passes change the messages of neighbourhood collectives between nodes.
enum class GraphPasses {
  Model, ///< if the model predicts a gain
  Never,
  Always ///< from the first call on, at any cost
};

class Settings {
public:
  /// Collective over MPI_COMM_WORLD. Rank 0 warns of names and values that it does not know.
  static void agree();
  static const Settings &all() { return all_; }
  /// The settings of this rank's environment.
  static Settings ofThisRank();

  bool isVerbose() const { return flags_ & kVerbose; }
  bool wantsSummary() const { return flags_ & kSummary; }
  /// True if ranks compare the calls that they make (CheckCalls.h).
  bool checksCalls() const { return flags_ & kChecks; }
  bool isOff(CallKind kind) const { return off_ >> static_cast<uint32_t>(kind) & 1; }
  /// True if calls whose buffers are in memory of devices may be served.
  bool servesDevices() const { return !(flags_ & kNoDevices); }
  /// The network between nodes; nothing: messages go through the MPI although there is one.
  std::optional<Network> network() const {
    if (namesNetwork())
      return *Network::parseForMpi(network_);
    return flags_ & kLibfabric ? Network() : Network{NetworkKind::Tcp, {}, false};
  }
  /// True if COLLDSL_NETWORK chose it.
  bool namesNetwork() const { return !network_.empty(); }
  /// True if a thread moves operations all the time.
  bool wantsProgressThread() const { return flags_ & kProgressThread; }
  /// The most consecutive ranks that share a node; 0: no such limit.
  uint32_t ranksPerNode() const { return ranksPerNode_; }
  /// The number of first calls on each communicator (FirstCalls), if one is given.
  std::optional<uint32_t> firstCalls() const {
    return firstCalls_ == kNotGiven ? std::nullopt : std::optional(firstCalls_);
  }
  GraphPasses graphPasses() const {
    return flags_ & kNeverPasses    ? GraphPasses::Never
           : flags_ & kAlwaysPasses ? GraphPasses::Always
                                    : GraphPasses::Model;
  }
  /// A schedule library whose collectives come before those of the standard one; empty: none.
  const std::string &library() const { return library_; }
  /// Passes that make schedules which no image serves (CompileSettings::passes).
  const std::string &passes() const { return passes_; }
  /// Calls whose schedule is proved less go to the MPI below. `ofOwn`: the schedule is of
  /// library(), else of the standard library.
  ProofLevel leastProof(bool ofOwn) const {
    if (flags_ & kRequiresAllRanks)
      return ProofLevel::AllRanks;
    bool isExact = flags_ & kRequiresProof || (ofOwn && !(flags_ & kReportsProof));
    return isExact ? ProofLevel::Exact : ProofLevel::None;
  }
  /// Rank 0's machine profile, as JSON without measurements, or, if the job learns, with the points
  /// alone; empty: there is none that counts.
  const std::string &profile() const { return profile_; }
  /// The reason why the profile does not count; set on rank 0 with COLLDSL_VERBOSE=1.
  const std::string &profileProblem() const { return profileProblem_; }
  /// True if the job learns which collectives serve its calls best.
  bool learns() const { return flags_ & (kLearns | kLearnsAlways); }
  /// True if the job learns from the first call on, at any cost.
  bool learnsAlways() const { return flags_ & kLearnsAlways; }
  /// True if no call at all is to be served.
  bool isAllOff() const { return off_ == kAllOff; }

private:
  static constexpr uint32_t kVerbose = 1, kSummary = 2, kProgressThread = 8;
  static constexpr uint32_t kRequiresProof = 16, kLearns = 32, kLearnsAlways = 64;
  static constexpr uint32_t kChecks = 128, kReportsProof = 256, kNeverPasses = 512;
  static constexpr uint32_t kAlwaysPasses = 1024, kLibfabric = 2048;
  static constexpr uint32_t kRequiresAllRanks = 4096, kNoDevices = 8192;
  static constexpr uint32_t kNotGiven = UINT32_MAX;
  static constexpr uint32_t kAllOff = (1u << kCallKinds) - 1;
  static Settings all_;

  void read();
  void readProfile();
  /// False: the variable has no words for values.
  bool readFlag(const std::string &name, std::string_view value);
  void readDisabled(std::string_view names);
  void readNetwork(std::string_view value);
  void readNumber(const std::string &name, std::string_view value, const char *what,
                  uint32_t &number);
  void disable(std::string_view name);

  uint32_t flags_ = 0;
  uint32_t off_ = 0; ///< a bit per CallKind
  uint32_t ranksPerNode_ = 0;
  uint32_t firstCalls_ = kNotGiven;
  std::string network_; ///< as Network::parseForMpi() takes it; empty: none was named
  std::string library_;
  std::string passes_ = CompileSettings().passes;
  std::string profile_, profileProblem_;
};

} // namespace colldsl::mpi
