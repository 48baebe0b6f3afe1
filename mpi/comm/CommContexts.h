/// The contexts of a communicator: its own, and those that it keeps for communicators and calls
/// that are made of it, whose ranks then need not agree again.
///
/// All ranks take contexts in the same order.
#pragma once

#include "mpi/Job.h"

namespace colldsl::mpi {

class CommContexts {
public:
  /// The contexts that a new communicator takes: its own, and some to keep.
  static constexpr uint32_t kOfEach = 8;

  explicit CommContexts(Job &job) : job_(job) {}

  /// Called once: the communicator has `number` contexts from `first` on. `mayKeepMore` false: some
  /// of its ranks cannot be served here, and keep() does nothing.
  void begin(Job::Context first, uint32_t number, bool mayKeepMore = true);
  /// Its own.
  Job::Context own() const { return own_; }

  /// Collective over the communicator: keeps at least `number` contexts for communicators and calls
  /// that are made of it next.
  void keep(MPI_Comm comm, uint32_t number = 1);
  /// The first of `number` consecutive ones, which are kept no longer. Number 0: too few are left.
  Job::Context take(uint32_t number);

  /// Consecutive ones.
  struct Some {
    Job::Context first;
    uint32_t number = 0;
  };
  /// The most that a communicator gets which is made of all ranks of this one.
  static constexpr uint32_t kLargestShare = 32;
  /// Takes a part of those that are left for such a communicator: enough for some that are made of
  /// it, while as many can be made of this one. Number 0: none is left.
  Some takeShare();

private:
  static constexpr uint32_t kFirstTimes = 4, kMaxTimes = 1024, kPartOfShare = 4;

  Job &job_;
  Job::Context own_, next_;
  bool mayKeepMore_ = false;
  uint32_t left_ = 0;            ///< from next_ on
  uint32_t times_ = kFirstTimes; ///< agreed on per wanted one; doubles each time, to kMaxTimes
};

} // namespace colldsl::mpi
