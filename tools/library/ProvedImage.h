/// The proof that an image of a library records.
#pragma once

#include "ir/Schedule.h"
#include "runtime/Library.h"
#include "verifier/Verifier.h"

namespace colldsl::tools {

/// How far a schedule that was proved at its n is proved; its size class is narrowed to the sizes
/// for which it is.
ImageProof narrowToProved(Schedule &image, const VerifyOptions &options);

} // namespace colldsl::tools
