/// The body of a message that notifies a rank of a failure.
#pragma once

#include "transports/Fault.h"
#include "transports/network/Wire.h"

#include <optional>
#include <span>

namespace colldsl::network {

/// Makes the body. `root`: the root of the tree that passes it on, or kNoRank.
FailureBody failureBody(bool isOfAll, Rank root, const Fault &fault);

/// The failure that a frame holds, if it holds one. Its ranks may be any; its reason is
/// zero-terminated.
std::optional<FailureBody> readFailure(std::span<const std::byte> bytes);

} // namespace colldsl::network
