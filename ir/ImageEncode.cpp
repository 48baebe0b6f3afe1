#include "ir/Checksum.h"
#include "ir/ImageLayout.h"
#include "ir/Index32.h"
#include "ir/RankSchedule.h"

#include <algorithm>
#include <cstring>

namespace colldsl {
namespace {

// Stores one member of a record whose padding stays zero.
template <typename T> void put(std::byte *at, const T &member) {
  std::memcpy(at, &member, sizeof member);
}

// A place in a file that the table does not have is no place.
SourceLoc knownLoc(SourceLoc loc, uint32_t files) {
  return loc.known() && loc.file < files ? loc : SourceLoc{};
}

void encodeEnsures(const Contract &contract, uint32_t files, std::byte *at) {
  for (const Ensure &e : contract.ensures) {
    put(at + offsetof(Ensure, target), e.target);
    put(at + offsetof(Ensure, isReduction), e.isReduction);
    put(at + offsetof(Ensure, reduction), e.isReduction ? e.reduction : Reduction::Sum);
    put(at + offsetof(Ensure, operandBegin), e.operandBegin);
    put(at + offsetof(Ensure, operandCount), e.operandCount);
    put(at + offsetof(Ensure, loc), knownLoc(e.loc, files));
    at += sizeof(Ensure);
  }
}

void encodeOperands(const Contract &contract, std::byte *at) {
  for (const EntryValue &value : contract.operands) {
    put(at + offsetof(EntryValue, rank), value.rank);
    put(at + offsetof(EntryValue, slice), value.slice);
    at += sizeof(EntryValue);
  }
}

ImageRank measure(const Dag &dag) {
  ImageRank rank = {};
  rank.opCount = index32(dag.ops.size());
  rank.sliceCount = index32(dag.slices.size());
  rank.bufferCount = index32(dag.buffers.size());
  rank.ensureCount = index32(dag.contract.ensures.size());
  rank.operandCount = index32(dag.contract.operands.size());
  size_t successors = 0;
  for (const Op &op : dag.ops)
    successors += op.depCount;
  rank.successorCount = index32(successors);
  return rank;
}

class ImageEncoder {
public:
  explicit ImageEncoder(const Schedule &schedule) : schedule_(schedule) {}
  std::vector<std::byte> run();

private:
  void encodeRank(const Dag &dag);
  void encodeStrings();
  void encodeTrailer();
  /// Appends zeros up to the next multiple of kImageAlignment.
  void align() { image_.resize(alignUp(image_.size())); }
  template <typename T> void append(std::span<const T> records) {
    auto bytes = std::as_bytes(records);
    image_.insert(image_.end(), bytes.begin(), bytes.end());
  }
  template <typename T> void appendSection(Section s, std::span<const T> records) {
    align();
    sections_[static_cast<size_t>(s)] = {image_.size(), records.size(), sizeof(T)};
    append(records);
  }
  template <typename T> T *partAt(const ImageRank &rank, Part part) {
    return reinterpret_cast<T *>(image_.data() + rank.offset + offsetInPart(rank, part));
  }

  const Schedule &schedule_;
  std::vector<std::byte> image_;
  std::vector<ImageRank> ranks_;
  std::array<SectionEntry, kSections> sections_ = {};
  SuccessorLinks links_;
};

void ImageEncoder::encodeRank(const Dag &dag) {
  ImageRank rank = measure(dag);
  rank.offset = image_.size();
  image_.resize(rank.offset + alignUp(partBytes(rank)));
  auto files = index32(schedule_.files.size());
  auto *ops = partAt<ImageOp>(rank, Part::Ops);
  for (uint32_t i = 0; i < dag.size(); ++i)
    ops[i] = imageOp(dag.ops[i], knownLoc(dag.ops[i].loc, files));
  std::copy(dag.slices.begin(), dag.slices.end(), partAt<Slice>(rank, Part::Slices));
  std::copy(dag.buffers.begin(), dag.buffers.end(), partAt<Buffer>(rank, Part::Buffers));
  encodeEnsures(dag.contract, files, partAt<std::byte>(rank, Part::Ensures));
  encodeOperands(dag.contract, partAt<std::byte>(rank, Part::Operands));
  links_.link(dag, {ops, dag.size()},
              {partAt<uint32_t>(rank, Part::Successors), rank.successorCount});
  ranks_.push_back(rank);
}

void ImageEncoder::encodeStrings() {
  std::vector<uint64_t> ends;
  std::string all;
  auto add = [&](const std::string &s) {
    all += s;
    ends.push_back(all.size());
  };
  add(schedule_.name);
  std::for_each(schedule_.names.begin(), schedule_.names.end(), add);
  std::for_each(schedule_.files.begin(), schedule_.files.end(), add);
  appendSection<uint64_t>(Section::StringEnds, ends);
  appendSection<char>(Section::StringBytes, all);
}

void ImageEncoder::encodeTrailer() {
  ImageTrailer trailer = {};
  trailer.flags = (schedule_.hasContract ? kHasContract : 0u) |
                  (schedule_.synchronizes ? kSynchronizes : 0u) |
                  (schedule_.deterministic ? kDeterministic : 0u);
  trailer.sectionCount = kSections;
  trailer.nameCount = index32(schedule_.names.size());
  trailer.classElements = schedule_.sizeClass.elements;
  trailer.classMin = schedule_.sizeClass.min;
  trailer.classMax = schedule_.sizeClass.max;
  trailer.sizeBytes = image_.size() + sizeof trailer;
  append(std::span<const ImageTrailer>(&trailer, 1));
  uint64_t checksum = imageChecksum(image_);
  put(image_.data() + image_.size() - sizeof checksum, checksum);
}

std::vector<std::byte> ImageEncoder::run() {
  size_t parts = 0;
  for (const Dag &dag : schedule_.ranks)
    parts += alignUp(partBytes(measure(dag))) + sizeof(ImageRank);
  image_.reserve(parts + sizeof(ImageHeader) + sizeof(ImageTrailer));
  ImageHeader header = {};
  std::copy(std::begin(kImageMagic), std::end(kImageMagic), header.magic);
  header.major = kImageMajor;
  header.minor = kImageMinor;
  append(std::span<const ImageHeader>(&header, 1));
  for (const Dag &dag : schedule_.ranks)
    encodeRank(dag);
  appendSection<ImageRank>(Section::Ranks, ranks_);
  encodeStrings();
  align();
  append(std::span<const SectionEntry>(sections_));
  encodeTrailer();
  return std::move(image_);
}

} // namespace

uint64_t imageChecksum(std::span<const std::byte> image) {
  return xxh64(image.first(image.size() - sizeof(uint64_t)), 0);
}

std::vector<std::byte> encodeImage(const Schedule &schedule) {
  return ImageEncoder(schedule).run();
}

} // namespace colldsl
