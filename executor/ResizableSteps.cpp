#include "executor/ResizableSteps.h"

#include <algorithm>

namespace colldsl {

ResizableSteps::ResizableSteps(const RankView &view, const Memory &memory, Steps &steps)
    : memory_(memory), steps_(steps) {
  for (uint32_t op = 0; op < view.ops.size() && areKnown_; ++op)
    areKnown_ = add(view, op);
}

bool ResizableSteps::add(const RankView &view, uint32_t op) {
  const ImageOp &image = view.ops[op];
  const Step &step = steps_.steps_[op];
  if (step.variable)
    return false;
  if (isMessage(image.kind)) {
    std::span<const Slice> slices = steps_.messageSlices(op);
    if (travels(image) && !slices.empty())
      messages_.push_back({op, slices});
    return true;
  }
  if (image.kind == OpKind::Calc || step.kind == Step::Kind::Nothing)
    return true;
  std::span<const Slice> sources = view.sources(image), targets = view.targets(image);
  if (sources.size() != 1 || targets.size() != 1 || step.pieceCount > 1)
    return false;
  Local local{op, &targets[0], &sources[0]};
  bool isWhole = step.pieceCount == 0 || step.pieces[0].target == memory_.addressOf(targets[0]);
  if (!isWhole || (image.kind == OpKind::Combine && !findCopy(view, local)))
    return false;
  locals_.push_back(local);
  return true;
}

/// False: the combine has taken over a part of a copy, or parts of elements are combined.
bool ResizableSteps::findCopy(const RankView &view, Local &combine) const {
  const Step &step = steps_.steps_[combine.op];
  uint64_t unit =
      steps_.combiner_ ? steps_.combiner_.elementBytes : sizeBytes(view.ops[combine.op].type);
  if (step.pieceCount != 1 || memory_.elementBytesOf(*combine.target) % unit != 0)
    return false;
  const LocalPiece &piece = step.pieces[0];
  if (!piece.first)
    return true;
  for (uint32_t op = 0; op < view.ops.size(); ++op) {
    const ImageOp &copy = view.ops[op];
    if (copy.kind != OpKind::Copy || steps_.steps_[op].kind != Step::Kind::Nothing ||
        copy.sourceCount != 1 || copy.targetCount != 1)
      continue;
    const Slice &source = view.sources(copy)[0], &target = view.targets(copy)[0];
    if (memory_.addressOf(source) != piece.first || memory_.addressOf(target) != piece.target ||
        memory_.rangeOf(target).length != piece.bytes)
      continue;
    combine.copy = op;
    combine.first = &source;
    return true;
  }
  return false;
}

bool ResizableSteps::resize(const Combiner &combiner) {
  const Combiner &before = steps_.combiner_;
  if (!areKnown_ || bool(combiner) != bool(before) || combiner.isPure != before.isPure ||
      combiner.elementBytes != before.elementBytes)
    return false;
  steps_.combiner_ = combiner;
  steps_.work_ = {.combines = steps_.work_.combines};
  for (const Message &message : messages_) {
    Payload &payload = steps_.steps_[message.op].payload;
    payload.bytes = steps_.listPieces(message.slices, const_cast<iovec *>(payload.pieces));
    steps_.work_.maxBytes = std::max(steps_.work_.maxBytes, payload.bytes);
    steps_.work_.movedBytes += payload.bytes;
  }
  return std::all_of(locals_.begin(), locals_.end(),
                     [&](const Local &local) { return resize(local); });
}

bool ResizableSteps::resize(const Local &local) {
  uint64_t bytes = memory_.rangeOf(*local.target).length;
  if (bytes != memory_.rangeOf(*local.source).length)
    return false;
  Step &step = steps_.steps_[local.op];
  step.payload.bytes = bytes;
  step.pieceCount = bytes > 0;
  auto *piece = const_cast<LocalPiece *>(step.pieces);
  *piece = {memory_.addressOf(*local.target), memory_.addressOf(*local.source), bytes,
            local.first ? memory_.addressOf(*local.first) : nullptr};
  if (local.copy != kNone)
    steps_.steps_[local.copy].payload.bytes = bytes;
  if (step.kind == Step::Kind::Copy || local.copy != kNone)
    steps_.work_.movedBytes += bytes;
  return true;
}

} // namespace colldsl
