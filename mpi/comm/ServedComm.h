/// A communicator whose collectives are served here.
#pragma once

#include "mpi/CallArguments.h"
#include "mpi/DeviceMemory.h"
#include "mpi/Job.h"
#include "mpi/comm/NeighborGraph.h"
#include "mpi/comm/Neighborhood.h"
#include "mpi/comm/PlanGroup.h"
#include "mpi/learn/Learner.h"
#include "mpi/operations/Operation.h"
#include "mpi/operations/Prepared.h"

#include <array>

namespace colldsl::mpi {

/// Lives as long as its communicator, or a little longer.
class ServedComm {
public:
  /// The ServedComm of a communicator; null: it has none. Local and fast.
  static ServedComm *of(MPI_Comm comm) {
    ServedComm *served = cached(comm);
    return served ? served : lookUp(comm);
  }

  /// The ServedComm of the communicator that this thread looked up last; null for another one.
  static ServedComm *cached(MPI_Comm comm) {
    return comm == last_.comm && numDeleted_.load(std::memory_order_relaxed) == last_.deleted
               ? last_.served
               : nullptr;
  }

  /// Prepares collectives from the first one on.
  void expectCalls() { calls_ = UINT32_MAX; }

  /// Called at the end of the job, which communicators outlive: they keep nothing of it. No run is
  /// under way.
  static void leaveJob();
  static void forgetLast() { numDeleted_.fetch_add(1, std::memory_order_relaxed); }

  ~ServedComm();

  /// Collective over `comm`, which is not served yet: serves the calls that all its ranks can
  /// serve.
  static ServedComm *adopt(Job &job, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    return adopt(job, comm, info, true);
  }
  /// Variant of adopt() for a communicator that was made of a group and has no topology: Open
  /// MPI 4.1 reports the topology of its parent, and divides by zero when that is queried.
  static ServedComm *adoptWithoutTopology(Job &job, MPI_Comm comm) {
    return adopt(job, comm, MPI_INFO_NULL, false);
  }

  /// Collective over `comm`: reserves contexts for parts that are about to be made of it, at most
  /// one per rank.
  class Parting {
  public:
    explicit Parting(MPI_Comm comm);
    /// Serves the part of this rank, which may be MPI_COMM_NULL, as `comm` is served. False: `comm`
    /// is not.
    bool adopt(MPI_Comm part) const;

  private:
    ServedComm *whole_;
    Job::Context first_;
  };

  /// Collective over its communicator: keeps at least `number` contexts for communicators and calls
  /// that are made of it next.
  void keepContexts(MPI_Comm comm, uint32_t number = 1);

  /// Collective over its communicator: sets the hints that all its ranks give from now on.
  void setHints(MPI_Comm comm, MPI_Info info);

  /// While one lives this thread duplicates the communicator, and the duplicate takes over its
  /// state. An MPI may run the copy callbacks of attributes elsewhere too: Open MPI 4.1 does so in
  /// MPI_Comm_create_group, whose result has other ranks.
  class Duplication {
  public:
    explicit Duplication(MPI_Comm original)
        : original_(original), outer_(std::exchange(duplication_, this)) {}
    ~Duplication() { duplication_ = outer_; }
    Duplication(const Duplication &) = delete;
    Duplication &operator=(const Duplication &) = delete;

    /// Null: the duplicate takes over nothing.
    ServedComm *made() const { return made_.get(); }

  private:
    friend class ServedComm;
    MPI_Comm original_;
    Duplication *outer_; ///< its callback, one of the program's, makes this duplicate
    std::shared_ptr<ServedComm> made_;
  };

  /// Sets the hints of a duplicate that may be under way: `wanted` holds from the moment when a
  /// call here finds that the query is complete. Under a Guard.
  void setHintsLater(InfoHints wanted, std::shared_ptr<HintsQuery> query);
  /// Applies the result of the query, once it is complete.
  void applyAgreedHints();

  /// The hints that all ranks gave. Duplicates start without any.
  InfoHints hints() const { return offer_.hints; }
  /// True if buffers stay the same and are not freed between calls. Shared with operations, which
  /// may outlive this.
  std::shared_ptr<const bool> hasStaticBuffers() const { return hasStaticBuffers_; }

  bool serves(CallKind kind) const { return isAlongTopology(kind) ? offer_.neighbors : offer_.all; }

  /// True if nonblocking and persistent collectives are served: then they move while this rank is
  /// in any call. Alike on all ranks.
  bool servesNonblocking() const { return servesNonblocking_; }

