#include "executor/CombiningReceives.h"

#include "executor/LocalWork.h"

namespace colldsl {
namespace {

constexpr size_t kMaxCombiningOps = 4096;

/// The number of ops that touch each buffer.
std::vector<uint32_t> countUses(const RankView &view) {
  std::vector<uint32_t> uses(view.buffers.size());
  for (const ImageOp &op : view.ops)
    for (auto slices : {view.sources(op), view.targets(op)})
      for (const Slice &slice : slices)
        ++uses[index(slice.buffer)];
  for (const Buffer &buffer : view.buffers)
    if (buffer.aliasOf != kNoBuffer)
      ++uses[index(buffer.aliasOf)];
  return uses;
}

/// True if the op receives one slice, into a temporary that one other op touches.
bool isReadOnce(const RankView &view, const ImageOp &op, std::span<const uint32_t> uses) {
  if (!travels(op) || sendsMessage(op.kind) || op.targetCount != 1)
    return false;
  BufferId target = view.targets(op)[0].buffer;
  const Buffer &buffer = view.buffers[index(target)];
  return buffer.role == BufferRole::Temp && buffer.aliasOf == kNoBuffer && uses[index(target)] == 2;
}

} // namespace

CombiningReceives::Pair::Pair(OpId combine, const Step &step, const Combiner &combiner,
                              uint64_t elementBytes)
    : op(combine), step(&step), combiner(&combiner) {
  this->elementBytes = elementBytes;
}

void CombiningReceives::Pair::combine(uint64_t offset, const std::byte *from, uint64_t bytes) {
  const LocalPiece &whole = step->pieces[0];
  colldsl::combine(
      *step, *combiner,
      {whole.target + offset, from, bytes, whole.first ? whole.first + offset : nullptr});
}

CombiningReceives::CombiningReceives(const RankView &view) : view_(view) {
  if (view.ops.size() > kMaxCombiningOps)
    return;
  std::vector<uint32_t> uses = countUses(view);
  for (uint32_t op = 0; op < view.ops.size(); ++op)
    if (isReadOnce(view, view.ops[op], uses))
      receives_.push_back(op);
}

/// The combine that reads all that the op receives; kNoOp: there is none.
OpId CombiningReceives::combineOf(const Steps &steps, uint32_t receive) const {
  const Step &step = steps[OpId{receive}];
  if (step.variable)
    return kNoOp;
  const ImageOp &op = view_.ops[receive];
  const iovec &here = step.payload.pieces[0];
  for (uint32_t next : view_.successors.subspan(op.successorBegin, op.requireCount)) {
    const Step &combine = steps[OpId{next}];
    if (combine.kind == Step::Kind::Combine && !combine.variable && combine.pieceCount == 1 &&
        combine.pieces[0].source == here.iov_base && combine.pieces[0].bytes == here.iov_len)
      return OpId{next};
  }
  return kNoOp;
}

void CombiningReceives::bind(const Steps &steps) {
  pairs_.clear();
  places_.clear();
  const Combiner &combiner = steps.combiner();
  if (combiner && !combiner.isPure)
    return;
  for (uint32_t receive : receives_) {
    OpId combine = combineOf(steps, receive);
    if (combine == kNoOp)
      continue;
    places_.resize(view_.ops.size(), kNone);
    places_[receive] = places_[index(combine)] = static_cast<uint32_t>(pairs_.size());
    pairs_.push_back(
        {combine, steps[combine], combiner,
         combiner ? combiner.elementBytes : sizeBytes(view_.ops[index(combine)].type)});
  }
}

} // namespace colldsl
