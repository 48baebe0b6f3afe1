/// What came of the mutants, counted.
#pragma once

#include "tests/mutation/Mutation.h"
#include "verifier/Verifier.h"

#include <array>

namespace colldsl::mutation {

inline constexpr unsigned kProofs = 5;

struct Counts {
  uint64_t mutants = 0;
  uint64_t malformed = 0; ///< refused by the check of images, though the verifier proved them
  uint64_t refused = 0;   ///< by the verifier
  uint64_t proved = 0;
  uint64_t wrong = 0;     ///< says the oracle
  uint64_t survivors = 0; ///< proved and wrong
  /// Refused by each proof, though nothing wrong was seen.
  std::array<uint64_t, kProofs> harmless{};

  uint64_t allHarmless() const;
  void add(const Counts &other);
};

struct Tally {
  std::array<Counts, kKinds> ofKind;

  void add(const Tally &other);
  Counts total() const;
  /// Two tables: what came of each kind, and which proofs refused what seemed harmless.
  std::string tables() const;
};

} // namespace colldsl::mutation
