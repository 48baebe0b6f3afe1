/// State that this process shares with the other processes of the MPI job on its node, and its
/// connections to those of other nodes.
#pragma once

#include "mpi/FairMutex.h"
#include "mpi/Mpi.h"
#include "mpi/comm/InfoHints.h"
#include "mpi/learn/Learning.h"
#include "mpi/remote/MpiNodes.h"
#include "mpi/types/TypesInUse.h"
#include "program/library/Library.h"
#include "protocol/local/LocalWorker.h"
#include "runtime/PlanCompiler.h"
#include "runtime/job/WireUp.h"
#include "topology/MachineModel.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace colldsl::mpi {

class ProgressThread;
class Operation;
class RemoteRanks;

/// From MPI_Init to MPI_Finalize.
class Job : protocol::ProgressHook {
public:
  Job();
  ~Job() override;

  /// Collective over MPI_COMM_WORLD. Null, on all ranks, where nothing can be shared: then all
  /// calls go to the MPI below.
  static void begin(int threadLevel);
  static void end();
  static Job *current() { return current_; }

  protocol::LocalWorker &worker() { return *worker_; }
  /// The connections to ranks of other nodes; null: there are none.
  RemoteRanks *remote() { return remote_.get(); }

  /// Place among the job's ranks on this node, by rank of MPI_COMM_WORLD; kNoRank: it sits on
  /// another one.
  Rank onNode(Rank worldRank) const { return nodes_.placeOf[index(worldRank)]; }
  uint32_t numRanks() const { return static_cast<uint32_t>(nodes_.first.size()); }
  MPI_Group worldGroup() const { return worldGroup_; }
  /// The places of the ranks of MPI_COMM_WORLD.
  const Topology &topology() const { return topology_; }

  /// The machine model, alike on all ranks: the costs of the profile, or assumed ones.
  const MachineModel &machine() const { return machine_; }

  /// The library of collectives that the job serves.
  Library &library() const { return *library_; }
  /// The user's library, if it precedes library() for that function; else null.
  Library *ownLibraryFor(const std::string &function) const {
    return ownFunctions_.contains(function) ? ownLibrary_.get() : nullptr;
  }

  /// The measurements of a job that learns; null: the job does not learn.
  Learning *learning() const { return learning_.get(); }
  uint32_t worldRank() const { return worldRank_; }

  /// Makes schedules that no image serves: compiler() of the standard library, ownCompiler() of
  /// ownLibraryFor().
  const std::shared_ptr<const PlanCompiler> &compiler() const { return compiler_; }
  const std::shared_ptr<const PlanCompiler> &ownCompiler() const { return ownCompiler_; }
  /// Variant of compiler() for schedules of one list of lengths. Unless the user names passes, it
  /// tunes nothing: simulations for each list would take longer than most calls.
  const std::shared_ptr<const PlanCompiler> &listCompiler() const { return listCompiler_; }

  /// With COLLDSL_VERBOSE=1, on rank 0: prints a line that was not printed before. Under a Guard.
  void note(const std::string &line);
  /// Variant of note() on any rank.
  void noteHere(const std::string &line);

  /// A communicator of this process alone, whose errors are returned.
  MPI_Comm own() const { return own_; }
  /// True if the MPI below checks arguments: some builds do not, and a setting of Open MPI disables
  /// it.
  bool checksArguments() const { return checksArguments_; }

  /// True if several threads may be at work.
  bool isThreaded() const { return hasThreads_ || moving_.load(std::memory_order_relaxed) != 0; }
  FairMutex &mutex() { return mutex_; }

  /// Moves all operations once.
  bool poll() { return poll(true); }
  /// Variant of poll() for a thread that is not the program's own, while that one is in a call of
  /// the MPI below.
  bool pollInBackground();
  /// True if the MPI below polls where ranks share cores, so that each of its messages takes a time
  /// slice. Alike on all ranks, once those of MPI_COMM_WORLD have agreed.
  bool takesTimeSlices() const { return takesTimeSlices_; }
  /// True if operations move while this rank is in calls of the MPI below, including operations
  /// with other nodes. Alike on all ranks.
  bool movesRemoteInBackground() const { return movesRemoteInBackground_; }
  /// True if a thread of ours may progress the MPI below, and that is Open MPI. Alike on all ranks.
  bool progressesOpenMpiInThread() const { return progressesOpenMpiInThread_; }
  /// Called before a sleep, as LocalWorker::sleep() takes it. Empty: something can move now.
  std::optional<protocol::Wakeup> wakeup() override;

  /// Variant of poll() for a caller that does not wait, but comes by again and again, without a
  /// Guard. An error: a rank died; only some calls look for that.
  Status moveOnce();

  /// Moves once the operations that the MPI below has under way: the program's messages, one-sided
  /// operations and all others. Under a Guard, in a thread that may call the MPI.
  void progress() override;

  /// poll() moves an operation between these two calls.
  void beginMoving(Operation &operation) { moved_.push_back(&operation); }
  void endMoving(Operation &operation) { std::erase(moved_, &operation); }
  bool movesAny() const { return !moved_.empty(); }

  /// Waits until done() is true; all operations and those of the MPI below move meanwhile. The
  /// caller holds a Guard, which is opened now and then.
  template <typename Done> Status waitUntil(Done done) {
    return reportFailure(worker_->waitUntil(done, [this] { return poll(); }));
  }

  /// Variant of waitUntil() for a blocking call: waits until this operation is done, and moves it.
  Status waitFor(Operation &operation);

