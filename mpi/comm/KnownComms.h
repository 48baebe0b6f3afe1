/// The communicators of this process that are served, by handle. A ServedComm is an attribute of
/// its communicator, and goes with it or a little later.
#pragma once

#include "mpi/Mpi.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace colldsl::mpi {

class ServedComm;

/// Any thread.
class KnownComms {
public:
  /// The ServedComm of a communicator; null: it has none, or there is no job. Local and fast.
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
  /// From now on cached() is null in all threads, until they look a communicator up.
  static void forgetLast() { numDeleted_.fetch_add(1, std::memory_order_relaxed); }

  /// Serves the communicator, which has no ServedComm.
  static void add(MPI_Comm comm, std::shared_ptr<ServedComm> served);

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
    ServedComm *served = nullptr;
    uint64_t deleted = 0; ///< value of numDeleted_ at that time
  };

  static ServedComm *lookUp(MPI_Comm comm);
  static int keyval();
  static int onCopy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *isKept);
  static int onDelete(MPI_Comm comm, int key, void *value, void *extra);

  [[gnu::tls_model("initial-exec")]] static constinit thread_local Last last_;
  /// Relaxed: a thread that gets a handle which the MPI uses again gets it behind the call that
  /// freed the communicator before, which counted.
  static std::atomic<uint64_t> numDeleted_;
};

} // namespace colldsl::mpi
