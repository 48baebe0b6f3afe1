/// The beginning of the job: not in MPI_Init, where its exchanges would cost more than those of the
/// MPI, but in the first call that all ranks of MPI_COMM_WORLD make, and that may wait for all.
///
/// Such a call comes at the same place among the blocking collectives of each rank, since MPI lets
/// all of these synchronize. So each communicator's calls come before it on all ranks, or after it
/// on all. Where several threads may call at once that does not hold, and the job begins in
/// MPI_Init.
#pragma once

#include "mpi/Job.h"

namespace colldsl::mpi {

class JobBegin {
public:
  /// At the end of MPI_Init, on all ranks. `threadLevel`: as the MPI provides.
  static void expect(int threadLevel);
  /// Called before a call that is collective over `comm` and may wait for its ranks.
  static void before(MPI_Comm comm) {
    if (isExpected_ && comm == MPI_COMM_WORLD)
      begin();
  }
  /// In MPI_Finalize. False: the job has not begun, and never will.
  static bool end();

private:
  static void begin();

  static inline bool isExpected_ = false; ///< no two threads are in these calls while it is true
  static inline int threadLevel_ = MPI_THREAD_SINGLE;
};

} // namespace colldsl::mpi
