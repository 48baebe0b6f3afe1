/// Errors as values. Status says whether a call worked, Result<T> carries
/// its result. A Diagnostic names its place; the owner of the source text
/// prints it with a caret.
#pragma once

#include "ir/Ids.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace colldsl {

enum class Severity : uint8_t { Error, Warning, Note };

/// The sort of an error, for programs; the message is for people.
enum class ErrorKind : uint8_t {
  Other,
  Truncated, ///< the two ends of a message disagree about its length
  RankDied,
  Refused, ///< some rank could not take part
  NoMemory,
  TimedOut,
  Overlap,     ///< buffers that may not lie in each other do
  NotProved,   ///< a schedule has less proof than is required
  DeviceMemory ///< a buffer is where the CPU cannot use it
};

/// Messages are lower case, without a full stop, and name both sides.
struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLoc loc;
  std::string message;
  std::string hint;              ///< empty, or "did you mean 'x'?"
  std::vector<Diagnostic> notes; ///< other places that belong to it
  ErrorKind kind = ErrorKind::Other;

  static Diagnostic error(SourceLoc loc, std::string message, std::string hint = {}) {
    return {Severity::Error, loc, std::move(message), std::move(hint), {}, ErrorKind::Other};
  }
  static Diagnostic note(SourceLoc loc, std::string message) {
    return {Severity::Note, loc, std::move(message), {}, {}, ErrorKind::Other};
  }
};

class [[nodiscard]] Status {
public:
  Status() {} // defaulted, it would clear the room for an error each time
  Status(Diagnostic d) : error_(std::move(d)) {}
  static Status error(std::string message) { return Diagnostic::error({}, std::move(message)); }
  static Status error(ErrorKind kind, std::string message, SourceLoc loc = {}) {
    Diagnostic made = Diagnostic::error(loc, std::move(message));
    made.kind = kind;
    return made;
  }
  static Status error(SourceLoc loc, std::string message) {
    return Diagnostic::error(loc, std::move(message));
  }

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const std::string &message() const { return diagnostic().message; }
  ErrorKind kind() const { return diagnostic().kind; }
  const Diagnostic &diagnostic() const {
    assert(error_ && "no error here");
    return *error_;
  }

private:
  std::optional<Diagnostic> error_;
};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }
  Result(Diagnostic d) : status_(std::move(d)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  T take() { return std::move(*value_); }
  const Status &status() const { return status_; }
  const std::string &message() const { return status_.message(); }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace colldsl
