// The check that stands between a file and everything that trusts it. An image has
// one spelling per schedule, and the check accepts only that: sections at their one
// place, parts of ranks without gaps, zeros between, defaults in fields that do not
// apply. So nothing hides in an image, and decode + encode gives the same bytes.

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
  uint64_t nameCount() const { return header().nameCount; }
  uint64_t fileCount() const { return entry(Section::StringEnds).count - 1 - nameCount(); }

private:
  /// A kind of record, and where ImageRank says which of them are a rank's.
  struct Column {
    const char *what;
    Section section;
    uint64_t ImageRank::*begin;
    uint32_t ImageRank::*count;
  };

  Status checkStart() const;
  Status checkSections() const;
  Status checkSection(uint32_t s, uint64_t &end) const;
  Status checkHeaderFields() const;
  Status checkStrings() const;
  Status checkParts() const;
  Status checkColumn(const Column &column) const;

  const ImageHeader &header() const {
    return *reinterpret_cast<const ImageHeader *>(bytes_.data());
  }
  const SectionEntry &entry(Section s) const { return header().sections[static_cast<size_t>(s)]; }
  template <typename T> const T *at(Section s) const {
    return reinterpret_cast<const T *>(bytes_.data() + entry(s).offset);
  }
  template <typename... Parts> static Status fail(const Parts &...parts) {
    return Status::error(concat("image: ", parts...));
  }

  std::span<const std::byte> bytes_;
};

bool isZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Status FrameChecker::checkStart() const {
  if (bytes_.size() < sizeof(ImageHeader))
    return fail("has ", bytes_.size(), " bytes, a header alone has ", sizeof(ImageHeader));
  if (reinterpret_cast<uintptr_t>(bytes_.data()) % alignof(ImageOp) != 0)
    return fail("lies at an address that is not a multiple of ", alignof(ImageOp));
  if (std::memcmp(header().magic, kImageMagic, sizeof kImageMagic) != 0)
    return fail("does not begin with the magic word of a colldsl image");
  if (header().major != kImageMajor)
    return fail("has format version ", header().major, ", this program reads version ",
                kImageMajor);
  if (header().sizeBytes != bytes_.size())
    return fail("says it has ", header().sizeBytes, " bytes, the file has ", bytes_.size());
  if (header().checksum != imageChecksum(bytes_))
    return fail("does not match its checksum");
  return {};
}

// A newer minor version may add sections behind those known here, and flags.
Status FrameChecker::checkHeaderFields() const {
  bool isOurs = header().minor == kImageMinor;
  if (header().sectionCount < kSections || (isOurs && header().sectionCount != kSections))
    return fail("has ", header().sectionCount, " sections, its version has ", kSections);
  if (isOurs && (header().flags & ~kAllFlags) != 0)
    return fail("has unknown flags ", header().flags & ~kAllFlags);
  const ImageHeader &h = header();
  if (h.classMin > h.classElements || h.classElements > h.classMax)
    return fail("was made at n = ", h.classElements, ", outside of its size class ", h.classMin,
                "..", h.classMax);
  return {};
}

// `end` is where the section before ends; moves to the end of this one.
Status FrameChecker::checkSection(uint32_t s, uint64_t &end) const {
  const SectionEntry &e = header().sections.data()[s];
  if (s < kSections && e.recordBytes != kRecordBytes[s])
    return fail("section ", s, " has records of ", e.recordBytes, " bytes, not ", kRecordBytes[s]);
  if (e.offset != alignUp(end) || e.offset > bytes_.size())
    return fail("section ", s, " begins at byte ", e.offset, ", the one before it ends at ", end);
  if (e.recordBytes != 0 && e.count > (bytes_.size() - e.offset) / e.recordBytes)
    return fail("section ", s, " has ", e.count, " records, the file ends before");
  if (!isZero(bytes_.subspan(end, e.offset - end)))
    return fail("the bytes before section ", s, " are not zero");
  end = e.offset + e.count * e.recordBytes;
  return {};
}

Status FrameChecker::checkSections() const {
  uint64_t end =
      offsetof(ImageHeader, sections) + uint64_t{header().sectionCount} * sizeof(SectionEntry);
  if (end > bytes_.size())
    return fail("ends inside its table of ", header().sectionCount, " sections");
  for (uint32_t s = 0; s < header().sectionCount; ++s)
    if (Status status = checkSection(s, end); !status)
      return status;
  if (end != bytes_.size())
    return fail("has ", bytes_.size() - end, " bytes behind its last section");
  if (entry(Section::Ranks).count > index(kNoRank))
    return fail("has ", entry(Section::Ranks).count, " ranks, more than 32 bits can name");
  return {};
}

Status FrameChecker::checkStrings() const {
  uint64_t count = entry(Section::StringEnds).count;
  if (count < 1 + nameCount())
    return fail("has ", count, " strings, too few for ", nameCount(), " names");
  const uint64_t *ends = at<uint64_t>(Section::StringEnds);
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

Status FrameChecker::checkColumn(const Column &c) const {
  uint64_t end = 0;
  for (uint64_t r = 0; r < entry(Section::Ranks).count; ++r) {
    const ImageRank &rank = at<ImageRank>(Section::Ranks)[r];
    if (rank.*c.begin != end)
      return fail("rank ", r, ": its ", c.what, " begin at ", rank.*c.begin,
                  ", those of the rank before end at ", end);
    if (rank.*c.count > entry(c.section).count - end)
      return fail("rank ", r, ": has ", rank.*c.count, " ", c.what, ", its section has ",
                  entry(c.section).count - end, " left");
    end += rank.*c.count;
  }
  if (end != entry(c.section).count)
    return fail("all ranks together have ", end, " ", c.what, ", their section has ",
                entry(c.section).count);
  return {};
}

Status FrameChecker::checkParts() const {
  static constexpr Column columns[] = {
      {"ops", Section::Ops, &ImageRank::opBegin, &ImageRank::opCount},
      {"successors", Section::Successors, &ImageRank::successorBegin, &ImageRank::successorCount},
      {"slices", Section::Slices, &ImageRank::sliceBegin, &ImageRank::sliceCount},
      {"buffers", Section::Buffers, &ImageRank::bufferBegin, &ImageRank::bufferCount},
      {"promises", Section::Ensures, &ImageRank::ensureBegin, &ImageRank::ensureCount},
      {"operands", Section::Operands, &ImageRank::operandBegin, &ImageRank::operandCount}};
  for (const Column &column : columns)
    if (Status s = checkColumn(column); !s)
      return s;
  return {};
}

Status FrameChecker::run() {
  if (Status s = checkStart(); !s)
    return s;
  if (Status s = checkHeaderFields(); !s)
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
