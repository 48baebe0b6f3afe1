#include "mpi/ProgressThread.h"

#include "mpi/PrintMessage.h"
#include "mpi/Settings.h"

#include <algorithm>
#include <csignal>
#include <system_error>

namespace colldsl::mpi {
namespace {

constexpr std::chrono::nanoseconds kLongestNap = std::chrono::milliseconds(5);

} // namespace

ProgressThread::~ProgressThread() {
  isOver_.store(true, std::memory_order_relaxed);
  if (!thread_.joinable())
    return;
  wakes_.fetch_add(1, std::memory_order_release);
  wakes_.notify_one();
  thread_.join();
}

void ProgressThread::wake() {
  wakes_.fetch_add(1, std::memory_order_release);
  std::call_once(isStarted_, [this] { start(); });
  wakes_.notify_one();
}

// Signals are for the program's own threads.
void ProgressThread::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error &why) {
    if (Settings::all().isVerbose())
      printMessage("colldsl: operations stand still in other calls: %s\n", why.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A wake-up that comes after the thread has looked ends the wait at once.
void ProgressThread::work() {
  while (!isOver_.load(std::memory_order_relaxed)) {
    uint32_t seen = wakes_.load(std::memory_order_acquire);
    if (job_.wantsBackgroundProgress())
      moveOrSleep();
    else if (!isOver_.load(std::memory_order_relaxed))
      wakes_.wait(seen, std::memory_order_acquire);
  }
}

void ProgressThread::moveOrSleep() {
  if (move())
    return;
  WakeupEpoch epoch = job_.worker().armSleep();
  if (std::optional<protocol::Wakeup> wakeup = moveOrWait())
    job_.worker().sleep(epoch, {wakeup->file, std::min(wakeup->atMost, kLongestNap)});
}

// The mutex makes it certain that a thread of the program is, or is not, in such a call.
bool ProgressThread::move() {
  std::lock_guard lock(job_.mutex());
  return job_.wantsBackgroundProgress() && job_.pollInBackground();
}

// Empty: something moved, or may move now.
std::optional<protocol::Wakeup> ProgressThread::moveOrWait() {
  std::lock_guard lock(job_.mutex());
  if (!job_.wantsBackgroundProgress() || job_.pollInBackground())
    return std::nullopt;
  return job_.wakeup();
}

} // namespace colldsl::mpi
