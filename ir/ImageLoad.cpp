// The check that stands between a file and everything that trusts it. An image has
// one spelling per schedule, and the check accepts only that: parts of ranks and sections
// at their one place, zeros between, defaults in fields that do not apply. So nothing hides in an
// image, and decode + encode gives the same bytes.

#include "ir/ImageCheck.h"
#include "ir/ImageLayout.h"

#include <algorithm>
#include <cstring>

namespace colldsl {
namespace {

/// Checks all that lies around the ranks' records.
class FrameChecker {
public:
  explicit FrameChecker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Status run();
  uint64_t nameCount() const { return trailer().nameCount; }
  uint64_t fileCount() const { return entry(Section::StringEnds).count - 1 - nameCount(); }

private:
  Status checkStart() const;
  Status checkTrailerFields() const;
  Status checkSections() const;
  Status checkSection(uint32_t s, uint64_t &end) const;
  Status checkStrings() const;
  Status checkParts() const;
  Status checkZeros(uint64_t begin, uint64_t end) const;

  const ImageHeader &header() const {
    return *reinterpret_cast<const ImageHeader *>(bytes_.data());
  }
  const ImageTrailer &trailer() const { return trailerOf(bytes_); }
  const SectionEntry &entry(Section s) const { return sectionsOf(bytes_)[static_cast<size_t>(s)]; }
  template <typename... Parts> static Status fail(const Parts &...parts) {
    return Status::error(concat("image: ", parts...));
  }

