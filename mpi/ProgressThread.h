/// A thread that moves operations of ours while the program's threads are in calls of the MPI below
/// that may wait: MPI requires that they move. It calls the MPI only with MPI_THREAD_MULTIPLE, save
/// for operators of the program. It is made when it is first needed, and sleeps until peers have
/// events.
#pragma once

#include "mpi/Job.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace colldsl::mpi {

class ProgressThread {
public:
  explicit ProgressThread(Job &job) : job_(job) {}
  ~ProgressThread();

  /// Moves operations from now on, as long as Job::wantsBackgroundProgress(). Any thread may call
  /// it.
  void wake();

private:
  void start();
  void work();
  void moveOrSleep();
  bool move();
  std::optional<protocol::Wakeup> moveOrWait();

  Job &job_;
  std::once_flag isStarted_;
  std::thread thread_;
  /// The thread waits for the next one. Each releases what the waker has changed, isOver_ as well,
  /// to the thread, which acquires.
  std::atomic<uint32_t> wakes_{0};
  std::atomic<bool> isOver_{false};
};

} // namespace colldsl::mpi
