/// The objects behind the handles of the C API, and the reporting of errors by its functions.
#pragma once

#include "colldsl/colldsl.h"
#include "runtime/CollectivePlan.h"

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unistd.h>

struct colldsl_context {
  std::string topology; ///< empty: as the ranks are bound to this machine
  bool bindToCores = false;
  colldsl::GraphOrderOptions graphOrder;
  colldsl::CompileSettings compile;
  std::shared_ptr<const colldsl::PlanCompiler> compiler; ///< by these settings
  bool strictTransfers = false;
  colldsl::shm::Options shm;
  std::optional<colldsl::Network> network; ///< none: that of the environment
};

struct colldsl_comm {
  colldsl::Communicator communicator;
  colldsl::GraphOrderOptions graphOrder;
  std::shared_ptr<const colldsl::PlanCompiler> compiler;
  bool strictTransfers = false;
  bool isOfFork = false;   ///< colldsl_fork() destroys it
  bool hasProfile = false; ///< all ranks go by the same machine profile
  pid_t owner = getpid();  ///< a forked child has a copy, and does not use it
};

struct colldsl_library {
  std::unique_ptr<colldsl::Library> library;
};

struct colldsl_graph {
  std::shared_ptr<const colldsl::OrderedGraph> graph;
};

struct colldsl_plan {
  colldsl_plan(colldsl::Communicator &communicator, colldsl::Library &library, const char *name)
      : plan(communicator, library, name) {
    plan.requireDisjointBlocks();
  }

  colldsl::CollectivePlan plan;
  // Both relaxed: nothing else is read by them. A cancel that comes as the run ends counts or does
  // not, and the caller orders colldsl_plan_start() behind the run before.
  std::atomic<bool> isCancelled{false}; ///< the run under way, or the last one
  std::atomic<int64_t> waitedNs{0}; ///< time waited for the last run, by colldsl_plan_test_for()
  std::string arguments;            ///< of a committed plan, in words
  std::string transfers;            ///< of its messages, in words
  pid_t owner = getpid();           ///< as of the communicator
};

namespace colldsl::api {

/// Remembers the message for colldsl_last_error() and returns the status.
colldsl_status fail(colldsl_status status, const std::string &message);

/// Returns COLLDSL_OK, or fails with this status, or that of a lack of memory, and the message.
colldsl_status report(const Status &status, colldsl_status kind);

/// Fails with "argument 'comm' is null".
colldsl_status failNull(const char *argument);

/// Checks the length of an array: an error says "argument 'values' has 5000000000 elements; there
/// may be ...".
Status checkLength(const char *argument, size_t length);

/// Runs the body of an API function: nothing is thrown into C.
template <typename Body> colldsl_status guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(COLLDSL_ERROR_MEMORY, "there is not enough memory");
  } catch (const std::exception &e) {
    return fail(COLLDSL_ERROR_SETUP, e.what());
  }
}

/// An argument that must not be null.
struct Needed {
  const char *name;
  const void *value;
};

/// Variant of guarded() that fails before the body if an argument is null.
template <typename Body>
colldsl_status guarded(std::initializer_list<Needed> needed, const Body &body) {
  for (const Needed &argument : needed)
    if (!argument.value)
      return failNull(argument.name);
  return guarded(body);
}

/// Converts a timeout. Negative, or too long to count: forever. Not a number: an error.
Result<std::chrono::nanoseconds> toTimeout(double seconds);

/// The standard library, opened once.
Result<Library *> standardLibrary();

/// The standard library with the decisions of the user's machine profile, each of which is read
/// once; null: there is none that counts. Thread safe.
Library *tunedLibrary();

} // namespace colldsl::api
