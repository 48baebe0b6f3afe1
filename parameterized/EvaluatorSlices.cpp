// Slices: runs of blocks, and elements of one block.
#include "parameterized/Evaluator.h"

namespace colldsl::parameterized {

Term Evaluator::length(const Piece &piece) {
  if (piece.isRun)
    throw NoFormula({}, "the length of several blocks has no formula yet");
  return piece.length;
}

Term Evaluator::blockLength(unsigned buffer, const Term &block) {
  // The block is one of `rank`'s indices, the length one of the holder's.
  Term at = prover_.constant("block.of.holder");
  return substitute(buffers[buffer].length(at), {ranks_.rank, at}, {holder, block});
}

Piece Evaluator::only(const SliceValue::Alternative &a, SourceLoc loc) {
  if (a.pieces.size() != 1)
    throw NoFormula(loc, "a list of slices has no formula here");
  return a.pieces[0];
}

SliceValue Evaluator::slice(Frame &frame, ExprId id) {
  const Expr &e = program.expr(id);
  switch (e.kind) {
  case ExprKind::LocalSlice:
    if (auto *s = std::get_if<SliceValue>(&frame.slices[e.slot]))
      return *s;
    throw NoFormula(e.loc, "this slice has no formula");
  case ExprKind::Select:
    return std::get<SliceValue>(select(frame, e));
  case ExprKind::Block:
  case ExprKind::Blocks:
  case ExprKind::Elements:
  case ExprKind::Part:
    return cut(frame, e);
  default:
    throw NoFormula(e.loc, "this slice has no formula yet");
  }
}

SliceValue Evaluator::cut(Frame &frame, const Expr &e) {
  if (e.kind == ExprKind::Part) {
    auto operand = [&](uint32_t i) { return ExprId{program.operands[index(e.a) + i]}; };
    SliceValue whole = slice(frame, operand(0));
    Term lo = integer(frame, operand(1)), count = integer(frame, operand(3));
    Term hi = operand(2) == kNoExpr ? lo + 1 : integer(frame, operand(2));
    require(e.loc, 0 <= lo && lo <= hi && hi <= count && count > 0,
            "a part may lie beyond the slice");
    return part(whole, axioms_.parts(), count, lo, hi, e.loc);
  }
  SliceValue cutSlice = slice(frame, e.a);
  Term first = integer(frame, e.b);
  std::optional<Term> last;
  if (e.c != kNoExpr)
    last = integer(frame, e.c);
  for (SliceValue::Alternative &a : cutSlice.alternatives) {
    Piece p = only(a, e.loc);
    facts.push_back(a.condition);
    if (e.kind == ExprKind::Elements) {
      Term end = last ? *last : first + 1;
      require(e.loc, 0 <= first && first <= end && end <= length(p),
              "elements may lie beyond the slice");
      p.begin = p.begin + first;
      p.length = end - first;
    } else if (e.kind == ExprKind::Blocks) {
      require(e.loc, 0 <= first && first <= *last && *last <= p.blocks,
              "blocks may lie beyond the buffer '" + buffers[p.buffer].name + "'");
      p.block = p.block + first;
      p.blocks = *last - first;
    } else {
      require(e.loc, 0 <= first && first < p.blocks,
              "a block may lie beyond the buffer '" + buffers[p.buffer].name + "'");
      p = {p.buffer,          false,
           p.block + first,   prover_.number(1),
           prover_.number(0), blockLength(p.buffer, p.block + first)};
    }
    facts.pop_back();
    p.block = p.block.simplify();
    a.pieces = {p};
  }
  return cutSlice;
}

SliceValue Evaluator::part(const SliceValue &whole, const Division &division, const Term &count,
                           const Term &lo, const Term &hi, SourceLoc loc) {
  SliceValue parts = whole;
  for (SliceValue::Alternative &a : parts.alternatives) {
    Piece p = only(a, loc);
    Term all = length(p);
    Term begin = division.begin(all, count, lo), end = division.begin(all, count, hi);
    p.begin = (p.begin + begin).simplify();
    p.length = end - begin;
    a.pieces = {p};
  }
  return parts;
}

Term Evaluator::segmentCount(Frame &frame, ExprId id) {
  const Expr &e = program.expr(id);
  SliceValue whole = slice(frame, e.a);
  Term size = integer(frame, e.b);
  require(e.loc, size >= 1, "segments may have no bytes");
  std::optional<Term> count;
  for (const SliceValue::Alternative &a : whole.alternatives) {
    // Boundaries depend on the size and on the type, which functions of segments do not name.
    const Buffer &buffer = buffers[only(a, e.loc).buffer];
    if (buffer.isOpen)
      throw NotShown(e.loc, "segments of open blocks have no formula");
    if (!segmentSize_) {
      segmentSize_ = size;
      segmentType_ = buffer.type;
    }
    if (!z3::eq(*segmentSize_, size) || segmentType_ != buffer.type)
      throw NotShown(e.loc, "segments of several sizes or types have no formula yet");
  }
  for (const SliceValue::Alternative &a : whole.alternatives) {
    Term one = axioms_.segmentCount(length(only(a, e.loc)), integer(frame, e.b));
    count = count ? z3::ite(a.condition, one, *count) : one;
  }
  return count->simplify();
}

SliceValue Evaluator::segment(Frame &frame, ExprId id, const Term &i) {
  const Expr &e = program.expr(id);
  SliceValue whole = slice(frame, e.a), picked;
  for (const SliceValue::Alternative &a : whole.alternatives) {
    Term count = axioms_.segmentCount(length(only(a, e.loc)), integer(frame, e.b));
    SliceValue one = part({{a}}, axioms_.segments(), count, i, i + 1, e.loc);
    picked.alternatives.push_back(one.alternatives[0]);
  }
  return picked;
}

SliceValue Evaluator::slices(Frame &frame, ExprId id) {
  const Expr &e = program.expr(id);
  if (e.kind == ExprKind::SliceComprehension)
    throw NoFormula(e.loc, "a list of slices over a loop has no formula yet");
  if (e.kind != ExprKind::SliceList)
    return slice(frame, id);
  SliceValue all{{{prover_.truth(true), {}}}};
  constexpr size_t kMostAlternatives = 64;
  for (uint32_t i = 0; i < index(e.b); ++i) {
    if (all.alternatives.size() > kMostAlternatives)
      throw NotShown(e.loc, "a list of slices with so many choices has no formula");
    SliceValue next = slices(frame, ExprId{program.operands[index(e.a) + i]}), joined;
    for (const SliceValue::Alternative &x : all.alternatives)
      for (const SliceValue::Alternative &y : next.alternatives) {
        SliceValue::Alternative both{x.condition && y.condition, x.pieces};
        both.pieces.insert(both.pieces.end(), y.pieces.begin(), y.pieces.end());
        joined.alternatives.push_back(both);
      }
    all = joined;
  }
  return all;
}

} // namespace colldsl::parameterized
