#include "executor/FusedCopies.h"

#include <algorithm>
#include <utility>

namespace colldsl {
namespace {

constexpr size_t kMaxFusedOps = 1024;

struct Range {
  const std::byte *begin, *end;
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
  bool contains(const Range &other) const { return begin <= other.begin && other.end <= end; }
};

Range targetOf(const LocalPiece &piece) { return {piece.target, piece.target + piece.bytes}; }

} // namespace

class FusedCopies {
public:
  FusedCopies(const RankView &view, const Memory &memory, Steps &steps)
      : view_(view), memory_(memory), steps_(steps) {}

  void fuseAll() {
    for (uint32_t op = 0; op < view_.ops.size(); ++op)
      if (isPlain(op, Step::Kind::Copy) && readsInputs(op))
        fuse(op);
  }

private:
  std::span<const uint32_t> successors(uint32_t op) const {
    const ImageOp &image = view_.ops[op];
    return view_.successors.subspan(image.successorBegin,
                                    size_t{image.requireCount} + image.irequireCount);
  }

  bool isPlain(uint32_t op, Step::Kind kind) const {
    return steps_.steps_[op].kind == kind && !steps_.steps_[op].variable;
  }

  // True if the copy reads only inputs, which have the same content at any time.
  bool readsInputs(uint32_t op) const {
    auto sources = view_.sources(view_.ops[op]);
    return std::all_of(sources.begin(), sources.end(), [&](const Slice &slice) {
      const Buffer &buffer = view_.buffers[index(slice.buffer)];
      return buffer.role == BufferRole::In && buffer.aliasOf == kNoBuffer &&
             std::none_of(view_.buffers.begin(), view_.buffers.end(),
                          [&](const Buffer &other) { return other.aliasOf == slice.buffer; });
    });
  }

  bool reads(uint32_t op, const Range &range) const {
    auto sources = view_.sources(view_.ops[op]);
    return std::any_of(sources.begin(), sources.end(), [&](const Slice &slice) {
      std::byte *begin = memory_.addressOf(slice);
      return range.overlaps({begin, begin + memory_.rangeOf(slice).length});
    });
  }

  struct Touch {
    Range range;
    uint32_t op;
  };

  void findTouches() {
    predecessors_.resize(view_.ops.size());
    seen_.resize(view_.ops.size());
    for (uint32_t op = 0; op < view_.ops.size(); ++op) {
      for (uint32_t after : successors(op).first(view_.ops[op].requireCount))
        predecessors_[after].push_back(op);
      for (auto slices : {view_.sources(view_.ops[op]), view_.targets(view_.ops[op])})
        for (const Slice &slice : slices) {
          std::byte *begin = memory_.addressOf(slice);
          touches_.push_back({{begin, begin + memory_.rangeOf(slice).length}, op});
        }
    }
  }

  // Ops that finish before the copy, or start after the combine, do not see which of both fills the
  // range. For other ops the dependencies of this rank do not tell: messages may order them.
  bool isTouchedBetween(uint32_t copy, uint32_t combine, const Range &range) {
    if (predecessors_.empty())
      findTouches();
    std::vector<uint32_t> open;
    for (const Touch &touch : touches_)
      if (touch.op != copy && touch.op != combine && touch.range.overlaps(range))
        open.push_back(touch.op);
    eraseReached(open, combine, [&](uint32_t op) { return successors(op); });
    eraseReached(open, copy,
                 [&](uint32_t op) -> std::span<const uint32_t> { return predecessors_[op]; });
    return !open.empty();
  }

  template <typename Next>
  void eraseReached(std::vector<uint32_t> &open, uint32_t from, Next next) {
    ++walk_;
    std::vector<uint32_t> queue{from};
    for (size_t at = 0; at < queue.size() && !open.empty(); ++at)
      for (uint32_t op : next(queue[at]))
        if (std::exchange(seen_[op], walk_) != walk_) {
          queue.push_back(op);
          std::erase(open, op);
        }
  }

  void fuse(uint32_t copy) {
    Step &step = steps_.steps_[copy];
    std::vector<LocalPiece> left(step.pieces, step.pieces + step.pieceCount);
    bool isLess = false;
    const ImageOp &image = view_.ops[copy];
    for (uint32_t op : successors(copy).first(image.requireCount))
      if (isPlain(op, Step::Kind::Combine))
        for (uint32_t i = 0; i < steps_.steps_[op].pieceCount; ++i)
          isLess |= take(left, copy, op, const_cast<LocalPiece &>(steps_.steps_[op].pieces[i]));
    if (!isLess)
      return;
    if (left.empty()) {
      step.kind = Step::Kind::Nothing;
      return;
    }
    step.pieceCount = static_cast<uint32_t>(left.size());
    step.payload.bytes = 0;
    for (const LocalPiece &piece : left)
      step.payload.bytes += piece.bytes;
    steps_.rests_.push_back(std::move(left));
    step.pieces = steps_.rests_.back().data();
  }

  // Cuts the target of the combine out of the rest of the copy.
  bool take(std::vector<LocalPiece> &left, uint32_t copy, uint32_t combine, LocalPiece &piece) {
    Range target = targetOf(piece);
    auto at = std::find_if(left.begin(), left.end(), [&](const LocalPiece &candidate) {
      return targetOf(candidate).contains(target);
    });
    if (at == left.end() || piece.first || reads(combine, target) ||
        isTouchedBetween(copy, combine, target))
      return false;
    LocalPiece whole = *at;
    left.erase(at);
    auto before = static_cast<uint64_t>(target.begin - whole.target);
    uint64_t end = before + piece.bytes;
    piece.first = whole.source + before;
    if (before > 0)
      left.push_back({whole.target, whole.source, before});
    if (end < whole.bytes)
      left.push_back({whole.target + end, whole.source + end, whole.bytes - end});
    return true;
  }

  const RankView &view_;
  const Memory &memory_;
  Steps &steps_;
  // Built for the first copy that may be fused.
  std::vector<std::vector<uint32_t>> predecessors_; ///< per op: those that it requires
  std::vector<Touch> touches_;
  std::vector<uint32_t> seen_; ///< per op: the last walk that reached it
  uint32_t walk_ = 0;
};

void fuseCopies(const RankView &view, const Memory &memory, Steps &steps) {
  if (view.ops.size() <= kMaxFusedOps)
    FusedCopies(view, memory, steps).fuseAll();
}

} // namespace colldsl
