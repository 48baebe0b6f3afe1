/// Byte counts as the text form and GOAL state them. Internal to ir.
#pragma once

#include "ir/Dag.h"

#include <optional>

namespace colldsl {

/// Bytes of a send, recv, copy or combine at n; nothing for other kinds, where a
/// block's length is known at call time only, and where the op is broken.
std::optional<uint64_t> statedBytes(const Dag &dag, const Op &op, uint64_t n);

} // namespace colldsl
