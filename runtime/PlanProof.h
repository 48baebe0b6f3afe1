/// The proof that is known of the schedule that a plan runs: how far it reaches, and for what it
/// holds. It is of the library's stamps and images, or of the commit itself.
#pragma once

#include "instantiate/Instantiate.h"
#include "program/library/Library.h"

#include <string>
#include <string_view>

namespace colldsl {

/// The weakest first.
enum class ProofLevel : uint8_t {
  None,
  SmallerRanks, ///< the collective is proved for some numbers of ranks, or at some values
  Exact,        ///< proved for these ranks, arguments, passes, all n of the validity range, and
                ///< for all lengths of blocks
  AllRanks,     ///< the text is proved for every number of ranks, and the schedule is as written
};
inline constexpr unsigned kProofLevels = static_cast<unsigned>(ProofLevel::AllRanks) + 1;

/// "not proved", "proved for this P", ...
std::string_view spelling(ProofLevel level);

/// "report" (None), "require" (Exact), "all-ranks": as COLLDSL_PROOF has them; empty: another word.
std::optional<ProofLevel> proofLevelOf(std::string_view word);

struct PlanProof {
  ProofLevel level = ProofLevel::None;
  /// The largest number of ranks that the proof covers: 0 without one, UINT32_MAX for all.
  uint32_t mostRanks = 0;
  std::string domain; ///< "all P, but for 'deterministic'"; empty: not proved
  /// Promises of the collective that the proof leaves out.
  bool leavesOut = false;

  std::string inWords() const; ///< "proved for all P", "not proved"
};

/// A proof of the schedule itself, for its ranks.
PlanProof exactProof(uint32_t ranks);

/// The proof of a schedule that is instantiated as the text says. `commutes`: the operator of the
/// call does. An error: a part of the library is corrupt.
Result<PlanProof> proofOfText(Library &library, const InstantiateRequest &request, bool commutes);

/// The proof of the schedule beside that of the text. Both leave out what the one of the text does.
PlanProof withExact(const PlanProof &ofText, uint32_t ranks);

/// The proof of an image: its own, and that of the text if no pass changed the schedule. `ofText`:
/// what proofOfText() says.
PlanProof proofOfImage(const LibraryImage &image, const PlanProof &ofText);

} // namespace colldsl
