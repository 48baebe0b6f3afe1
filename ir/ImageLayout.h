/// Where things lie in an image. Internal to ir; the table is in docs/image.md.
#pragma once

#include "ir/Image.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace colldsl {

static_assert(std::endian::native == std::endian::little, "images are little endian");

inline constexpr char kImageMagic[8] = {'c', 'o', 'l', 'l', 'd', 's', 'l', '\0'};
inline constexpr uint64_t kSectionAlignment = 64;

enum class Section : uint8_t {
  Ranks,
  Ops,
  Successors,
  Slices,
  Buffers,
  Ensures,
  Operands,
  StringEnds,  ///< u64 each: where string i ends in StringBytes; it begins where i - 1 ends
  StringBytes, ///< the schedule's name, the names of buffers, the names of files
};
inline constexpr unsigned kSections = 9;

struct SectionEntry {
  uint64_t offset; ///< from the start of the image
  uint64_t count;  ///< of records
  uint64_t recordBytes;
};

enum ImageFlag : uint32_t {
  kHasContract = 1,
  kSynchronizes = 2,
  kDeterministic = 4,
  kAllFlags = 7,
};

struct ImageHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t flags;
  uint64_t checksum; ///< of all bytes before and behind it
  uint64_t sizeBytes;
  uint64_t classElements, classMin, classMax;
  uint32_t nameCount; ///< names of buffers among the strings
  uint32_t sectionCount;
  std::array<SectionEntry, kSections> sections;
};
static_assert(sizeof(ImageHeader) == 64 + 24 * kSections);

/// One rank's parts of the sections. The parts lie in the order of the ranks,
/// without gaps.
struct ImageRank {
  uint64_t opBegin, successorBegin, sliceBegin, bufferBegin, ensureBegin, operandBegin;
  uint32_t opCount, successorCount, sliceCount, bufferCount, ensureCount, operandCount;
};
static_assert(sizeof(ImageRank) == 72);

inline constexpr std::array<uint64_t, kSections> kRecordBytes = {
    sizeof(ImageRank),  sizeof(ImageOp),  sizeof(uint32_t),
    sizeof(Slice),      sizeof(Buffer),   sizeof(Ensure),
    sizeof(EntryValue), sizeof(uint64_t), 1};

static_assert(sizeof(Buffer) == 56 && sizeof(Ensure) == 72 && sizeof(EntryValue) == 56);
static_assert(std::is_trivially_copyable_v<Buffer> && std::is_trivially_copyable_v<Ensure> &&
              std::is_trivially_copyable_v<EntryValue>);

inline constexpr uint32_t kMaxImageLine = (1u << 24) - 1;
inline constexpr uint32_t kMaxImageColumn = (1u << 10) - 1;
inline constexpr uint32_t kMaxImageFile = (1u << 14) - 1;

constexpr uint64_t alignUp(uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

/// The checksum that the header of these bytes should carry.
uint64_t imageChecksum(std::span<const std::byte> image);

} // namespace colldsl
