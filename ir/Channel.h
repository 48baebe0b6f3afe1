/// The FIFO channels between two ranks that schedules are made for.
#pragma once

#include <cstdint>

namespace colldsl {

/// Messages in flight from one rank to another, at least: what passes allow, and what the
/// verifier proves by default.
inline constexpr uint32_t kChannelSlots = 8;

} // namespace colldsl
