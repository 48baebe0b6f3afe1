/// Communicators that a program freed while operations on them were under way. Such an operation
/// goes on, as MPI defines; if it fails, it calls the error handler that the communicator had.
#pragma once

#include "mpi/Mpi.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

namespace colldsl::mpi {

/// Thread safe.
class FreedComms {
public:
  static FreedComms &all() { return *all_; }

  /// The number of communicators freed so far, which handlerOf() takes as a moment.
  uint64_t now() const { return count_.load(std::memory_order_relaxed); }

  /// Called in the callback that deletes the attribute of a communicator which is about to be
  /// freed.
  void note(MPI_Comm comm);

  /// The error handler of the communicator that had this handle at that moment; none: it was not
  /// freed since. MPI reuses handles for other communicators.
  std::optional<MPI_Errhandler> handlerOf(MPI_Comm comm, uint64_t since);

private:
  static constexpr size_t kMax = 1024; ///< beyond that the oldest is forgotten

  struct Freed {
    uint64_t when;
    MPI_Comm comm;
    MPI_Errhandler handler;
  };
  std::mutex mutex_;
  std::deque<Freed> freed_; ///< oldest first
  /// Relaxed: the program orders a free behind the calls on the communicator, and calls with a
  /// handle that is used again behind the free.
  std::atomic<uint64_t> count_{0};
  static FreedComms *const all_; ///< never destroyed, as Requests
};

} // namespace colldsl::mpi
