/// A thread that moves operations of ours while the program's thread waits in a call of the MPI
/// below that has no other form: MPI requires that they move. It calls nothing of the MPI, so it
/// needs no thread support of it. It is made when it is first needed, and sleeps until peers
/// have events.
#pragma once

#include "mpi/Job.h"

#include <condition_variable>
#include <thread>

namespace colldsl::mpi {

class ProgressThread {
public:
  explicit ProgressThread(Job &job) : job_(job) {}
  ~ProgressThread();

  /// Between these the thread moves operations, and takes the job's mutex for it.
  void begin();
  void end();

private:
  void work();

  Job &job_;
  std::thread thread_;
  std::condition_variable_any wanted_;
  uint32_t active_ = 0; ///< threads that wait; this and isOver_ under the job's mutex
  bool isOver_ = false;
};

} // namespace colldsl::mpi
