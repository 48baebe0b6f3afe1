#include "python/native/Errors.h"

#include "ir/Printable.h"

namespace colldsl::python {
namespace {

const char *classOf(colldsl_status status) {
  switch (status) {
  case COLLDSL_ERROR_ARGUMENT:
    return "ArgumentError";
  case COLLDSL_ERROR_STATE:
    return "StateError";
  case COLLDSL_ERROR_LIBRARY:
    return "LibraryError";
  case COLLDSL_ERROR_SETUP:
    return "SetupError";
  case COLLDSL_ERROR_PLAN:
    return "PlanError";
  case COLLDSL_ERROR_RUN:
    return "RunError";
  case COLLDSL_ERROR_TIMEOUT:
    return "TimeoutError";
  case COLLDSL_ERROR_CANCELLED:
    return "CancelledError";
  case COLLDSL_ERROR_MEMORY:
    return "OutOfMemoryError";
  case COLLDSL_OK:
  case COLLDSL_ERROR_RANK: // of colldsl_fork(), which is not called here
    break;
  }
  return "Error";
}

} // namespace

void raise(const char *className, const std::string &message) {
  py::object type = py::module_::import("colldsl.errors").attr(className);
  PyErr_SetString(type.ptr(), printable(message).c_str());
  throw py::error_already_set();
}

void check(colldsl_status status) {
  if (status != COLLDSL_OK)
    raise(classOf(status), colldsl_last_error());
}

} // namespace colldsl::python
