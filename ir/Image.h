/// The image: schedules as a flat file. Little endian, no pointers, fixed-size
/// records, so that it can be mapped and used in place; versioned; checksummed;
/// deterministic (the same schedule gives the same bytes).
///
///   header | per rank: ImageOp[], Slice[], Buffer[], Ensure[], EntryValue[], successor u32[]
///          | where the ranks' parts lie | name and file strings | trailer
///
/// Parts are 64-byte aligned. Indices inside a rank's records count from the beginning of
/// its part. Nothing depends on what comes behind it. The whole layout is in docs/image.md.
#pragma once

#include "ir/Schedule.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace colldsl {

inline constexpr uint16_t kImageMajor = 2; ///< a loader refuses any other major version
inline constexpr uint16_t kImageMinor = 0; ///< a loader accepts newer minor versions

/// One vertex, one cache line. Field meanings as in Op.
struct ImageOp {
  OpKind kind;
  uint8_t detail; ///< Combine: its Side; messages: Transfer::packed()
  Reduction reduction;
  ElementType type;
  Rank peer;
  MessageId message;
  uint32_t sourceBegin, sourceCount; ///< into RankView::slices
  uint32_t targetBegin, targetCount;
  uint64_t amount;
  uint32_t successorBegin; ///< into RankView::successors: first those that require, then irequire
  uint32_t requireCount;
  uint32_t irequireCount;
  uint32_t depCount;  ///< dependencies of either kind that must be met before it starts
  uint64_t line : 24; ///< larger values are stored as the largest
  uint64_t column : 10;
  uint64_t file : 14;
  uint64_t cpu : 8;
  uint64_t nic : 8;

  Side side() const { return static_cast<Side>(detail); }
  Transfer transfer() const {
    return isMessage(kind) ? Transfer::unpack(detail).value_or(Transfer()) : Transfer();
  }
};
static_assert(sizeof(ImageOp) == 64);

/// The part of an image that a plan needs of one rank: views, valid as long as the image's bytes.
struct RankView {
  Rank rank;
  std::span<const ImageOp> ops;
  std::span<const uint32_t> successors;
  std::span<const Slice> slices;
  std::span<const Buffer> buffers;
  std::span<const Ensure> ensures;
  std::span<const EntryValue> operands;

  std::span<const Slice> sources(const ImageOp &op) const {
    return slices.subspan(op.sourceBegin, op.sourceCount);
  }
  std::span<const Slice> targets(const ImageOp &op) const {
    return slices.subspan(op.targetBegin, op.targetCount);
  }
};

/// Encodes all ranks of a schedule. A place in a file that Schedule::files does not
/// have is left out.
std::vector<std::byte> encodeImage(const Schedule &schedule);

/// A checked view of an image. load() accepts only bytes on which every later
/// access is in bounds and every DAG acyclic: wrong magic, version, size, checksum,
/// enum value, index or count is an error that says what and where. Slices lie inside
/// their buffers at n == sizeClass().elements; for other n see ir/Bounds.h.
/// Does not own the bytes, which must be aligned to 8 and outlive the view; aligned to
/// 64 (a mapped file is), each op is one cache line.
class Image {
public:
  static Result<Image> load(std::span<const std::byte> bytes);

  uint32_t numRanks() const;
  RankView rank(Rank r) const;
  SizeClass sizeClass() const;
  std::string_view name() const;
  std::string_view bufferName(const Buffer &buffer) const;
  std::string_view fileName(uint16_t file) const;
  bool hasContract() const;
  bool synchronizes() const;
  bool deterministic() const;

  /// The schedule again, in every field that has a meaning for its op; each op's
  /// dependencies ascend. Encoding it gives the same bytes.
  Schedule decode() const;

private:
  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

} // namespace colldsl
