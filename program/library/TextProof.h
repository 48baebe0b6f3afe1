/// The stamp of a collective: what is proved about its text, for which numbers of ranks. Libraries
/// hold stamps beside the program that they are about.
#pragma once

#include "ir/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

struct TextProof {
  uint32_t collective = 0; ///< DeclId
  uint64_t digest = 0;     ///< textDigest() of the text that was proved
  /// Proved for every number of ranks that `where` allows, all roots, sizes, lengths of blocks and
  /// values of parameters. Then these say what the proof is restricted to:
  bool allRanks = false;
  bool needsCommutative = false;            ///< operators that commute
  std::vector<std::string> leftOut = {};    ///< promises that are not proved: "'deterministic'"
  std::vector<std::string> structures = {}; ///< checked when they are made: trees and graphs
  /// Proved one by one for 1 to so many ranks, for the roots, sizes and values that were tried, and
  /// operators that commute; 0: not.
  uint32_t mostRanks = 0;
};

/// "all P, for operators that commute, but for 'deterministic'" of a proof for all ranks, "1 to 64
/// ranks, at the values tried" of another one; empty: nothing is proved.
std::string domainInWords(const TextProof &proof);

/// "00c0ffee00c0ffee".
std::string digestWord(uint64_t digest);

/// A line of a table of stamps.
struct NamedTextProof {
  std::string name;
  TextProof proof; ///< without its collective
};

/// Reads a table of stamps (stdlib/proofs.txt, whose head says what a line has). An error names the
/// line.
Result<std::vector<NamedTextProof>> readTextProofs(std::string_view text);

} // namespace colldsl
