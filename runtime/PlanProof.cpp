#include "runtime/PlanProof.h"

#include "ir/Concat.h"
#include "ir/Ranges.h"

#include <algorithm>

namespace colldsl {
namespace {

/// The numbers of ranks for which the library has proved images of the collective, below `most`.
std::vector<uint32_t> provedBelow(const std::vector<LibraryImage> &images,
                                  const std::string &collective, uint32_t most) {
  std::vector<uint32_t> ranks;
  for (const LibraryImage &image : images)
    if (image.proof == ImageProof::Full && image.collective == collective && image.ranks < most)
      ranks.push_back(image.ranks);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

} // namespace

std::string_view spelling(ProofLevel level) {
  switch (level) {
  case ProofLevel::None:
    return "not proved";
  case ProofLevel::SmallerRanks:
    return "proved for fewer ranks, or at some values, only";
  case ProofLevel::Exact:
    return "proved for this P";
  case ProofLevel::AllRanks:
    return "proved for all P";
  }
  return "";
}

std::optional<ProofLevel> proofLevelOf(std::string_view word) {
  if (word == "report")
    return ProofLevel::None;
  if (word == "require")
    return ProofLevel::Exact;
  return word == "all-ranks" ? std::optional(ProofLevel::AllRanks) : std::nullopt;
}

std::string PlanProof::inWords() const {
  return level == ProofLevel::None ? "not proved" : "proved for " + domain;
}

PlanProof exactProof(uint32_t ranks) {
  return {ProofLevel::Exact, ranks,
          ranks == 1 ? std::string("1 rank") : concat("these ", ranks, " ranks"), false};
}

Result<PlanProof> proofOfText(Library &library, const InstantiateRequest &request, bool commutes) {
  Result<const Program *> program = library.program();
  if (!program)
    return program.status();
  Result<const TextProof *> stamp = library.textProof(request.collective);
  if (!stamp)
    return stamp.status();
  if (*stamp && (*stamp)->allRanks && (commutes || !(*stamp)->needsCommutative))
    return PlanProof{ProofLevel::AllRanks, UINT32_MAX, domainInWords(**stamp),
                     !(*stamp)->leftOut.empty()};
  Result<const std::vector<LibraryImage> *> images = library.images();
  if (!images)
    return images.status();
  const std::string &name = (*program)->nameOf((*program)->decl(request.collective));
  std::vector<uint32_t> ranks = provedBelow(**images, name, request.ranks);
  uint32_t tried = *stamp && commutes ? (*stamp)->mostRanks : 0;
  if (tried == 0 && ranks.empty())
    return PlanProof();
  if (tried >= (ranks.empty() ? 0 : ranks.back()))
    return PlanProof{ProofLevel::SmallerRanks, tried,
                     concat("1 to ", tried, request.ranks > tried ? " ranks only" : " ranks",
                            ", at the values tried"),
                     false};
  return PlanProof{
      ProofLevel::SmallerRanks, ranks.back(),
      concat(rangesWord(ranks), ranks == std::vector<uint32_t>{1} ? " rank" : " ranks", " only"),
      false};
}

PlanProof withExact(const PlanProof &ofText, uint32_t ranks) {
  PlanProof exact = exactProof(ranks);
  if (ofText.level != ProofLevel::AllRanks)
    return exact;
  std::string both = concat(ofText.domain, "; with all promises for ", exact.domain);
  return {ProofLevel::AllRanks, UINT32_MAX, ofText.leavesOut ? both : ofText.domain, false};
}

PlanProof proofOfImage(const LibraryImage &image, const PlanProof &ofText) {
  if (image.proof != ImageProof::Full)
    return {};
  return image.passes.empty() ? withExact(ofText, image.ranks) : exactProof(image.ranks);
}

} // namespace colldsl
