#include "mpi/ProgressThread.h"

#include <algorithm>
#include <csignal>

namespace colldsl::mpi {
namespace {

constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::milliseconds(5);

} // namespace

ProgressThread::~ProgressThread() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(job_.mutex());
    isOver_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

// Signals are for the program's own threads.
void ProgressThread::begin() {
  std::lock_guard lock(job_.mutex());
  ++active_;
  if (thread_.joinable())
    return wanted_.notify_one();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ProgressThread::end() {
  std::lock_guard lock(job_.mutex());
  --active_;
}

void ProgressThread::work() {
  protocol::Worker &worker = job_.worker();
  std::unique_lock lock(job_.mutex());
  while (true) {
    wanted_.wait(lock, [&] { return active_ != 0 || isOver_; });
    if (isOver_)
      return;
    if (job_.pollInBackground())
      continue;
    WakeupEpoch epoch = worker.armSleep();
    std::optional<protocol::Wakeup> wakeup;
    if (!job_.pollInBackground())
      wakeup = job_.wakeup();
    lock.unlock();
    if (wakeup)
      worker.sleep(epoch, {wakeup->file, std::min(wakeup->atMost, kLongestSleep)});
    lock.lock();
  }
}

} // namespace colldsl::mpi
