/// The errors found in a text. Internal to ir.
#pragma once

#include "ir/Result.h"
#include "ir/TextScanner.h"

namespace colldsl {

/// A place as diagnostics hold it; columns beyond 16 bits are stored as the largest.
inline SourceLoc locOf(TextPlace place, uint16_t file = 0) {
  return {place.line, static_cast<uint16_t>(place.column > 0xffff ? 0xffff : place.column), file};
}

class ErrorList {
public:
  explicit ErrorList(uint32_t max) : max_(max) {}

  /// Adds an error. A note behind the last one that has room says so.
  void add(Diagnostic error) {
    if (isFull())
      return;
    errors_.push_back(std::move(error));
    if (isFull())
      errors_.back().notes.push_back(Diagnostic::note(
          errors_.back().loc, "too many errors, the rest was not read (--max-errors)"));
  }
  /// An error behind which there is nothing to read.
  void stop(Diagnostic error) {
    if (!isFull())
      errors_.push_back(std::move(error));
    hasStopped_ = true;
  }
  bool isFull() const { return hasStopped_ || errors_.size() >= max_; }
  size_t size() const { return errors_.size(); }
  std::vector<Diagnostic> take() { return std::move(errors_); }

private:
  uint32_t max_;
  bool hasStopped_ = false;
  std::vector<Diagnostic> errors_;
};

} // namespace colldsl
