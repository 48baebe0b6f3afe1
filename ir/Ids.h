/// Strong ids. A Rank is not an OpId is not a BufferId.
#pragma once

#include <cstdint>

namespace colldsl {

enum class Rank : uint32_t {};
enum class OpId : uint32_t {};
enum class BufferId : uint32_t {};

/// Names one message between a fixed (from, to) pair of ranks: a send and a
/// receive with the same pair and the same id are the two ends of one message.
/// Unique per pair within a schedule. In GOAL terms the low 32 bits are the
/// tag, the high 32 bits count the earlier messages of that pair and tag.
/// Ids of a schedule made for one rank alone are 64-bit hashes of the same key
/// (call instance, tag, count), which both ends compute alike.
enum class MessageId : uint64_t {};

inline constexpr Rank kNoRank{0xffffffffu};
inline constexpr OpId kNoOp{0xffffffffu};
inline constexpr BufferId kNoBuffer{0xffffffffu};

constexpr uint32_t index(Rank r) { return static_cast<uint32_t>(r); }
constexpr uint32_t index(OpId o) { return static_cast<uint32_t>(o); }
constexpr uint32_t index(BufferId b) { return static_cast<uint32_t>(b); }
constexpr uint64_t value(MessageId m) { return static_cast<uint64_t>(m); }

constexpr MessageId makeMessageId(uint32_t tag, uint32_t count) {
  return MessageId{uint64_t{count} << 32 | tag};
}
constexpr uint32_t tagOf(MessageId m) { return static_cast<uint32_t>(value(m)); }
constexpr uint32_t countOf(MessageId m) { return static_cast<uint32_t>(value(m) >> 32); }

/// A place in a source text. `file` indexes the table of file names of the object that holds
/// the op (Schedule::files); line 0 means unknown.
struct SourceLoc {
  uint32_t line = 0;
  uint16_t column = 0;
  uint16_t file = 0;
  bool known() const { return line != 0; }
  bool operator==(const SourceLoc &) const = default;
};

} // namespace colldsl
