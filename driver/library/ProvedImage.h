/// The proof that an image of a library records.
#pragma once

#include "ir/Schedule.h"
#include "program/library/Library.h"
#include "verifier/Verifier.h"

namespace colldsl::driver {

/// The proof of a schedule that is proved at its n. Narrows its validity range to the sizes for
/// which the proof holds.
ImageProof narrowToProved(Schedule &image, const proof::VerifyOptions &options);

} // namespace colldsl::driver
