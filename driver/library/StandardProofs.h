/// The stamps of the standard library's texts.
#pragma once

#include "program/library/Library.h"

namespace colldsl::driver {

/// The stamps of stdlib/proofs.txt that collectives of the program bear: those of its names whose
/// texts have its digests. Ascending by collective.
std::vector<TextProof> standardProofs(const Program &program);

} // namespace colldsl::driver
