/// A communicator whose collectives are served here.
#pragma once

#include "mpi/comm/CommHints.h"
#include "mpi/comm/CommRecord.h"
#include "mpi/comm/CommRuns.h"
#include "mpi/comm/DeviceAgreement.h"
#include "mpi/comm/KnownComms.h"
#include "mpi/learn/Learner.h"
#include "mpi/operations/OperationCache.h"
#include "mpi/operations/PersistentCalls.h"

namespace colldsl::mpi {

/// Lives as long as its communicator, or a little longer (KnownComms). Its parts are used under a
/// Guard, unless they say otherwise.
class ServedComm {
public:
  /// Its record outlives it.
  ServedComm(CommRecord &record, std::shared_ptr<const CommFacts> facts);
  ~ServedComm() { KnownComms::leave(*this); }

  /// Collective over `comm`, which is not served yet: serves the calls that all its ranks can
  /// serve. `mayHaveTopology` false: a communicator made of a group has none, but Open MPI 4.1
  /// reports the topology of its parent, and divides by zero when that is queried.
  static ServedComm *adopt(Job &job, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL,
                           bool mayHaveTopology = true);

  /// Called at the end of the job, which the communicator outlives: it keeps nothing of the job.
  void leaveJob();

  bool serves(CallKind kind) const {
    return isAlongTopology(kind) ? facts_->servesNeighbors : facts_->servesAll;
  }
  /// True if nonblocking and persistent collectives are served: then they move while this rank is
  /// in any call. Alike on all ranks.
  bool servesNonblocking() const { return servesNonblocking_; }

  /// Collective over its communicator: sets the hints that all its ranks give from now on.
  void setHints(MPI_Comm comm, MPI_Info info);
  /// `wanted` holds from the moment when applyAgreedHints() finds that the query is complete.
  void setHintsLater(InfoHints wanted, std::shared_ptr<HintsQuery> query) {
    hints_.setLater(wanted, std::move(query));
  }
  /// Applies hints that were set for later, once all ranks are known to want them.
  void applyAgreedHints();
  /// A call broke the promise that buffers stay: it holds no more.
  void revokeStaticBuffers() { hints_.revokeStaticBuffers(); }

  /// Prints what is served, on the first rank with COLLDSL_VERBOSE=1. `origin`: "new", "a part".
  void reportUse(const char *origin) const;

  Job &job() const { return job_; }
  const CommRanks &ranks() const { return facts_->ranks; }
  const CommTopology &topology() const { return facts_->topology; }
  CommContexts &contexts() { return record_.contexts(); }
  CommRuns &runs() { return runs_; }
  /// Skips a run for which this rank has no operation. The others do not wait for this rank; a run
  /// of messages that it would have relayed fails.
  void skipRun(CallKind kind, const Status &why);
  FirstCalls &firstCalls() { return record_.firstCalls(); }
  const CommHints &hints() const { return hints_; }
  /// The operations for calls whose buffers are in memory of the host, or of devices.
  OperationCache &operations(CallMemory memory = CallMemory::Host) {
    return memory == CallMemory::Devices ? operationsOnDevices_ : operations_;
  }
  PersistentCalls &persistentCalls() { return persistentCalls_; }
  DeviceAgreement &devices() { return devices_; }
  /// Null: the job learns nothing.
  Learner *learner() { return learner_.get(); }

  /// The number of blocks on either side of a call.
  int sendSlots(CallKind kind) const {
    return isAlongTopology(kind) ? topology().neighborhood().outdegree : ranks().count();
  }
  int recvSlots(CallKind kind) const {
    return isAlongTopology(kind) ? topology().neighborhood().indegree : ranks().count();
  }

private:
  void gatherGraph(MPI_Comm comm, CommTopology &topology, uint32_t farPeers);
  void applyHints(InfoHints agreed);

  CommRecord &record_;
  std::shared_ptr<const CommFacts> facts_;
  Job &job_;
  bool servesNonblocking_;
  CommRuns runs_;
  CommHints hints_;
  OperationCache operations_, operationsOnDevices_;
  PersistentCalls persistentCalls_;
  DeviceAgreement devices_;
  std::unique_ptr<Learner> learner_;
};

} // namespace colldsl::mpi
