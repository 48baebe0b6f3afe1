/// The words for a statement about what a rank's buffers hold: a postcondition, or an invariant of
/// a loop before one of its iterations.
#pragma once

#include "ir/Contract.h"
#include "verifier/DiagnosticNames.h"

#include <string>

namespace colldsl::proof {

class StatementWords {
public:
  /// `invariant`: null for a postcondition; it outlives the words.
  explicit StatementWords(const Invariant *invariant = nullptr) : invariant_(invariant) {}

  bool isInvariant() const { return invariant_ != nullptr; }
  /// "rank 2" or "rank 2, before s = 1".
  std::string who(Rank rank) const {
    return rankWord(rank) + (invariant_ ? ", before " + invariant_->iteration : "");
  }
  /// "but x@1 was promised" or "but the invariant states x@1".
  std::string other(const std::string &value) const {
    return invariant_ ? "but the invariant states " + value : "but " + value + " was promised";
  }
  /// "is promised" or "is in the invariant".
  std::string passive() const { return invariant_ ? "is in the invariant" : "is promised"; }
  /// "promises" or "states", with what follows.
  std::string step(const std::string &where) const {
    return (invariant_ ? "states " : "promises ") + where;
  }

private:
  const Invariant *invariant_;
};

} // namespace colldsl::proof
