/// One read or write, split into requests that a device can take: each has at most so many pieces
/// of memory and bytes, and goes to one stretch at the other end.
#pragma once

#include "transports/network/Transport.h"
#include "transports/verbs/Libibverbs.h"

#include <array>

namespace colldsl::verbs {

/// The key by which requests name registered memory.
inline uint32_t localKey(void *descriptor) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(descriptor));
}

struct Parts {
  struct Part {
    uint32_t first, count; ///< of its pieces
    uint64_t bytes;
    uint64_t there;
  };
  /// The most parts that a read or write is split into for its length.
  static constexpr uint32_t kMaxOfLength = 16;
  static constexpr uint32_t kMax = network::kMaxPieces + network::kMaxRemoteIovs + kMaxOfLength;

  Parts(const network::RmaSpec &spec, uint32_t mostPieces, uint64_t mostBytes);

  std::array<ibv_sge, kMax> pieces;
  std::array<Part, kMax> list;
  uint32_t count = 0, numPieces = 0;
};

} // namespace colldsl::verbs
