#include "api/Handles.h"

#include "ir/Concat.h"
#include "ir/Printable.h"

#include <cmath>

namespace colldsl::api {
namespace {

thread_local std::string lastError;

} // namespace

colldsl_status fail(colldsl_status status, const std::string &message) {
  try {
    lastError = printable(message);
  } catch (const std::bad_alloc &) {
    lastError.clear();
  }
  return status;
}

colldsl_status report(const Status &status, colldsl_status kind) {
  if (status)
    return COLLDSL_OK;
  bool isShort = status.kind() == ErrorKind::NoMemory;
  return fail(isShort ? COLLDSL_ERROR_MEMORY : kind, status.message());
}

colldsl_status failNull(const char *argument) {
  return fail(COLLDSL_ERROR_ARGUMENT, concat("argument '", argument, "' is null"));
}

Status checkLength(const char *argument, size_t length) {
  constexpr size_t most = UINT32_MAX;
  if (length <= most)
    return {};
  return Status::error(
      concat("argument '", argument, "' has ", length, " elements; there may be ", most));
}

Result<std::chrono::nanoseconds> toTimeout(double seconds) {
  constexpr double longest = 1e9;
  if (std::isnan(seconds))
    return Status::error("the timeout is not a number");
  if (seconds < 0 || seconds > longest)
    return kForever;
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

} // namespace colldsl::api

const char *colldsl_last_error(void) { return colldsl::api::lastError.c_str(); }

const char *colldsl_version(void) { return COLLDSL_VERSION; }

const char *colldsl_status_string(colldsl_status status) {
  switch (status) {
  case COLLDSL_OK:
    return "no error";
  case COLLDSL_ERROR_ARGUMENT:
    return "wrong argument";
  case COLLDSL_ERROR_STATE:
    return "not possible now";
  case COLLDSL_ERROR_LIBRARY:
    return "the library cannot be used";
  case COLLDSL_ERROR_SETUP:
    return "ranks could not be connected";
  case COLLDSL_ERROR_PLAN:
    return "the plan cannot be made";
  case COLLDSL_ERROR_RUN:
    return "a run failed";
  case COLLDSL_ERROR_TIMEOUT:
    return "a run did not end in time";
  case COLLDSL_ERROR_CANCELLED:
    return "the run was cancelled";
  case COLLDSL_ERROR_RANK:
    return "a rank failed";
  case COLLDSL_ERROR_MEMORY:
    return "not enough memory";
  }
  return "unknown status";
}
