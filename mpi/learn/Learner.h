/// Learning on a communicator: it finds the collective of the library that serves repeated calls
/// best. select/Trial.h assigns candidates to calls; this class has the calls, the candidates and
/// the sums over the ranks.
///
/// A class contains the calls that run the same schedule: same function, bytes, root and form.
/// Blocking calls are counted. Nonblocking ones, which may not wait for other ranks, and persistent
/// ones run the best candidate so far.
///
/// The candidates of a neighbourhood collective are the ways along the graph of its communicator
/// (NeighborGraph). Its classes begin with the run from which the model chooses among them; where
/// no graph was gathered there is nothing to learn.
///
/// Decisions that must be alike on all ranks depend only on data that is alike on all ranks: the
/// classes and the numbers of their calls, in the order that MPI demands, and the sums. So a rank
/// that cannot serve a call counts it all the same.
#pragma once

#include "mpi/Call.h"
#include "mpi/operations/OwnAllreduce.h"
#include "select/Trial.h"
#include "topology/MachineProfile.h"

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace colldsl::mpi {

class LearnedOperation;
class ServedComm;
struct LearnedRow;

struct LearnedKey {
  CallKind kind = CallKind::Barrier;
  uint64_t bytes = 0; ///< as rules count them; 0 if ranks know only their own, as neighbours do
  int root = 0;
  bool isInPlace = false; ///< set only if MPI requires it of all ranks alike
  auto operator<=>(const LearnedKey &) const = default;
};

struct LearnedClass {
  LearnedClass(const LearnedKey &key, const TrialSettings &settings) : key(key), trials(settings) {}
  LearnedKey key;
  Trials trials;
  std::vector<TunedCollective> what; ///< by candidate: the rules' choice, then those that are tried
  uint32_t lastRun = 0;              ///< of the communicator
  bool isDropped = false;            ///< from the table: others are more recent
  std::set<LearnedOperation *> operations;
};

/// Under a Guard. The communicator outlives it.
class Learner {
public:
  explicit Learner(ServedComm &comm);
  ~Learner();
  Learner(const Learner &) = delete;
  Learner &operator=(const Learner &) = delete;

  /// The class of a call. Empty: there is nothing to learn of such calls. Alike on all ranks.
  std::optional<LearnedKey> keyOf(const Call &call);

  /// Null: no such call was counted.
  std::shared_ptr<LearnedClass> find(const LearnedKey &key) const;
  /// The class of a blocking call in the run of this number, made if there is none. Null: there are
  /// too many, or the choice is still to come.
  std::shared_ptr<LearnedClass> classFor(const LearnedKey &key, uint32_t run);
  /// The collective that serves such calls from now on, if it differs from the rules' choice; else
  /// null.
  const TunedCollective *decided(const Call &call);

  /// Called after the call that ended a step. `operation` served it; null: this rank could not.
  void endStep(LearnedClass &learned, LearnedOperation *operation);
  /// Counts a blocking call that this rank has no operation for, in the run of this number.
  void countFailed(const Call &call, uint32_t run);

  ServedComm &comm() const { return comm_; }

private:
  void search(LearnedClass &learned, LearnedOperation *operation);
  std::vector<TunedCollective> waysFor(const LearnedKey &key, const TunedCollective &shipped) const;
  Result<std::vector<TunedCollective>> candidatesFor(const LearnedKey &key, uint64_t bytes,
                                                     const TunedCollective &shipped) const;
  Status addUp(std::span<const uint64_t> words);
  void giveUp(LearnedClass &learned, const Status &why);
  void report(const LearnedClass &learned);
  TuningPoint pointOf(const LearnedKey &key) const;
  LearnedRow rowOf(const LearnedClass &learned) const;
  TrialSettings settingsFor(const LearnedKey &key) const;

  ServedComm &comm_;
  std::map<LearnedKey, std::shared_ptr<LearnedClass>> classes_;
  std::array<uint64_t, Trials::kMostWords> mine_{}, sums_{};
  OwnAllreduce sum_; ///< of mine_
};

} // namespace colldsl::mpi
