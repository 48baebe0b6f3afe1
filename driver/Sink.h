/// The receiver of messages: mistakes, warnings and remarks of the work for requests.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/Twine.h"

#include <mutex>
#include <string>

namespace colldsl::driver {

/// A command prints them, Python raises them.
class Sink {
public:
  virtual ~Sink() = default;

  /// Whole lines, as people read them. Any thread may call it.
  virtual void take(Severity severity, const std::string &lines) = 0;

  /// "colldsl: error: message", and a note if `colldsl explain` explains it. Returns false, for
  /// `return sink.error(...)`.
  bool error(const llvm::Twine &message);
  /// The message and the hint of a diagnostic, whose place is not told.
  bool error(const Diagnostic &diagnostic);
  /// "colldsl: warning: message".
  void warn(const llvm::Twine &message);
};

/// A sink that keeps the messages as one printable text.
class SinkText : public Sink {
public:
  void take(Severity severity, const std::string &lines) override;

  /// All messages so far.
  std::string text() const;
  /// All messages so far, which it forgets.
  std::string release();

private:
  mutable std::mutex mutex_;
  std::string text_;
};

} // namespace colldsl::driver
