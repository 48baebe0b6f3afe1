#include "python/native/Gil.h"

#include <atomic>
#include <chrono>
#include <cxxabi.h>
#include <thread>
#include <unistd.h>

namespace colldsl::python {
namespace {

std::atomic<unsigned> openScopes{0}; ///< without the GIL, of all threads
std::atomic<bool> isFinalized{false};

/// Handler for Py_AtExit(): waits up to a second for scopes without the GIL.
void waitForScopes() {
  constexpr std::chrono::milliseconds kPatience{1000}, kTurn{1};
  isFinalized.store(true);
  for (auto waited = kTurn; openScopes.load() != 0 && waited <= kPatience; waited += kTurn)
    std::this_thread::sleep_for(kTurn);
}

thread_local unsigned openHere = 0; ///< scopes without the GIL around each other in this thread

[[noreturn]] void stay() {
  openScopes.fetch_sub(openHere);
  for (;;)
    pause();
}

/// Calls a function that returns with the GIL, or stays here.
template <typename Take> void takeOrStay(Take take) {
  try {
    take();
  } catch (abi::__forced_unwind &) {
    stay();
  }
}

} // namespace

Released::Released() {
  openScopes.fetch_add(1, std::memory_order_relaxed);
  ++openHere;
  state_ = PyEval_SaveThread();
}

Released::~Released() {
  takeOrStay([&] { PyEval_RestoreThread(state_); });
  --openHere;
  openScopes.fetch_sub(1, std::memory_order_release);
}

bool Released::isOver() { return isFinalized.load(std::memory_order_relaxed); }

void Released::endWithPython() {
  isFinalized.store(false);
  Py_AtExit(waitForScopes);
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
