#include "executor/FusedCopies.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace colldsl {
namespace {

constexpr size_t kMaxFusedOps = 1024;

} // namespace

FusedCopies::FusedCopies(const RankView &view) : view_(view) {
  if (view.ops.size() > kMaxFusedOps)
    return;
  for (uint32_t op = 0; op < view.ops.size(); ++op) {
    const ImageOp &image = view.ops[op];
    if (image.kind != OpKind::Copy || !readsInputs(op))
      continue;
    for (uint32_t after : successors(op).first(image.requireCount))
      if (view.ops[after].kind == OpKind::Combine)
        pairs_.push_back({op, after});
  }
}

std::span<const uint32_t> FusedCopies::successors(uint32_t op) const {
  const ImageOp &image = view_.ops[op];
  return view_.successors.subspan(image.successorBegin,
                                  size_t{image.requireCount} + image.irequireCount);
}

// True if the copy reads only inputs, which have the same content at any time.
bool FusedCopies::readsInputs(uint32_t op) const {
  auto sources = view_.sources(view_.ops[op]);
  return std::all_of(sources.begin(), sources.end(), [&](const Slice &slice) {
    const Buffer &buffer = view_.buffers[index(slice.buffer)];
    return buffer.role == BufferRole::In && buffer.aliasOf == kNoBuffer &&
           std::none_of(view_.buffers.begin(), view_.buffers.end(),
                        [&](const Buffer &other) { return other.aliasOf == slice.buffer; });
  });
}

void FusedCopies::fuse(const Memory &memory, Steps &steps) {
  for (size_t begin = 0, end = 0; begin < pairs_.size(); begin = end) {
    while (end < pairs_.size() && pairs_[end].copy == pairs_[begin].copy)
      ++end;
    fuse(std::span(pairs_).subspan(begin, end - begin), memory, steps);
  }
}

void FusedCopies::fuse(std::span<Pair> ofCopy, const Memory &memory, Steps &steps) {
  Step &copy = steps.steps_[ofCopy.front().copy];
  if (copy.variable)
    return;
  left_.assign(copy.pieces, copy.pieces + copy.pieceCount);
  bool isLess = false;
  for (Pair &pair : ofCopy) {
    const Step &combine = steps.steps_[pair.combine];
    for (uint32_t i = 0; i < combine.pieceCount && !combine.variable; ++i)
      isLess |= take(pair, memory, const_cast<LocalPiece &>(combine.pieces[i]));
  }
  if (!isLess)
    return;
  if (left_.empty()) {
    copy.kind = Step::Kind::Nothing;
    return;
  }
  copy.pieceCount = static_cast<uint32_t>(left_.size());
  copy.payload.bytes =
      std::accumulate(left_.begin(), left_.end(), uint64_t{0},
                      [](uint64_t sum, const LocalPiece &piece) { return sum + piece.bytes; });
  copy.pieces = steps.rests_.emplace_back(left_).data();
}

// Cuts the target of the combine out of the rest of the copy.
bool FusedCopies::take(Pair &pair, const Memory &memory, LocalPiece &piece) {
  Range target = targetOf(piece);
  auto at = std::find_if(left_.begin(), left_.end(), [&](const LocalPiece &candidate) {
    return targetOf(candidate).contains(target);
  });
  if (at == left_.end() || piece.first ||
      touches(memory, view_.sources(view_.ops[pair.combine]), target) ||
      isTouchedBetween(pair, memory, target))
    return false;
  LocalPiece whole = *at;
  left_.erase(at);
  auto before = static_cast<uint64_t>(target.begin - whole.target);
  uint64_t end = before + piece.bytes;
  piece.first = whole.source + before;
  if (before > 0)
    left_.push_back({whole.target, whole.source, before});
  if (end < whole.bytes)
    left_.push_back({whole.target + end, whole.source + end, whole.bytes - end});
  return true;
}

bool FusedCopies::touches(const Memory &memory, std::span<const Slice> slices,
                          const Range &range) const {
  return std::any_of(slices.begin(), slices.end(), [&](const Slice &slice) {
    std::byte *begin = memory.addressOf(slice);
    return range.overlaps({begin, begin + memory.rangeOf(slice).length});
  });
}

// Ops that finish before the copy, or start after the combine, do not see which of both fills the
// range. For other ops the dependencies of this rank do not tell: messages may order them.
bool FusedCopies::isTouchedBetween(Pair &pair, const Memory &memory, const Range &range) {
  if (!std::exchange(pair.isOrdered, true))
    order(pair);
  return std::any_of(pair.between.begin(), pair.between.end(), [&](uint32_t op) {
    return touches(memory, view_.sources(view_.ops[op]), range) ||
           touches(memory, view_.targets(view_.ops[op]), range);
  });
}

void FusedCopies::order(Pair &pair) {
  if (predecessors_.empty()) {
    predecessors_.resize(view_.ops.size());
    seen_.resize(view_.ops.size());
    for (uint32_t op = 0; op < view_.ops.size(); ++op)
      for (uint32_t after : successors(op).first(view_.ops[op].requireCount))
        predecessors_[after].push_back(op);
  }
  pair.between.resize(view_.ops.size());
  std::iota(pair.between.begin(), pair.between.end(), 0);
  std::erase_if(pair.between, [&](uint32_t op) { return op == pair.copy || op == pair.combine; });
  eraseReached(pair.between, pair.combine, [&](uint32_t op) { return successors(op); });
  eraseReached(pair.between, pair.copy,
               [&](uint32_t op) -> std::span<const uint32_t> { return predecessors_[op]; });
  pair.between.shrink_to_fit();
}

template <typename Next>
void FusedCopies::eraseReached(std::vector<uint32_t> &open, uint32_t from, Next next) {
  ++walk_;
  std::vector<uint32_t> queue{from};
  for (size_t at = 0; at < queue.size() && !open.empty(); ++at)
    for (uint32_t op : next(queue[at]))
      if (std::exchange(seen_[op], walk_) != walk_)
        queue.push_back(op);
  std::erase_if(open, [&](uint32_t op) { return seen_[op] == walk_; });
}

} // namespace colldsl
