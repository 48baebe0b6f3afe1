/// Scopes without the GIL, and with it, for threads that Python may leave behind.
///
/// A thread that requests the GIL after Python began to finalize never gets it: Python ends the
/// thread with pthread_exit(), whose unwinding ends the process where it meets a destructor. These
/// scopes keep such a thread where it is until the process exits, as Python 3.14 does itself.
#pragma once

#include <pybind11/pybind11.h>

namespace colldsl::python {

/// Without the GIL. Made with it, and has it again afterwards.
class Released {
public:
  Released();
  ~Released();
  Released(const Released &) = delete;
  Released &operator=(const Released &) = delete;

  /// Python has finalized: what runs in such a scope ends soon, and no call of Python is made.
  static bool isOver();
  /// Once per process, with the GIL. When Python has finalized, the exit of the process waits up to
  /// a second for what runs in such scopes, which uses what the exit destroys.
  static void endWithPython();

private:
  PyThreadState *state_;
};

/// With the GIL, in any thread.
class Acquired {
public:
  Acquired();
  ~Acquired() { PyGILState_Release(state_); }
  Acquired(const Acquired &) = delete;
  Acquired &operator=(const Acquired &) = delete;

private:
  PyGILState_STATE state_;
};

} // namespace colldsl::python
