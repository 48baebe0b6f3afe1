/// What the environment of rank 0 sets (docs/mpi.md): the same for the whole job, also where
/// the launcher hands other values to other ranks.
#pragma once

#include "mpi/Call.h"
#include "runtime/PlanCompiler.h"

#include <string>
#include <string_view>

namespace colldsl::mpi {

/// Whether passes change the messages of neighbourhood collectives between nodes.
enum class GraphPasses : uint32_t {
  Model, ///< where the model tells that it pays off
  Never,
  Always ///< from the first call on, at any cost
};

class Settings {
public:
  /// Collective over MPI_COMM_WORLD. Rank 0 warns of what it does not know.
  static void agree();
  static const Settings &all() { return all_; }

  bool isVerbose() const { return flags_ & kVerbose; }
  bool wantsSummary() const { return flags_ & kSummary; }
  /// Whether ranks compare what they call (CheckCalls.h).
  bool checksCalls() const { return flags_ & kChecks; }
  bool isOff(CallKind kind) const { return off_ >> static_cast<uint32_t>(kind) & 1; }
  /// Whether messages between nodes go through the MPI though there is a network.
  bool avoidsNetwork() const { return flags_ & kAvoidsNetwork; }
  /// Whether a thread moves operations all the time.
  bool wantsProgressThread() const { return flags_ & kProgressThread; }
  /// So many ranks in a row share a node at most; 0: as many as are on it.
  uint32_t ranksPerNode() const { return ranksPerNode_; }
  /// So many collectives of all ranks on a communicator that the program makes come before those
  /// that are prepared here: one that lives for few calls costs what it costs without us.
  uint32_t firstCalls() const { return firstCalls_; }
  GraphPasses graphPasses() const { return graphPasses_; }
  /// A schedule library whose collectives come before those of the standard one; empty: none.
  const std::string &library() const { return library_; }
  /// Passes that make schedules which no image serves (CompileSettings::passes).
  const std::string &passes() const { return passes_; }
  /// Whether calls whose schedule is not proved go to the MPI below; `ofOwn`: of library(), rather
  /// than of the standard library.
  bool requiresProof(bool ofOwn) const {
    return flags_ & kRequiresProof || (ofOwn && !(flags_ & kReportsProof));
  }
  /// Rank 0's machine profile, JSON without what was measured, or, for a job that learns, with the
  /// points alone; empty: none that counts.
  const std::string &profile() const { return profile_; }
  /// On rank 0, with COLLDSL_VERBOSE=1: why its profile does not count.
  const std::string &profileProblem() const { return profileProblem_; }
  /// Whether the job learns which collectives serve its calls best.
  bool learns() const { return flags_ & (kLearns | kLearnsAlways); }
  /// Whether it does so from the first call on, at any cost.
  bool learnsAlways() const { return flags_ & kLearnsAlways; }
  /// Whether there is nothing at all to be served.
  bool isAllOff() const { return off_ == kAllOff; }

private:
  static constexpr uint32_t kVerbose = 1, kSummary = 2, kAvoidsNetwork = 4, kProgressThread = 8;
  static constexpr uint32_t kRequiresProof = 16, kLearns = 32, kLearnsAlways = 64;
  static constexpr uint32_t kChecks = 128, kReportsProof = 256;
  static constexpr uint32_t kAllOff = (1u << kCallKinds) - 1;
  static Settings all_;

  void read();
  void readProfile();
  void readFlag(const char *name, const char *value, uint32_t flag);
  void readProof(std::string_view word);
  void readLearn(std::string_view word);
  void readNetwork(std::string_view name);
  void readDisabled(const char *names);
  void readGraphPasses(std::string_view word);
  void readNumber(const char *name, const char *value, const char *what, uint32_t &number);
  void disable(std::string_view name);

  uint32_t flags_ = 0;
  uint32_t off_ = 0; ///< a bit per CallKind
  uint32_t ranksPerNode_ = 0;
  uint32_t firstCalls_ = 4;
  GraphPasses graphPasses_ = GraphPasses::Model;
  std::string library_;
  std::string passes_ = CompileSettings().passes;
  std::string profile_, profileProblem_;
};

} // namespace colldsl::mpi
