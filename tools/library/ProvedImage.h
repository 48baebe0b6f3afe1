/// Images of a library say what was proved of them.
#pragma once

#include "ir/Schedule.h"
#include "runtime/Library.h"
#include "verifier/Verifier.h"

namespace colldsl::tools {

/// Of a schedule that was proved at its n; its size class becomes what is proved.
ImageProof narrowToProved(Schedule &image, const VerifyOptions &options);

} // namespace colldsl::tools
