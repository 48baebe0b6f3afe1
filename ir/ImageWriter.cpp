#include "ir/ImageWriter.h"
#include "ir/Index32.h"

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

template <typename T> std::span<const std::byte> bytesOf(const T &record) {
  return std::as_bytes(std::span(&record, 1));
}

} // namespace

uint64_t imageChecksum(std::span<const std::byte> image) {
  return xxh64(image.first(image.size() - sizeof(uint64_t)), 0);
}

void EncodedRanks::clear() {
  ranks_.clear();
  size_ = 0;
}

/// Bytes that were in use before keep their values: the caller clears those that it does not
/// overwrite.
std::byte *EncodedRanks::extend(size_t bytes) {
  size_t begin = size_;
  size_ += bytes;
  if (bytes_.size() < size_)
    bytes_.resize(std::max(size_, bytes_.size() * 2));
  return bytes_.data() + begin;
}

void EncodedRanks::add(const Dag &dag, uint32_t files) {
  ImageRank rank = measure(dag);
  rank.offset = size_;
  std::byte *begin = extend(alignUp(partBytes(rank)));
  auto *ops = partAt<ImageOp>(rank, Part::Ops);
  for (const Op &op : dag.ops)
    *ops++ = imageOp(op, knownLoc(op.loc, files));
  std::copy(dag.slices.begin(), dag.slices.end(), partAt<Slice>(rank, Part::Slices));
  std::copy(dag.buffers.begin(), dag.buffers.end(), partAt<Buffer>(rank, Part::Buffers));
  auto *ensures = partAt<std::byte>(rank, Part::Ensures);
  auto *operands = partAt<std::byte>(rank, Part::Operands);
  auto *successors = partAt<uint32_t>(rank, Part::Successors);
  std::fill(ensures, reinterpret_cast<std::byte *>(successors), std::byte{0});
  encodeEnsures(dag.contract, files, ensures);
  encodeOperands(dag.contract, operands);
  links_.link(dag, {partAt<ImageOp>(rank, Part::Ops), dag.size()},
              {successors, rank.successorCount});
  std::fill(begin + partBytes(rank), bytes_.data() + size_, std::byte{0});
  ranks_.push_back(rank);
}

uint64_t EncodedRanks::numOps() const {
  uint64_t ops = 0;
  for (const ImageRank &rank : ranks_)
    ops += rank.opCount;
  return ops;
}

uint64_t EncodedRanks::numDeps() const {
  uint64_t deps = 0;
  for (const ImageRank &rank : ranks_)
    deps += rank.successorCount;
  return deps;
}

std::span<Buffer> EncodedRanks::buffers(uint32_t i) {
  return {partAt<Buffer>(ranks_[i], Part::Buffers), ranks_[i].bufferCount};
}

Status ImageWriter::write(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return {};
  checksum_.update(bytes);
  offset_ += bytes.size();
  return sink_(bytes);
}

Status ImageWriter::align() {
  static constexpr std::byte zeros[kImageAlignment] = {};
  return write(std::span(zeros).first(alignUp(offset_) - offset_));
}

Status ImageWriter::begin() {
  ImageHeader header = {};
  std::copy(std::begin(kImageMagic), std::end(kImageMagic), header.magic);
  header.major = kImageMajor;
  header.minor = kImageMinor;
  return write(bytesOf(header));
}

Status ImageWriter::add(const EncodedRanks &ranks) {
  if (offset_ == 0)
    if (Status s = begin(); !s)
      return s;
  for (ImageRank rank : ranks.ranks_) {
    rank.offset += offset_;
    ranks_.push_back(rank);
  }
  return write(std::span(ranks.bytes_).first(ranks.size_));
}

template <typename T> Status ImageWriter::writeSection(Section s, std::span<const T> records) {
  if (Status aligned = align(); !aligned)
    return aligned;
  sections_[static_cast<size_t>(s)] = {offset_, records.size(), sizeof(T)};
  return write(std::as_bytes(records));
}

Status ImageWriter::writeStrings(const Schedule &shared) {
  std::vector<uint64_t> ends;
  std::string all;
  auto append = [&](const std::string &s) {
    all += s;
    ends.push_back(all.size());
  };
  append(shared.name);
  std::for_each(shared.names.begin(), shared.names.end(), append);
  std::for_each(shared.files.begin(), shared.files.end(), append);
  if (Status s = writeSection<uint64_t>(Section::StringEnds, ends); !s)
    return s;
  return writeSection<char>(Section::StringBytes, all);
}

Status ImageWriter::writeTrailer(const Schedule &shared) {
  ImageTrailer trailer = {};
  trailer.flags = (shared.hasContract ? kHasContract : 0u) |
                  (shared.synchronizes ? kSynchronizes : 0u) |
                  (shared.deterministic ? kDeterministic : 0u);
  trailer.sectionCount = kSections;
  trailer.nameCount = index32(shared.names.size());
  trailer.classElements = shared.sizeClass.elements;
  trailer.classMin = shared.sizeClass.min;
  trailer.classMax = shared.sizeClass.max;
  trailer.sizeBytes = offset_ + sizeof trailer;
  auto bytes = bytesOf(trailer);
  checksum_.update(bytes.first(offsetof(ImageTrailer, checksum)));
  trailer.checksum = checksum_.digest();
  return sink_(bytes);
}

Status ImageWriter::finish(const Schedule &shared) {
  if (offset_ == 0)
    if (Status s = begin(); !s)
      return s;
  if (Status s = writeSection<ImageRank>(Section::Ranks, ranks_); !s)
    return s;
  if (Status s = writeStrings(shared); !s)
    return s;
  if (Status s = align(); !s)
    return s;
  if (Status s = write(std::as_bytes(std::span(sections_))); !s)
    return s;
  return writeTrailer(shared);
}

std::vector<std::byte> encodeImage(const Schedule &schedule) {
  std::vector<std::byte> image;
  size_t parts = 0;
  for (const Dag &dag : schedule.ranks)
    parts += alignUp(partBytes(measure(dag))) + sizeof(ImageRank);
  image.reserve(parts + sizeof(ImageHeader) + sizeof(ImageTrailer));
  ImageWriter writer([&](std::span<const std::byte> bytes) -> Status {
    image.insert(image.end(), bytes.begin(), bytes.end());
    return {};
  });
  EncodedRanks rank;
  for (const Dag &dag : schedule.ranks) {
    rank.clear();
    rank.add(dag, index32(schedule.files.size()));
    [[maybe_unused]] Status s = writer.add(rank);
    assert(s.ok());
  }
  [[maybe_unused]] Status s = writer.finish(schedule);
  assert(s.ok());
  return image;
}

} // namespace colldsl
