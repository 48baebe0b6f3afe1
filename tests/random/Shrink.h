/// Makes a program that is proved, but wrong, as short as simple means can.
#pragma once

#include "tests/random/Program.h"

namespace colldsl::generated {

/// Leaves out statements, promises and mistakes as long as what remains is still proved and wrong
/// for the same reason.
Program shrink(Program program, uint64_t seed);

} // namespace colldsl::generated
