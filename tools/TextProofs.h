/// Proofs for every number of ranks as the stamps that libraries hold.
#pragma once

#include "parameterized/AllRanksProofs.h"
#include "program/library/Library.h"

#include "llvm/ADT/ArrayRef.h"

namespace colldsl::tools {

/// The stamp of a proof that holds, for no text yet.
TextProof textProofOf(const parameterized::AllRanksProof &proof);

/// Proves each of these collectives of the program, as `colldsl verify --all-ranks` does, for at
/// most `seconds`. Adds the stamps of those that are proved and have none for all ranks, and prints
/// a note of the others; returns the number of those that have one then.
size_t addTextProofs(const Program &program, llvm::ArrayRef<uint32_t> collectives, uint64_t seconds,
                     std::vector<TextProof> &stamps);

} // namespace colldsl::tools
