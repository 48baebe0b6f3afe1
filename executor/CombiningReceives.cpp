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

/// The only reader of the bytes of a receive, a combine that reads all of them; kNoOp: there is
/// none.
OpId combineOf(const RankView &view, const Steps &steps, uint32_t receive,
               std::span<const uint32_t> uses) {
  const ImageOp &op = view.ops[receive];
  const Step &step = steps[OpId{receive}];
  if (step.kind != Step::Kind::Recv || step.variable || op.targetCount != 1)
    return kNoOp;
  const Slice &target = view.targets(op)[0];
  const Buffer &buffer = view.buffers[index(target.buffer)];
  if (buffer.role != BufferRole::Temp || buffer.aliasOf != kNoBuffer ||
      uses[index(target.buffer)] != 2)
    return kNoOp;
  const iovec &here = step.payload.pieces[0];
  for (uint32_t next : view.successors.subspan(op.successorBegin, op.requireCount)) {
    const Step &combine = steps[OpId{next}];
    if (combine.kind == Step::Kind::Combine && !combine.variable && combine.pieceCount == 1 &&
        combine.pieces[0].source == here.iov_base && combine.pieces[0].bytes == here.iov_len)
      return OpId{next};
  }
  return kNoOp;
}

} // namespace

CombiningReceives::Pair::Pair(OpId combine, const Step &step, const Combiner &combiner,
                              uint64_t elementBytes)
    : op(combine), step(&step), combiner(&combiner) {
  this->elementBytes = elementBytes;
}

// The memory of a plan may move between runs.
void CombiningReceives::Pair::begin() {
  combinedBytes = 0;
  room = step->pieces[0].first ? step->pieces[0].target : nullptr;
}

void CombiningReceives::Pair::combine(uint64_t offset, const std::byte *from, uint64_t bytes) {
  const LocalPiece &whole = step->pieces[0];
  colldsl::combine(
      *step, *combiner,
      {whole.target + offset, from, bytes, whole.first ? whole.first + offset : nullptr});
}

CombiningReceives::CombiningReceives(const RankView &view, const Steps &steps) {
  if (view.ops.size() > kMaxCombiningOps || (steps.combiner() && !steps.combiner().isPure))
    return;
  std::vector<uint32_t> uses = countUses(view);
  for (uint32_t receive = 0; receive < view.ops.size(); ++receive) {
    OpId combine = combineOf(view, steps, receive, uses);
    if (combine == kNoOp)
      continue;
    places_.resize(view.ops.size(), kNone);
    places_[receive] = places_[index(combine)] = static_cast<uint32_t>(pairs_.size());
    const Combiner &combiner = steps.combiner();
    pairs_.push_back({combine, steps[combine], combiner,
                      combiner ? combiner.elementBytes : sizeBytes(view.ops[index(combine)].type)});
  }
}

} // namespace colldsl
