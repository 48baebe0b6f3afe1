/// Slices: the bytes that an op touches, symbolically in the size it will be run with.
///
/// A position is floor((scale * n + offset) / denominator), in elements, where n
/// is the schedule's size symbol (or, inside a block whose size is known at call
/// time only, that block's length). Block i of T[k][n] begins at i * n; piece i
/// of part(b, i of k) at floor(i * n / k); segment j of c elements at j * c. So one
/// slice is right for every size of the schedule's size class, and becomes bytes
/// when buffers are bound.
///
/// Example: T[4][n], block 2, its second of three parts:
///   {beginScale 7, beginOffset 0, endScale 8, endOffset 0, denominator 3}.
#pragma once

#include "ir/Ids.h"
#include "ir/Int128.h"
#include "ir/Vocabulary.h"

#include <cstdint>
#include <span>
#include <vector>

namespace colldsl {

inline constexpr uint32_t kNoBlock = 0xffffffffu;

struct Slice {
  int64_t beginScale = 0;
  int64_t beginOffset = 0;
  int64_t endScale = 0;
  int64_t endOffset = 0;
  uint32_t denominator = 1;
  BufferId buffer = kNoBuffer;
  uint32_t block = kNoBlock; ///< of a CallTime or Capacity buffer; positions count from its start
  uint32_t reserved = 0;

  bool operator==(const Slice &) const = default;
};
static_assert(sizeof(Slice) == 48);

/// The layout of the blocks of a buffer.
enum class Layout : uint8_t {
  Dense,    ///< one run of elements; slices carry block == kNoBlock
  CallTime, ///< T[k][*]: each block's place and length are given when buffers are bound
  Capacity, ///< T[k][<= m]: fixed places, m elements apart; the length travels with the message
};

/// One buffer of one rank. Parameters come first, in the order of the
/// collective's parameter list, with the same ids on every rank; temporaries follow.
struct Buffer {
  /// Dense: the buffer holds the elements from floor(origin) to floor(end);
  /// slices count in the same coordinates. Parameters have origin 0.
  int64_t originScale = 0;
  int64_t originOffset = 0;
  int64_t endScale = 0;
  int64_t endOffset = 0;
  uint32_t denominator = 1;
  uint32_t name = 0;            ///< index into Schedule::names
  uint32_t blocks = 0;          ///< CallTime, Capacity: number of blocks
  BufferId aliasOf = kNoBuffer; ///< has no storage of its own: it is aliasSlice of that buffer
  uint32_t aliasSlice = 0;      ///< index into Dag::slices
  BufferRole role = BufferRole::Temp;
  ElementType type = ElementType::I32;
  Layout layout = Layout::Dense;
  bool significant =
      true; ///< false: `at root` and this rank is not the root; never bound or touched

  bool operator==(const Buffer &) const = default;
};

/// Sizes for which a schedule holds: min <= n <= max. The schedule was made at
/// n == elements.
struct SizeClass {
  uint64_t elements = 0;
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  bool contains(uint64_t n) const { return min <= n && n <= max; }
  bool operator==(const SizeClass &) const = default;
};

/// Places and lengths of the blocks of one CallTime or Capacity buffer, in elements.
struct BlockTable {
  std::vector<uint64_t> offset;
  std::vector<uint64_t> length;
};

/// The numbers that turn slices into bytes on one rank: n, the block tables, indexed by
/// BufferId (shorter, or an empty table: the buffer is Dense), and the length of an element.
struct Sizes {
  uint64_t elements = 0;
  std::vector<BlockTable> blocks;
  uint64_t elementBytes = 0; ///< in all buffers; 0: as the type of each has it

  uint64_t elementBytesOf(const Buffer &buffer) const {
    return elementBytes > 0 ? elementBytes : sizeBytes(buffer.type);
  }
};

struct ByteRange {
  uint64_t offset = 0; ///< from the start of the buffer
  uint64_t length = 0;
  uint64_t end() const { return offset + length; }
  bool operator==(const ByteRange &) const = default;
};

/// floor(a / b) for b > 0, also for negative a.
constexpr int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

/// floor((scale * n + offset) / denominator), computed without overflow in between; for any
/// denominator but 1.
int64_t dividedPositionAt(int64_t scale, int64_t offset, uint32_t denominator, uint64_t n);

/// Variant of dividedPositionAt() for any denominator. With 1 it wraps around exactly where the
/// wide sum, cut to 64 bits, does.
inline int64_t positionAt(int64_t scale, int64_t offset, uint32_t denominator, uint64_t n) {
  return denominator == 1 ? static_cast<int64_t>(static_cast<uint64_t>(scale) * n +
                                                 static_cast<uint64_t>(offset))
                          : dividedPositionAt(scale, offset, denominator, n);
}

/// Bytes of the slice within its buffer. For a Capacity block: the bytes of its
/// current length, which Sizes holds.
ByteRange resolve(const Slice &slice, const Buffer &buffer, const Sizes &sizes);

/// Bytes that the buffer occupies: a temporary needs them, or the caller binds them.
uint64_t extentBytes(const Buffer &buffer, const Sizes &sizes);

} // namespace colldsl
