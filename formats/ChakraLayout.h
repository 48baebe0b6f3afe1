/// Names and numbers of Chakra's schema that both directions use.
#pragma once

#include <cstdint>

namespace colldsl::chakra {

enum class NodeType : int32_t {
  Metadata = 1,
  MemLoad = 2,
  MemStore = 3,
  Comp = 4,
  CommSend = 5,
  CommRecv = 6,
  CommColl = 7,
};

inline constexpr const char *kSizeAttribute = "comm_size";
inline constexpr const char *kSourceAttribute = "comm_src";
inline constexpr const char *kTargetAttribute = "comm_dst";
inline constexpr const char *kTagAttribute = "comm_tag";
/// colldsl's own, as the schema counts microseconds: others skip it.
inline constexpr const char *kNanosecondsAttribute = "duration_ns";
inline constexpr uint64_t kNanosecondsPerMicrosecond = 1000;

} // namespace colldsl::chakra
