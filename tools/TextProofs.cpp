#include "tools/TextProofs.h"

#include "ir/Printable.h"
#include "program/TextDigest.h"
#include "tools/options/ErrorStream.h"

#include <algorithm>

namespace colldsl::tools {

TextProof textProofOf(const parameterized::AllRanksProof &proof) {
  TextProof stamp;
  stamp.allRanks = true;
  stamp.needsCommutative = !proof.restrictedTo.empty();
  stamp.leftOut = proof.leftOut;
  stamp.structures.assign(proof.structures.begin(), proof.structures.end());
  return stamp;
}

size_t addTextProofs(const Program &program, llvm::ArrayRef<uint32_t> collectives, uint64_t seconds,
                     std::vector<TextProof> &stamps) {
  parameterized::AllRanksProofs proofs(program, std::chrono::seconds(seconds));
  size_t proved = 0;
  for (uint32_t id : collectives) {
    auto place = std::lower_bound(
        stamps.begin(), stamps.end(), id,
        [](const TextProof &stamp, uint32_t other) { return stamp.collective < other; });
    bool isStamped = place != stamps.end() && place->collective == id;
    if (isStamped && place->allRanks) {
      ++proved;
      continue;
    }
    const parameterized::AllRanksProof &proof = proofs.of(DeclId{id});
    if (!proof.isProved) {
      errorStream() << "colldsl: note: '" << printable(program.nameOf(program.decl(DeclId{id})))
                    << "' is not shown for all P: " << printable(proof.reason) << "\n";
      continue;
    }
    ++proved;
    TextProof stamp = textProofOf(proof);
    stamp.collective = id;
    stamp.digest = textDigest(program, DeclId{id});
    if (isStamped) {
      stamp.mostRanks = place->mostRanks;
      *place = std::move(stamp);
    } else {
      stamps.insert(place, std::move(stamp));
    }
  }
  return proved;
}

} // namespace colldsl::tools