  /// True if some rank had the driver of an accelerator when the communicator was made, or its
  /// parent: alike on all ranks. Then all ranks agree on each blocking call that has buffers, and
  /// other calls that have buffers go to the MPI below.
  bool mayUseDevices() const { return offer_.mayUseDevices; }

  /// Collective over its communicator, and counted as a run: true if some rank has a buffer of this
  /// call in memory of a device, managed memory included. Under a Guard.
  Result<bool> agreeOnDevices(const Call &call);

  /// The operation for a blocking or nonblocking call, and its number among them: one prepared
  /// before if the same call came before. Null: the call is for the MPI below, on all ranks. An
  /// error: memory is short; an argument is wrong; or a buffer is in memory of a device although no
  /// rank had a driver when the communicator was made. The caller then skips the run.
  Result<std::shared_ptr<Operation>> operationFor(const Call &call);
  /// The wrong argument of the call for which operationFor() or makePersistent() last returned an
  /// error, if an argument was the reason.
  const WrongArgument &wrongArgument() const { return wrong_; }

  /// Skips a run for which this rank has no operation: others count it, and do not wait for this
  /// rank.
  void skipRun(CallKind kind, const Status &why);

  /// True if this call uses the operation of the last call of its kind: programs take turns with
  /// some kinds. Needs no Guard: a program makes the calls on one communicator one after the other.
  bool isSameAsLast(const Call &call) const {
    const Quick &quick = quickOf(call.kind);
    return quick.operation && quick.call.isSameAs(call);
  }
  /// The operation of the last call of its kind; null: a run of it is under way.
  Operation *idleOperation(CallKind kind) const {
    Operation *operation = quickOf(kind).operation.get();
    return operation->isBusy() ? nullptr : operation;
  }
  const std::shared_ptr<Operation> &lastOperation(CallKind kind) const {
    return quickOf(kind).operation;
  }
  uint32_t nextRun() { return ++runs_; }
  uint32_t lastRun() const { return runs_; }

  /// Counts a collective of all ranks, as all of them do. True if it is one of the first.
  bool countCall(CallKind kind);

  /// True if all MPIs serve this blocking call right, as all ranks know, and if programs make such
  /// calls on communicators that live for a few calls.
  static bool isPlain(const Call &call);

  /// The operation for a persistent call, which shares it with no other call. Unless the call is
  /// along the topology, a context must have been kept for it. After an error its runs fail on the
  /// other ranks.
  Result<std::shared_ptr<Operation>> makePersistent(const Call &call);

  Job &job() const { return job_; }
  const Neighborhood &neighborhood() const { return neighborhood_; }
  /// Place of a rank of the communicator on this node; kNoRank: it is elsewhere.
  Rank onNode(int peer) const { return job_.onNode((*members_)[static_cast<size_t>(peer)]); }
  /// Its ranks, as ranks of MPI_COMM_WORLD.
  const std::shared_ptr<const std::vector<Rank>> &members() const { return members_; }
  Job::Context context() const { return context_; }
  int rank() const { return rank_; }
  int numRanks() const { return static_cast<int>(members_->size()); }

  /// Null: the job learns nothing.
  Learner *learner() { return learner_.get(); }

  /// Null: the messages between nodes stay as they are.
  const std::shared_ptr<NeighborGraph> &graph() const { return graph_; }

  /// The plans of blocking and nonblocking calls, made at the first use.
  const std::shared_ptr<PlanGroup> &plans();
  /// Plans of a separate stream, numbered as by RemoteRanks::streamOf().
  std::shared_ptr<PlanGroup> plansOfStream(uint32_t stream) const;
  std::shared_ptr<protocol::RunProgress> progressOf(uint32_t stream);

private:
  /// The communicator that a thread looked up last, until one is forgotten.
  struct Last {
    MPI_Comm comm{}; ///< not MPI_COMM_NULL, which is no constant to a compiler
    ServedComm *served = nullptr;
    uint64_t deleted = 0; ///< value of numDeleted_ at that time
  };

  /// The operation that serves a kind of call whose arguments stay, as an info hint asserts.
  struct Fixed {
    std::shared_ptr<Operation> operation;
    Call call;
  };

  explicit ServedComm(Job &job);
  static constexpr uint32_t kOfEach =
      8; ///< contexts of a new communicator: its own, and for duplicates
  static constexpr uint32_t kFirstTimes = 4, kMaxTimes = 1024;

