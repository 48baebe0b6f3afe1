/// The body of a message that notifies a rank of a failure.
#pragma once

#include "transports/Fault.h"
#include "transports/network/Wire.h"

#include <optional>
#include <span>

namespace colldsl::network {

/// `root`: of the tree that passes it on, or kNoRank.
FailureBody failureBody(bool isOfAll, Rank root, const Fault &fault);

/// What a frame holds, if it holds that: any rank, and a reason that ends.
std::optional<FailureBody> readFailure(std::span<const std::byte> bytes);

} // namespace colldsl::network
