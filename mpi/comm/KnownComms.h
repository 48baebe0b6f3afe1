/// The communicators of this process that are known, by handle. A CommRecord is an attribute of its
/// communicator, and goes with it, or a little later if its calls were served.
#pragma once

#include "mpi/Mpi.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace colldsl::mpi {

class CommRecord;
class ServedComm;

/// Any thread.
class KnownComms {
public:
  /// The record of a communicator; null: it has none, or there is no job. Local and fast.
  static CommRecord *recordOf(MPI_Comm comm) { return isLast(comm) ? last_.record : lookUp(comm); }
  /// The ServedComm of a communicator, which is made if that takes no agreement of its ranks; null:
  /// there is none. Local.
  static ServedComm *of(MPI_Comm comm);

  /// The ServedComm of the communicator that this thread looked up last; null for another one, and
  /// where each call must be seen.
  static ServedComm *cached(MPI_Comm comm) { return isLast(comm) ? last_.served : nullptr; }
  /// Its record; null for another one, and where ranks compare each call.
  static CommRecord *cachedRecord(MPI_Comm comm) {
    return isLast(comm) ? last_.unchecked : nullptr;
  }
  /// From now on both are null in all threads, until they look a communicator up.
  static void forgetLast() { numDeleted_.fetch_add(1, std::memory_order_relaxed); }

  /// Keeps the record of a communicator that has none.
  static CommRecord &add(MPI_Comm comm, std::unique_ptr<CommRecord> record);
  static CommRecord &recordOrNew(MPI_Comm comm);

  /// Called at the end of the job, which communicators outlive: they keep nothing of it. No run is
  /// under way.
  static void leaveJob();

  /// Called when a ServedComm is made and when it goes: leaveJob() reaches all between.
  static void enter(ServedComm &served);
  static void leave(ServedComm &served);

private:
  /// The communicator that a thread looked up last, until one is forgotten.
  struct Last {
    MPI_Comm comm{}; ///< not MPI_COMM_NULL, which is no constant to a compiler
    CommRecord *record = nullptr;
    CommRecord *unchecked = nullptr; ///< the record, unless ranks compare each call
    ServedComm *served = nullptr;
    uint64_t deleted = 0; ///< value of numDeleted_ at that time
  };

  static bool isLast(MPI_Comm comm) {
    return comm == last_.comm && numDeleted_.load(std::memory_order_relaxed) == last_.deleted;
  }
  static CommRecord *lookUp(MPI_Comm comm);
  static int keyval();
  static int onCopy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *isKept);
  static int onDelete(MPI_Comm comm, int key, void *value, void *extra);

  [[gnu::tls_model("initial-exec")]] static constinit thread_local Last last_;
  /// Relaxed: a thread that gets a handle which the MPI uses again gets it behind the call that
  /// freed the communicator before, which counted.
  static std::atomic<uint64_t> numDeleted_;
};

} // namespace colldsl::mpi