  std::span<const std::byte> bytes_;
};

bool isZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Status FrameChecker::checkStart() const {
  constexpr size_t least = sizeof(ImageHeader) + sizeof(ImageTrailer);
  if (bytes_.size() < least)
    return fail("has ", bytes_.size(), " bytes, header and trailer alone have ", least);
  if (reinterpret_cast<uintptr_t>(bytes_.data()) % alignof(ImageOp) != 0)
    return fail("lies at an address that is not a multiple of ", alignof(ImageOp));
  if (std::memcmp(header().magic, kImageMagic, sizeof kImageMagic) != 0)
    return fail("does not begin with the magic word of a colldsl image");
  if (header().major != kImageMajor)
    return fail("has format version ", header().major, ", this program reads version ",
                kImageMajor);
  if (bytes_.size() % alignof(ImageOp) != 0 || trailer().sizeBytes != bytes_.size())
    return fail("has ", bytes_.size(), " bytes, which is not the size that it says");
  if (trailer().checksum != imageChecksum(bytes_))
    return fail("does not match its checksum");
  return checkZeros(offsetof(ImageHeader, zeros), sizeof(ImageHeader));
}

Status FrameChecker::checkZeros(uint64_t begin, uint64_t end) const {
  if (isZero(bytes_.subspan(begin, end - begin)))
    return {};
  return fail("the bytes from ", begin, " to ", end, " are not zero");
}

// A newer minor version may add sections behind those known here, and flags.
Status FrameChecker::checkTrailerFields() const {
  const ImageTrailer &t = trailer();
  bool isOurs = header().minor == kImageMinor;
  if (t.sectionCount < kSections || (isOurs && t.sectionCount != kSections))
    return fail("has ", t.sectionCount, " sections, its version has ", kSections);
  if (t.sectionCount >
      (bytes_.size() - sizeof(ImageHeader) - sizeof(ImageTrailer)) / sizeof(SectionEntry))
    return fail("ends inside its table of ", t.sectionCount, " sections");
  if (isOurs && (t.flags & ~kAllFlags) != 0)
    return fail("has unknown flags ", t.flags & ~kAllFlags);
  if ((t.flags & (kSynchronizes | kDeterministic)) != 0 && (t.flags & kHasContract) == 0)
    return fail("states 'synchronizes' or 'deterministic' without a contract");
  if (t.classMin > t.classElements || t.classElements > t.classMax)
    return fail("was made at n = ", t.classElements, ", outside of its size class ", t.classMin,
                "..", t.classMax);
  return isZero(std::as_bytes(std::span(t.zeros))) ? Status()
                                                   : fail("its trailer has fields that are not "
                                                          "zero");
}

// `end` is where the section before ends; moves to the end of this one.
Status FrameChecker::checkSection(uint32_t s, uint64_t &end) const {
  const SectionEntry &e = sectionsOf(bytes_)[s];
  if (s < kSections && e.recordBytes != kSectionRecordBytes[s])
    return fail("section ", s, " has records of ", e.recordBytes, " bytes, not ",
                kSectionRecordBytes[s]);
  bool fits = s == 0 ? e.offset % kImageAlignment == 0 : e.offset == alignUp(end);
  if (!fits || e.offset < end || e.offset > bytes_.size())
    return fail("section ", s, " begins at byte ", e.offset, ", what is before it ends at ", end);
  if (e.recordBytes != 0 && e.count > (bytes_.size() - e.offset) / e.recordBytes)
    return fail("section ", s, " has ", e.count, " records, the file ends before");
  if (s != 0)
    if (Status status = checkZeros(end, e.offset); !status)
      return status;
  end = e.offset + e.count * e.recordBytes;
  return {};
}

Status FrameChecker::checkSections() const {
  uint64_t table = reinterpret_cast<const std::byte *>(sectionsOf(bytes_)) - bytes_.data();
  uint64_t end = sizeof(ImageHeader);
  for (uint32_t s = 0; s < trailer().sectionCount; ++s)
    if (Status status = checkSection(s, end); !status)
      return status;
  if (alignUp(end) != table)
    return fail("its last section ends at byte ", end, ", the table of sections begins at ", table);
  if (entry(Section::Ranks).count > index(kNoRank))
    return fail("has ", entry(Section::Ranks).count, " ranks, more than 32 bits can name");
  return checkZeros(end, table);
}

Status FrameChecker::checkStrings() const {
  uint64_t count = entry(Section::StringEnds).count;
  if (count < 1 + nameCount())
    return fail("has ", count, " strings, too few for ", nameCount(), " names");
  auto ends = sectionOf<uint64_t>(bytes_, Section::StringEnds);
  uint64_t previous = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (ends[i] < previous || ends[i] > entry(Section::StringBytes).count)
      return fail("string ", i, " ends outside of its section");
    previous = ends[i];
  }
  if (previous != entry(Section::StringBytes).count)
    return fail("has characters behind its last string");
  return {};
}

// Each rank's part begins where the one before ends, the section of ranks behind the last.
Status FrameChecker::checkParts() const {
  auto ranks = sectionOf<ImageRank>(bytes_, Section::Ranks);
  uint64_t last = entry(Section::Ranks).offset;
  uint64_t end = sizeof(ImageHeader);
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].offset != end)
      return fail("rank ", r, ": its part begins at byte ", ranks[r].offset,
                  ", the one before it ends at ", end);
    // No overflow: a rank has at most 2^32 records of each kind.
    uint64_t size = partBytes(ranks[r]), padded = alignUp(size);
    if (padded > last - end)
      return fail("rank ", r, ": its part has ", size, " bytes, ", last - end, " are left");
    if (Status s = checkZeros(end + size, end + padded); !s)
      return s;
    end += padded;
  }
  if (end != last)
    return fail("all ranks together end at byte ", end, ", the section of ranks begins at ", last);
  return {};
}

Status FrameChecker::run() {
  if (Status s = checkStart(); !s)
    return s;
  if (Status s = checkTrailerFields(); !s)
    return s;
  if (Status s = checkSections(); !s)
    return s;
  if (Status s = checkStrings(); !s)
    return s;
  return checkParts();
}

} // namespace

Result<Image> Image::load(std::span<const std::byte> bytes) {
  FrameChecker frame(bytes);
  if (Status s = frame.run(); !s)
    return s;
  Image image(bytes);
  RankChecker ranks(image, frame.nameCount(), frame.fileCount());
  for (uint32_t r = 0; r < image.numRanks(); ++r)
    if (Status s = ranks.checkBuffers(Rank{r}); !s)
      return s;
  for (uint32_t r = 0; r < image.numRanks(); ++r)
    if (Status s = ranks.checkRest(Rank{r}); !s)
      return s;
  return image;
}

} // namespace colldsl