  /// The last call of a kind. No operation: equal arguments may mean another call.
  struct Quick {
    std::shared_ptr<Operation> operation;
    Call call = {};
  };
  const Quick &quickOf(CallKind kind) const { return quick_[static_cast<size_t>(kind)]; }

  Result<std::shared_ptr<Operation>> resizeOrMake(const Call &call);
  static ServedComm *lookUp(MPI_Comm comm);
  Job::Context takeContexts(uint32_t number);
  void setContexts(Job::Context first);

  /// Takes contexts for a duplicate of its communicator. All ranks make their duplicates in the
  /// same order, so they need not agree again. Null: no contexts are left.
  std::shared_ptr<ServedComm> duplicate();
  static int copyToDuplicate(MPI_Comm comm, int key, void *extra, void *value, void *copy,
                             int *isKept);
  bool confirm(MPI_Comm comm);
  static int keyval();
  static int onDelete(MPI_Comm comm, int key, void *value, void *extra);
  static ServedComm *adopt(Job &job, MPI_Comm comm, MPI_Info info, bool mayHaveTopology);
  void describe(MPI_Comm comm, bool mayHaveTopology);
  std::vector<Rank> membersOf(MPI_Comm comm) const;
  bool isSpread() const;
  void reportUse(const char *origin) const;
  /// True if a call of this kind, made now, counts as one of the first.
  bool isCounted(CallKind kind) const;
  Call significant(const Call &call) const;
  std::shared_ptr<PlanGroup> plansOf(Job::Context context) const;
  std::vector<uint32_t> farPeers(const std::vector<Edge> &edges) const;
  void gatherGraph(MPI_Comm comm);
  Result<std::shared_ptr<Operation>> findOrMake(const Call &call);
  Result<std::shared_ptr<Operation>> make(const Call &call);
  Result<std::shared_ptr<Operation>> makeForAll(const Call &call);
  bool trusts(const Call &call) const { return !fixed_.empty() && isAlongTopology(call.kind); }
  Result<std::shared_ptr<Operation>> fixedOrFound(const Call &call);
  void distrust(CallKind kind);
  void applyHints(InfoHints hints);

  /// True if this process has the driver of an accelerator by now; then no call is taken for the
  /// one before it by its arguments alone.
  static bool lookForDevices();
  MemoryKind memoryFor(const Call &call) const;
  bool isUnusable(const Call &call) const;
  void refusePersistent(CallKind kind, const Job::Context &context, const Status &why);
  Result<std::shared_ptr<Operation>> makePersistentFor(const Call &call, Job::Context context);

  [[gnu::tls_model("initial-exec")]] static constinit thread_local Last last_;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Duplication *duplication_;
  static std::atomic<uint64_t> numDeleted_;

  Job &job_;
  std::atomic<bool> isConfirmed_{true}; ///< its communicator has the ranks that are known of it
  Job::Context context_;
  Job::Offer offer_;
  /// Contexts for communicators that are made of this one, whose ranks then need not agree again.
  struct {
    Job::Context first;
    uint32_t left = 0;
    uint32_t times = kFirstTimes; ///< agreed on per wanted one; doubles each time, to kMaxTimes
  } kept_;
  int rank_ = 0;
  int topology_ = MPI_UNDEFINED;
  bool servesNonblocking_ = true;
  Neighborhood neighborhood_;
  std::shared_ptr<NeighborGraph> graph_;
  std::shared_ptr<const std::vector<Rank>> members_; ///< kNoRank: of another job
  uint32_t runs_ = 0;
  uint32_t calls_ = 0; ///< so far, up to Settings::firstCalls()
  std::shared_ptr<PlanGroup> plans_;
  std::shared_ptr<protocol::RunProgress> progress_; ///< of blocking and nonblocking calls
  uint32_t persistent_ = 0;
  PreparedOperations prepared_;
  std::array<Quick, kCallKinds> quick_;
  InfoHints wanted_; ///< by this rank
  std::shared_ptr<HintsQuery> query_;
  std::shared_ptr<bool> hasStaticBuffers_ = std::make_shared<bool>(false);
  std::vector<Fixed> fixed_; ///< indexed by kind of call; empty: arguments may change
  struct {
    int mine = 0, any = 0; ///< of this rank's call; of any rank's
    std::shared_ptr<Operation> operation;
  } agreed_;
  std::vector<std::shared_ptr<protocol::RunProgress>> refused_; ///< persistent calls
  WrongArgument wrong_;
  std::unique_ptr<Learner> learner_;
};

} // namespace colldsl::mpi
