/// Scopes without the GIL, and with it, for threads that Python may leave behind.
///
/// A thread that requests the GIL after Python began to finalize never gets it: Python ends the
/// thread with pthread_exit(), whose unwinding ends the process where it meets a destructor. These
/// scopes keep such a thread where it is until the process exits, as Python 3.14 does itself.
#pragma once

#include <pybind11/pybind11.h>

namespace colldsl::python {

/// A scope without the GIL. It begins and ends with the GIL held.
class Released {
public:
  Released();
  ~Released();
  Released(const Released &) = delete;
  Released &operator=(const Released &) = delete;

  /// True once Python has finalized: code in such a scope should end soon, and must not call
  /// Python.
  static bool isOver();
  /// Call once per process, with the GIL. After Python has finalized, the exit of the process waits
  /// up to a second for code in such scopes, because that uses objects which the exit destroys.
  static void endWithPython();

private:
  PyThreadState *state_;
};

/// A scope with the GIL, in any thread.
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
