/// The layout of an image. Internal to ir; the table is in docs/image.md.
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
inline constexpr uint64_t kImageAlignment = 64; ///< of the ranks' parts, of sections, of the end

struct ImageHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint8_t zeros[52];
};
static_assert(sizeof(ImageHeader) == kImageAlignment);

/// The beginning of one rank's part, and the numbers of its records by kind. They lie
/// in the order of kRecordBytes, without gaps; the next rank's part begins at the next
/// multiple of kImageAlignment.
struct ImageRank {
  uint64_t offset; ///< from the start of the image
  uint32_t opCount, sliceCount, bufferCount, ensureCount, operandCount, successorCount;

  std::array<uint32_t, 6> counts() const {
    return {opCount, sliceCount, bufferCount, ensureCount, operandCount, successorCount};
  }
};
static_assert(sizeof(ImageRank) == 32);

/// The kinds of records of a rank; those of 4 bytes last, so that all are aligned.
enum class Part : uint8_t { Ops, Slices, Buffers, Ensures, Operands, Successors };
inline constexpr unsigned kParts = 6;
inline constexpr std::array<uint64_t, kParts> kRecordBytes = {sizeof(ImageOp),    sizeof(Slice),
                                                              sizeof(Buffer),     sizeof(Ensure),
                                                              sizeof(EntryValue), sizeof(uint32_t)};

static_assert(sizeof(Buffer) == 56 && sizeof(Ensure) == 72 && sizeof(EntryValue) == 56);
static_assert(std::is_trivially_copyable_v<Buffer> && std::is_trivially_copyable_v<Ensure> &&
              std::is_trivially_copyable_v<EntryValue>);

/// The beginning of a kind of records, from the start of the rank's part; Part{kParts}: the end of
/// the last kind.
constexpr uint64_t offsetInPart(const ImageRank &rank, Part part) {
  uint64_t offset = 0;
  for (unsigned p = 0; p < static_cast<unsigned>(part); ++p)
    offset += rank.counts()[p] * kRecordBytes[p];
  return offset;
}
constexpr uint64_t partBytes(const ImageRank &rank) { return offsetInPart(rank, Part{kParts}); }

/// The sections behind the parts of all ranks.
enum class Section : uint8_t {
  Ranks,
  StringEnds,  ///< u64 each: where string i ends in StringBytes; it begins where i - 1 ends
  StringBytes, ///< the schedule's name, the names of buffers, the names of files
};
inline constexpr unsigned kSections = 3;
inline constexpr std::array<uint64_t, kSections> kSectionRecordBytes = {sizeof(ImageRank),
                                                                        sizeof(uint64_t), 1};

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

/// The end of an image, known when all else is written; before it lies the table of sections.
struct ImageTrailer {
  uint32_t flags;
  uint32_t sectionCount;
  uint32_t nameCount; ///< names of buffers among the strings
  uint32_t zeros[3];
  uint64_t classElements, classMin, classMax;
  uint64_t sizeBytes;
  uint64_t checksum; ///< of all bytes before it
};
static_assert(sizeof(ImageTrailer) == 64);

inline constexpr uint32_t kMaxImageLine = (1u << 24) - 1;
inline constexpr uint32_t kMaxImageColumn = (1u << 10) - 1;
inline constexpr uint32_t kMaxImageFile = (1u << 14) - 1;

constexpr uint64_t alignUp(uint64_t offset) {
  return (offset + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
}

inline const ImageTrailer &trailerOf(std::span<const std::byte> image) {
  return *reinterpret_cast<const ImageTrailer *>(image.data() + image.size() -
                                                 sizeof(ImageTrailer));
}
inline const SectionEntry *sectionsOf(std::span<const std::byte> image) {
  const ImageTrailer &trailer = trailerOf(image);
  return reinterpret_cast<const SectionEntry *>(&trailer) - trailer.sectionCount;
}
template <typename T> std::span<const T> sectionOf(std::span<const std::byte> image, Section s) {
  const SectionEntry &entry = sectionsOf(image)[static_cast<size_t>(s)];
  return {reinterpret_cast<const T *>(image.data() + entry.offset), entry.count};
}

/// The checksum that the trailer of these bytes should carry.
uint64_t imageChecksum(std::span<const std::byte> image);

} // namespace colldsl
