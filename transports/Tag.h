/// The header of an active message: what the message is for, alike on both ends. A wire carries it
/// and compares it, and knows nothing of what it means.
#pragma once

#include <cstdint>

namespace colldsl {

/// Between two ranks no two messages that are outstanding in one direction have the same tag.
struct Tag {
  uint32_t context = 0; ///< a group of ranks
  uint32_t stream = 0;  ///< of the context: an operation that is run again and again
  uint32_t run = 0;     ///< of the stream
  uint32_t message = 0; ///< of the run, or what else distinguishes messages

  friend bool operator==(const Tag &, const Tag &) = default;
};

/// A stream, context first.
using StreamId = uint64_t;
constexpr StreamId streamId(uint32_t context, uint32_t stream) {
  return uint64_t{context} << 32 | stream;
}
constexpr StreamId streamOf(const Tag &tag) { return streamId(tag.context, tag.stream); }

/// A run number that stands for all runs of a stream.
inline constexpr uint32_t kAllRuns = 0xffffffffu;
/// The tag that names a run.
constexpr Tag tagOf(StreamId stream, uint32_t run) {
  return {static_cast<uint32_t>(stream >> 32), static_cast<uint32_t>(stream), run, 0};
}
/// True if the message belongs to the run, or to the stream, that `scope` names.
inline bool isOf(const Tag &tag, const Tag &scope) {
  return streamOf(tag) == streamOf(scope) && (scope.run == kAllRuns || tag.run == scope.run);
}

} // namespace colldsl
