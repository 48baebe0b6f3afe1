/// Writes an image as its ranks are made: bytes that were written are never needed again, so that
/// neither all DAGs nor the image need to be in memory.
#pragma once

#include "ir/Checksum.h"
#include "ir/ImageLayout.h"
#include "ir/RankSchedule.h"

#include <functional>

namespace colldsl {

/// Takes the next bytes of an image; they are valid during the call.
using ImageSink = std::function<Status(std::span<const std::byte>)>;

/// Some ranks in a row, encoded. Independent of all other ranks, so that threads may
/// encode side by side; each needs its own.
class EncodedRanks {
public:
  /// A place in a file with a number from `files` on is left out.
  void add(const Dag &dag, uint32_t files);
  /// Keeps the memory.
  void clear();

  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  size_t sizeBytes() const { return size_; }
  uint64_t numOps() const;
  uint64_t numDeps() const;
  /// The buffers of the i-th of these ranks: names may be set until all are written. Valid until
  /// add().
  std::span<Buffer> buffers(uint32_t i);

private:
  friend class ImageWriter;

  std::byte *extend(size_t bytes);
  template <typename T> T *partAt(const ImageRank &rank, Part part) {
    return reinterpret_cast<T *>(bytes_.data() + rank.offset + offsetInPart(rank, part));
  }

  std::vector<ImageRank> ranks_; ///< offsets count from the first one's
  std::vector<std::byte> bytes_; ///< the first size_ are in use
  size_t size_ = 0;
  SuccessorLinks links_;
};

/// add() all ranks in order, then finish(). The first error of the sink ends it all.
/// Keeps 32 bytes per rank. Not thread-safe.
class ImageWriter {
public:
  explicit ImageWriter(ImageSink sink) : sink_(std::move(sink)) {}

  Status add(const EncodedRanks &ranks);
  /// `shared`: the schedule without its ranks, which are not looked at.
  Status finish(const Schedule &shared);

private:
  Status begin();
  Status write(std::span<const std::byte> bytes);
  Status align();
  template <typename T> Status writeSection(Section s, std::span<const T> records);
  Status writeStrings(const Schedule &shared);
  Status writeTrailer(const Schedule &shared);

  ImageSink sink_;
  Xxh64 checksum_{0};
  uint64_t offset_ = 0;
  std::vector<ImageRank> ranks_;
  std::array<SectionEntry, kSections> sections_ = {};
};

} // namespace colldsl
