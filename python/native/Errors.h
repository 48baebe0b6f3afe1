/// Errors as Python exceptions, of the classes in python/colldsl/errors.py.
#pragma once

#include "python/native/Gil.h"

#include "colldsl/colldsl.h"

#include <pybind11/pybind11.h>

#include <string>

namespace colldsl::python {

namespace py = pybind11;

/// Throws what becomes an exception of that class. Needs the GIL.
[[noreturn]] void raise(const char *className, const std::string &message);

/// Raises the last error of the C API in this thread, unless all is well. Needs the GIL.
void check(colldsl_status status);

/// Makes the call without the GIL.
template <typename Call> void checkReleased(Call call) {
  colldsl_status status;
  {
    Released released;
    status = call();
  }
  check(status);
}

} // namespace colldsl::python