  /// Shared memory for the program; LocalWorker::release() takes it back. Null: there is none.
  void *lend(uint64_t bytes);

  /// Surround a call of the MPI below that may wait: another thread moves the operations meanwhile.
  void beginBackgroundProgress();
  void endBackgroundProgress();
  /// True if some thread is between these two calls, and there is something to move.
  bool wantsBackgroundProgress() const;
  /// Called when an operation begins: a thread moves it if another one is between these two calls.
  void moveInBackground();

  /// Called when a call failed here. Ranks of other nodes may still need this one, which notifies
  /// them and answers their probes and cancels. So from now on it moves in all calls that may wait,
  /// as it does while an operation is under way. Under a Guard.
  void keepAnswering();

  /// Distinguishes a communicator's messages from all others. Every process numbers those that it
  /// owns.
  struct Context {
    uint32_t owner = 0;  ///< a rank of MPI_COMM_WORLD
    uint32_t number = 0; ///< 0: none
  };

  /// The calls that all ranks of a communicator can serve, and the info hints that all of them
  /// gave.
  struct Offer {
    bool neighbors = false, all = false;
    InfoHints hints;
    /// For one rank, the number of its peers on other nodes. For all, the largest power of two that
    /// is at most the largest of these numbers; 0: no rank has any.
    uint32_t farPeers = 0;
    bool mayUseDevices = false; ///< some rank has the driver of an accelerator
  };

  /// Returns the first of `contexts` consecutive contexts for a communicator, and in `offer` the
  /// calls that all its ranks can serve. All ranks pass the same number. Collective over `comm`.
  Context agree(MPI_Comm comm, uint32_t contexts, Offer &offer);

  /// Keeps the query until it is answered, or the job ends. Under a Guard.
  void keep(std::shared_ptr<HintsQuery> query);

  /// Keeps an operator that the program freed but that runs may still need, until the job ends.
  void keep(MPI_Op op) { kept_.push_back(op); }

  TypesInUse &typesInUse() { return typesInUse_; }

  /// Drops the object when the next communicator is made: operations may still need it. Thread
  /// safe.
  void freeLater(std::shared_ptr<void> thing);
  /// Called when the next communicator is made; outside of callbacks.
  void freeDeferred();

private:
  static Job *current_;

  std::unique_ptr<shm::World> world_;
  std::unique_ptr<protocol::LocalWorker> worker_;
  std::unique_ptr<Library> library_, ownLibrary_;
  std::set<std::string> ownFunctions_; ///< that ownLibrary_ serves
  std::shared_ptr<const PlanCompiler> compiler_, ownCompiler_, listCompiler_;
  std::optional<MachineModel> measured_; ///< costs of the profile; nothing: it has none
  std::unique_ptr<Learning> learning_;
  std::set<std::string> notes_; ///< that were printed
  std::unique_ptr<RemoteRanks> remote_;
  Topology topology_ = Topology::flat(1);
  MachineModel machine_;
  Nodes nodes_;
  std::vector<Operation *> moved_; ///< moved by poll(), besides those that the worker moves
  MPI_Group worldGroup_ = MPI_GROUP_NULL;
  MPI_Comm own_ = MPI_COMM_NULL;           ///< of this process alone
  MPI_Request pending_ = MPI_REQUEST_NULL; ///< never matched; testing it moves the MPI below
  bool checksArguments_ = false;
  bool hasThreads_ = false;       ///< the program asked for threads
  bool anyThreadMayCall_ = false; ///< the MPI below
  bool movesRemoteInBackground_ = true;
  bool progressesOpenMpiInThread_ = false;
  bool takesTimeSlices_ = false;
  bool movesAlways_ = false; ///< also while the program is in no call
  /// Threads that wait in calls of the MPI below. isThreaded() reads it relaxed: a program with one
  /// thread has changed it itself.
  std::atomic<uint32_t> moving_{0};
  FairMutex mutex_;
  std::unique_ptr<ProgressThread> progressThread_;
  uint32_t worldRank_ = 0;
  uint32_t idlePolls_ = 0;
  bool hasFailed_ = false; ///< communication with other nodes failed, and this node was notified
  std::atomic<uint64_t> nextContext_{1}; ///< relaxed: the numbers need only differ
  std::vector<MPI_Op> kept_;
  std::vector<std::shared_ptr<HintsQuery>> queries_; ///< not answered when last looked at
  TypesInUse typesInUse_;
  std::mutex deferredLock_;
  std::vector<std::shared_ptr<void>> deferred_;

  bool poll(bool mayCallBelow);
  void check() override;
  void openBelow();
  void closeBelow();
  void lookFar();
  void noteFailure();
  Status reportFailure(Status outcome);
  void beforeWait() override;
  void afterWait() override;
  void report(uint32_t ranksHere, const Status &shared, bool isFine);
  void openOwnLibrary();
  void makeCompilers();
  void openProfile();
  void connect(WiredUp wired, MPI_Comm node);
  void connectNodes();
  void assumeMachine();
  void chooseCopyLimits(MPI_Comm node);
};

/// Keeps other threads out of the worker and operations, where there are other threads.
class Guard {
public:
  explicit Guard(Job &job) : mutex_(job.isThreaded() ? &job.mutex() : nullptr) {
    if (mutex_)
      mutex_->lock();
  }
  ~Guard() {
    if (mutex_)
      mutex_->unlock();
  }
  Guard(const Guard &) = delete;
  Guard &operator=(const Guard &) = delete;

private:
  FairMutex *mutex_;
};

} // namespace colldsl::mpi
