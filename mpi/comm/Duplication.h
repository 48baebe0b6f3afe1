/// The moment in which this thread duplicates a communicator, and the duplicate takes over its
/// facts.
#pragma once

#include "mpi/comm/CommRecord.h"
#include "mpi/comm/KnownComms.h"

namespace colldsl::mpi {

/// Lives around the call of the MPI. An MPI may run the copy callbacks of attributes elsewhere too:
/// Open MPI 4.1 does so in MPI_Comm_create_group, whose result has other ranks.
class Duplication {
public:
  /// `mayWait`: the call may wait for all ranks, so these may agree on contexts.
  Duplication(MPI_Comm original, bool mayWait);
  ~Duplication() { current_ = outer_; }
  Duplication(const Duplication &) = delete;
  Duplication &operator=(const Duplication &) = delete;

  /// The record of the duplicate; null: it takes over nothing.
  CommRecord *made() const { return made_; }

  /// Called in the copy callback of this thread: makes the record. Null: this thread does not
  /// duplicate `comm`, or no contexts are left.
  static std::unique_ptr<CommRecord> duplicate(MPI_Comm comm);

private:
  MPI_Comm original_;
  Duplication *outer_; ///< its callback, one of the program's, makes this duplicate
  std::shared_ptr<const CommFacts> facts_;
  CommContexts::Some contexts_;
  CommRecord *made_ = nullptr;

  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Duplication *current_ =
      nullptr;
};

} // namespace colldsl::mpi
