// Access to a checked image, and the way back to a schedule.

#include "ir/ImageLayout.h"

namespace colldsl {
namespace {

std::string_view stringAt(std::span<const std::byte> image, uint64_t i) {
  auto ends = sectionOf<uint64_t>(image, Section::StringEnds);
  uint64_t begin = i == 0 ? 0 : ends[i - 1];
  return {sectionOf<char>(image, Section::StringBytes).data() + begin, ends[i] - begin};
}

Op decodeOp(const ImageOp &in) {
  Op op;
  op.kind = in.kind;
  if (in.kind == OpKind::Combine)
    op.side = in.side();
  op.transfer = in.transfer();
  op.reduction = in.reduction;
  op.type = in.type;
  op.peer = in.peer;
  op.message = in.message;
  op.sourceBegin = in.sourceBegin;
  op.sourceCount = in.sourceCount;
  op.targetBegin = in.targetBegin;
  op.targetCount = in.targetCount;
  op.amount = in.amount;
  op.loc.line = static_cast<uint32_t>(in.line);
  op.loc.column = static_cast<uint16_t>(in.column);
  op.loc.file = static_cast<uint16_t>(in.file);
  op.depCount = in.depCount;
  op.cpu = static_cast<uint8_t>(in.cpu);
  op.nic = static_cast<uint8_t>(in.nic);
  return op;
}

// Each op's list of the ops that it waits for, ascending. If two dependencies name one op, the one
// that it must have finished stands before the one that it must have started.
void decodeDeps(const RankView &view, Dag &dag) {
  uint32_t end = 0;
  for (Op &op : dag.ops) {
    op.depBegin = end;
    end += op.depCount;
  }
  dag.deps.resize(end);
  std::vector<uint32_t> filled(dag.size());
  for (uint32_t i = 0; i < dag.size(); ++i) {
    const ImageOp &op = view.ops[i];
    for (uint32_t k = 0; k < op.requireCount + op.irequireCount; ++k) {
      uint32_t to = view.successors[op.successorBegin + k];
      DepKind kind = k < op.requireCount ? DepKind::Requires : DepKind::IRequires;
      dag.deps[dag.ops[to].depBegin + filled[to]++] = {OpId{i}, kind};
    }
  }
}

Dag decodeRank(const RankView &view) {
  Dag dag;
  dag.ops.reserve(view.ops.size());
  for (const ImageOp &op : view.ops)
    dag.ops.push_back(decodeOp(op));
  decodeDeps(view, dag);
  dag.slices.assign(view.slices.begin(), view.slices.end());
  dag.buffers.assign(view.buffers.begin(), view.buffers.end());
  dag.contract.ensures.assign(view.ensures.begin(), view.ensures.end());
  dag.contract.operands.assign(view.operands.begin(), view.operands.end());
  return dag;
}

} // namespace

uint32_t Image::numRanks() const {
  return static_cast<uint32_t>(sectionOf<ImageRank>(bytes_, Section::Ranks).size());
}

RankView Image::rank(Rank r) const {
  assert(index(r) < numRanks() && "the image has no such rank");
  const ImageRank &part = sectionOf<ImageRank>(bytes_, Section::Ranks)[index(r)];
  RankView view;
  view.rank = r;
  const std::byte *begin = bytes_.data() + part.offset;
  auto records = [&]<typename T>(std::span<const T> &of, Part kind) {
    of = {reinterpret_cast<const T *>(begin + offsetInPart(part, kind)),
          part.counts()[static_cast<size_t>(kind)]};
  };
  records(view.ops, Part::Ops);
  records(view.slices, Part::Slices);
  records(view.buffers, Part::Buffers);
  records(view.ensures, Part::Ensures);
  records(view.operands, Part::Operands);
  records(view.successors, Part::Successors);
  return view;
}

SizeClass Image::sizeClass() const {
  const ImageTrailer &trailer = trailerOf(bytes_);
  return {trailer.classElements, trailer.classMin, trailer.classMax};
}

std::string_view Image::name() const { return stringAt(bytes_, 0); }

std::string_view Image::bufferName(const Buffer &buffer) const {
  return buffer.name < trailerOf(bytes_).nameCount ? stringAt(bytes_, 1 + uint64_t{buffer.name})
                                                   : std::string_view();
}

std::string_view Image::fileName(uint16_t file) const {
  uint64_t i = 1 + uint64_t{trailerOf(bytes_).nameCount} + file;
  return i < sectionOf<uint64_t>(bytes_, Section::StringEnds).size() ? stringAt(bytes_, i)
                                                                     : std::string_view();
}

bool Image::hasContract() const { return trailerOf(bytes_).flags & kHasContract; }
bool Image::synchronizes() const { return trailerOf(bytes_).flags & kSynchronizes; }
bool Image::deterministic() const { return trailerOf(bytes_).flags & kDeterministic; }

Schedule Image::decode() const {
  Schedule schedule;
  schedule.name = name();
  schedule.sizeClass = sizeClass();
  schedule.hasContract = hasContract();
  schedule.synchronizes = synchronizes();
  schedule.deterministic = deterministic();
  uint64_t strings = sectionOf<uint64_t>(bytes_, Section::StringEnds).size();
  uint64_t firstFile = 1 + uint64_t{trailerOf(bytes_).nameCount};
  for (uint64_t i = 1; i < firstFile; ++i)
    schedule.names.emplace_back(stringAt(bytes_, i));
  for (uint64_t i = firstFile; i < strings; ++i)
    schedule.files.emplace_back(stringAt(bytes_, i));
  schedule.ranks.reserve(numRanks());
  for (uint32_t r = 0; r < numRanks(); ++r)
    schedule.ranks.push_back(decodeRank(rank(Rank{r})));
  return schedule;
}

} // namespace colldsl
