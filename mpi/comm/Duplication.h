/// The moment in which this thread duplicates a communicator, and the duplicate takes over its
/// state.
#pragma once

#include "mpi/comm/ServedComm.h"

namespace colldsl::mpi {

/// Lives around the call of the MPI. An MPI may run the copy callbacks of attributes elsewhere too:
/// Open MPI 4.1 does so in MPI_Comm_create_group, whose result has other ranks.
class Duplication {
public:
  explicit Duplication(MPI_Comm original)
      : original_(original), outer_(std::exchange(current_, this)) {}
  ~Duplication() { current_ = outer_; }
  Duplication(const Duplication &) = delete;
  Duplication &operator=(const Duplication &) = delete;

  /// Null: the duplicate takes over nothing.
  ServedComm *made() const { return made_.get(); }

  /// Called in the copy callback: makes the duplicate. Null: this thread does not duplicate `comm`,
  /// or no contexts are left.
  static std::shared_ptr<ServedComm> duplicate(MPI_Comm comm, ServedComm &original) {
    if (!current_ || current_->original_ != comm)
      return nullptr;
    current_->made_ = original.duplicate();
    return current_->made_;
  }

private:
  MPI_Comm original_;
  Duplication *outer_; ///< its callback, one of the program's, makes this duplicate
  std::shared_ptr<ServedComm> made_;

  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Duplication *current_ =
      nullptr;
};

} // namespace colldsl::mpi
