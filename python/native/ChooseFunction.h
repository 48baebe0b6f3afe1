/// The choice for a function, as `colldsl choose` tells it.
#pragma once

#include "python/native/Work.h"

namespace colldsl::python {

/// `operands` and `words` as those of `colldsl choose`. Returns its JSON.
std::string choose(const Words &operands, const Words &words);

} // namespace colldsl::python
