#include "ir/Checksum.h"
#include "ir/ImageLayout.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

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
  void linkSuccessors(const Dag &dag, const ImageRank &part);
  void encodeContract(const Contract &contract, const ImageRank &part);
  ImageOp encodeOp(const Op &op) const;
  SourceLoc encodeLoc(SourceLoc loc) const;
  void encodeStrings();

  const Schedule &schedule_;
  ImageHeader header_ = {};
  ImageRank next_ = {}; ///< where the next rank's parts begin
  std::vector<std::byte> bytes_;
  std::vector<uint32_t> cursor_; ///< per op of one rank: where its next successor goes
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

// Fields without a meaning for the op's kind are stored as their defaults, so that
// equal schedules give equal bytes.
ImageOp Encoder::encodeOp(const Op &op) const {
  bool reduces = op.kind == OpKind::Combine;
  bool isSized = op.kind != OpKind::Signal && op.kind != OpKind::Wait && op.sourceCount == 0 &&
                 op.targetCount == 0;
  SourceLoc loc = encodeLoc(op.loc);
  ImageOp out = {};
  out.kind = op.kind;
  out.side = reduces ? op.side : Side::After;
  out.reduction = reduces ? op.reduction : Reduction::Sum;
  out.type = reduces ? op.type : ElementType::I32;
  out.peer = isMessage(op.kind) ? op.peer : kNoRank;
  out.message = isMessage(op.kind) ? op.message : MessageId{0};
  out.sourceBegin = op.sourceCount == 0 ? 0 : op.sourceBegin;
  out.sourceCount = op.sourceCount;
  out.targetBegin = op.targetCount == 0 ? 0 : op.targetBegin;
  out.targetCount = op.targetCount;
  out.amount = isSized ? op.amount : 0;
  out.depCount = op.depCount;
  out.line = std::min(loc.line, kMaxImageLine);
  out.column = std::min<uint32_t>(loc.column, kMaxImageColumn);
  out.file = std::min<uint32_t>(loc.file, kMaxImageFile);
  out.cpu = op.cpu;
  out.nic = op.nic;
  return out;
}

void Encoder::encodeOps(const Dag &dag, const ImageRank &part) {
  ImageOp *ops = sectionAt<ImageOp>(Section::Ops) + part.opBegin;
  for (uint32_t i = 0; i < dag.size(); ++i)
    ops[i] = encodeOp(dag.ops[i]);
  linkSuccessors(dag, part);
}

// Turns each op's list of what it waits for into lists of what it releases: counts
// them, gives each op its place, then fills the places in op order. So each list
// is ascending.
void Encoder::linkSuccessors(const Dag &dag, const ImageRank &part) {
  ImageOp *ops = sectionAt<ImageOp>(Section::Ops) + part.opBegin;
  uint32_t *successors = sectionAt<uint32_t>(Section::Successors) + part.successorBegin;
  for (const Op &op : dag.ops)
    for (const Dep &dep : dag.depsOf(op))
      ++(dep.kind == DepKind::Requires ? ops[index(dep.op)].requireCount
                                       : ops[index(dep.op)].irequireCount);
  uint32_t end = 0;
  for (uint32_t i = 0; i < dag.size(); ++i) {
    ops[i].successorBegin = end;
    end += ops[i].requireCount + ops[i].irequireCount;
  }
  cursor_.assign(size_t{dag.size()} * 2, 0);
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i])) {
      bool isStart = dep.kind == DepKind::IRequires;
      const ImageOp &from = ops[index(dep.op)];
      uint32_t place = cursor_[size_t{index(dep.op)} * 2 + isStart]++;
      successors[from.successorBegin + (isStart ? from.requireCount : 0) + place] = i;
    }
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
