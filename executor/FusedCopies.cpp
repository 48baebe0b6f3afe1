#include "executor/FusedCopies.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr size_t kMaxOps = 1024;
constexpr size_t kMaxAncestors = 64;

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
      : view_(view), memory_(memory), steps_(steps), predecessors_(view.ops.size()) {
    for (uint32_t op = 0; op < view.ops.size(); ++op)
      for (uint32_t after : successors(op))
        predecessors_[after].push_back(op);
  }

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

  // They hold what they held, whenever the copy is made.
  bool readsInputs(uint32_t op) const {
    auto sources = view_.sources(view_.ops[op]);
    return std::all_of(sources.begin(), sources.end(), [&](const Slice &slice) {
      const Buffer &buffer = view_.buffers[index(slice.buffer)];
      return buffer.role == BufferRole::In && buffer.aliasOf == kNoBuffer;
    });
  }

  bool anyTouches(std::span<const Slice> slices, const Range &range) const {
    return std::any_of(slices.begin(), slices.end(), [&](const Slice &slice) {
      std::byte *begin = memory_.addressOf(slice);
      return range.overlaps({begin, begin + memory_.rangeOf(slice).length});
    });
  }

  bool reads(uint32_t op, const Range &range) const {
    return anyTouches(view_.sources(view_.ops[op]), range);
  }

  bool touches(uint32_t op, const Range &range) const {
    return reads(op, range) || anyTouches(view_.targets(view_.ops[op]), range);
  }

  // An op that touches the target of the combine and is not before the combine comes after it.
  bool isTouchedBetween(uint32_t copy, uint32_t combine, const Range &range) const {
    std::vector<uint32_t> before = predecessors_[combine];
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] == copy)
        continue;
      if (before.size() > kMaxAncestors || touches(before[i], range))
        return true;
      for (uint32_t op : predecessors_[before[i]])
        if (std::find(before.begin(), before.end(), op) == before.end())
          before.push_back(op);
    }
    return false;
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

  // Cuts the target of the combine out of what is left of the copy.
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
  std::vector<std::vector<uint32_t>> predecessors_;
};

void fuseCopies(const RankView &view, const Memory &memory, Steps &steps) {
  if (view.ops.size() <= kMaxOps)
    FusedCopies(view, memory, steps).fuseAll();
}

} // namespace colldsl
