#include "ir/Checksum.h"
#include "ir/ImageLayout.h"
#include "ir/RankSchedule.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace colldsl {

uint64_t imageChecksum(std::span<const std::byte> image) {
  constexpr size_t at = offsetof(ImageHeader, checksum);
  return xxh64(image.subspan(at + sizeof(uint64_t)), xxh64(image.first(at), 0));
}

namespace {

// Stores one member of a record whose padding stays zero.
template <typename T> void put(std::byte *at, const T &member) {
  std::memcpy(at, &member, sizeof member);
}

class Encoder {
public:
  explicit Encoder(const Schedule &schedule) : schedule_(schedule) {}
  std::vector<std::byte> run();

private:
  void layOut();
  uint64_t &count(Section s) { return header_.sections[static_cast<size_t>(s)].count; }
  template <typename T> T *sectionAt(Section s) {
    return reinterpret_cast<T *>(bytes_.data() + header_.sections[static_cast<size_t>(s)].offset);
  }
  void encodeRank(uint32_t r);
  void encodeOps(const Dag &dag, const ImageRank &part);
  void encodeContract(const Contract &contract, const ImageRank &part);
  SourceLoc encodeLoc(SourceLoc loc) const;
  void encodeStrings();

  const Schedule &schedule_;
  ImageHeader header_ = {};
  ImageRank next_ = {}; ///< where the next rank's parts begin
  std::vector<std::byte> bytes_;
  SuccessorLinks links_;
};

void Encoder::layOut() {
  count(Section::Ranks) = schedule_.numRanks();
  for (const Dag &dag : schedule_.ranks) {
    count(Section::Ops) += dag.size();
    for (const Op &op : dag.ops)
      count(Section::Successors) += op.depCount;
    count(Section::Slices) += dag.slices.size();
    count(Section::Buffers) += dag.buffers.size();
    count(Section::Ensures) += dag.contract.ensures.size();
    count(Section::Operands) += dag.contract.operands.size();
  }
  count(Section::StringEnds) = 1 + schedule_.names.size() + schedule_.files.size();
  count(Section::StringBytes) = schedule_.name.size();
  for (const auto *strings : {&schedule_.names, &schedule_.files})
    for (const std::string &s : *strings)
      count(Section::StringBytes) += s.size();

  uint64_t end = sizeof(ImageHeader);
  for (size_t s = 0; s < kSections; ++s) {
    SectionEntry &entry = header_.sections[s];
    entry.recordBytes = kRecordBytes[s];
    entry.offset = alignUp(end);
    end = entry.offset + entry.count * entry.recordBytes;
  }
  header_.sizeBytes = end;
}

// A place in a file that the table does not have is no place.
SourceLoc Encoder::encodeLoc(SourceLoc loc) const {
  return loc.known() && loc.file < schedule_.files.size() ? loc : SourceLoc{};
}

void Encoder::encodeOps(const Dag &dag, const ImageRank &part) {
  ImageOp *ops = sectionAt<ImageOp>(Section::Ops) + part.opBegin;
  for (uint32_t i = 0; i < dag.size(); ++i)
    ops[i] = imageOp(dag.ops[i], encodeLoc(dag.ops[i].loc));
  uint32_t *successors = sectionAt<uint32_t>(Section::Successors) + part.successorBegin;
  links_.link(dag, {ops, dag.size()}, {successors, part.successorCount});
}

void Encoder::encodeContract(const Contract &contract, const ImageRank &part) {
  auto *at = sectionAt<std::byte>(Section::Ensures) + part.ensureBegin * sizeof(Ensure);
  for (const Ensure &e : contract.ensures) {
    put(at + offsetof(Ensure, target), e.target);
    put(at + offsetof(Ensure, isReduction), e.isReduction);
    put(at + offsetof(Ensure, reduction), e.isReduction ? e.reduction : Reduction::Sum);
    put(at + offsetof(Ensure, operandBegin), e.operandBegin);
    put(at + offsetof(Ensure, operandCount), e.operandCount);
    put(at + offsetof(Ensure, loc), encodeLoc(e.loc));
    at += sizeof(Ensure);
  }
  at = sectionAt<std::byte>(Section::Operands) + part.operandBegin * sizeof(EntryValue);
  for (const EntryValue &value : contract.operands) {
    put(at + offsetof(EntryValue, rank), value.rank);
    put(at + offsetof(EntryValue, slice), value.slice);
    at += sizeof(EntryValue);
  }
}

void Encoder::encodeRank(uint32_t r) {
  const Dag &dag = schedule_.ranks[r];
  ImageRank part = next_;
  part.opCount = dag.size();
  part.successorCount = 0;
  for (const Op &op : dag.ops)
    part.successorCount += op.depCount;
  part.sliceCount = static_cast<uint32_t>(dag.slices.size());
  part.bufferCount = static_cast<uint32_t>(dag.buffers.size());
  part.ensureCount = static_cast<uint32_t>(dag.contract.ensures.size());
  part.operandCount = static_cast<uint32_t>(dag.contract.operands.size());
  sectionAt<ImageRank>(Section::Ranks)[r] = part;

  encodeOps(dag, part);
  std::copy(dag.slices.begin(), dag.slices.end(),
            sectionAt<Slice>(Section::Slices) + part.sliceBegin);
  std::copy(dag.buffers.begin(), dag.buffers.end(),
            sectionAt<Buffer>(Section::Buffers) + part.bufferBegin);
  encodeContract(dag.contract, part);

  next_.opBegin += part.opCount;
  next_.successorBegin += part.successorCount;
  next_.sliceBegin += part.sliceCount;
  next_.bufferBegin += part.bufferCount;
  next_.ensureBegin += part.ensureCount;
  next_.operandBegin += part.operandCount;
}

void Encoder::encodeStrings() {
  uint64_t *ends = sectionAt<uint64_t>(Section::StringEnds);
  auto *chars = sectionAt<char>(Section::StringBytes);
  uint64_t end = 0;
  auto append = [&](const std::string &s) {
    std::copy(s.begin(), s.end(), chars + end);
    *ends++ = end += s.size();
  };
  append(schedule_.name);
  std::for_each(schedule_.names.begin(), schedule_.names.end(), append);
  std::for_each(schedule_.files.begin(), schedule_.files.end(), append);
}

std::vector<std::byte> Encoder::run() {
  std::copy(std::begin(kImageMagic), std::end(kImageMagic), header_.magic);
  header_.major = kImageMajor;
  header_.minor = kImageMinor;
  header_.flags = (schedule_.hasContract ? kHasContract : 0u) |
                  (schedule_.synchronizes ? kSynchronizes : 0u) |
                  (schedule_.deterministic ? kDeterministic : 0u);
  header_.classElements = schedule_.sizeClass.elements;
  header_.classMin = schedule_.sizeClass.min;
  header_.classMax = schedule_.sizeClass.max;
  header_.nameCount = static_cast<uint32_t>(schedule_.names.size());
  header_.sectionCount = kSections;
  layOut();

  bytes_.resize(header_.sizeBytes);
  put(bytes_.data(), header_);
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    encodeRank(r);
  encodeStrings();
  put(bytes_.data() + offsetof(ImageHeader, checksum), imageChecksum(bytes_));
  return std::move(bytes_);
}

} // namespace

std::vector<std::byte> encodeImage(const Schedule &schedule) { return Encoder(schedule).run(); }

} // namespace colldsl
