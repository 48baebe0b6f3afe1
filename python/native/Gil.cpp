#include "python/native/Gil.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cxxabi.h>
#include <mutex>
#include <unistd.h>

namespace colldsl::python {
namespace {

/// Counts the threads that are in scopes without the GIL. Never destroyed: threads that stay use it
/// while the process exits.
class Scopes {
public:
  static Scopes &all() {
    static auto *scopes = new Scopes;
    return *scopes;
  }

  void enter() {
    std::lock_guard lock(mutex_);
    ++open_;
  }
  void leave(unsigned scopes = 1) {
    std::lock_guard lock(mutex_);
    open_ -= scopes;
    changed_.notify_all();
  }
  void begin() { isOver_.store(false); }
  bool isOver() const { return isOver_.load(std::memory_order_relaxed); }
  void end() {
    constexpr std::chrono::seconds kPatience{1};
    isOver_.store(true);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return open_ == 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned open_ = 0;
  std::atomic<bool> isOver_{false};
};

thread_local unsigned openHere = 0; ///< scopes without the GIL around each other in this thread

[[noreturn]] void stay() {
  Scopes::all().leave(openHere);
  for (;;)
    pause();
}

/// Calls what returns with the GIL, or stays here.
template <typename Take> void takeOrStay(Take take) {
  try {
    take();
  } catch (abi::__forced_unwind &) {
    stay();
  }
}

} // namespace

Released::Released() {
  Scopes::all().enter();
  ++openHere;
  state_ = PyEval_SaveThread();
}

Released::~Released() {
  takeOrStay([&] { PyEval_RestoreThread(state_); });
  --openHere;
  Scopes::all().leave();
}

bool Released::isOver() { return Scopes::all().isOver(); }

void Released::endWithPython() {
  Scopes::all().begin();
  Py_AtExit([] { Scopes::all().end(); });
}

// A thread that Python does not know would get a state of an interpreter that is gone. The thread
// that finalizes Python still runs destructors, when Python counts as not initialized.
Acquired::Acquired() {
  bool isKnown = openHere > 0;
  if (Released::isOver() || (!isKnown && !Py_IsInitialized()))
    stay();
  takeOrStay([&] { state_ = PyGILState_Ensure(); });
}

} // namespace colldsl::python
