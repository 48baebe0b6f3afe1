/// Expressions at any rank: from the expressions of a checked program to terms. An error that the
/// evaluation of a text would meet at some rank of some number of ranks (an index beyond a list,
/// arithmetic on `none`) is refused here by NotShown, as is everything that has no terms.
#pragma once

#include "parameterized/Axioms.h"

#include <set>

namespace colldsl::parameterized {

struct Buffer {
  std::string name;
  BufferRole role;
  std::optional<ElementType> type; ///< nothing: that of T
  unsigned dims;
  Term blocks;
  std::function<Term(const Term &block)> length; ///< of a block, in elements
  Term isSignificant;                            ///< at `rank`
  bool isOpen = false;                           ///< blocks of call-time length
  unsigned depth = 0;                            ///< of a temporary: loops around it
  bool holdsOther = false;                       ///< another parameter lies in it
};

/// Changes a variable until the end of a scope, errors included.
template <typename T> struct Changed {
  Changed(T &variable, T value) : variable(variable), before(variable) { variable = value; }
  ~Changed() { variable = before; }
  T &variable;
  T before;
};

/// The execution of one declaration.
struct Frame {
  DeclId decl;
  Term rank;  ///< who executes it, in the group that executes it
  Term ranks; ///< the size of this group
  std::vector<Value> ints, slices;
  std::vector<Value> sizes;
};

class Evaluator {
public:
  Evaluator(const Program &program, Prover &prover, Axioms &axioms, const Ranks &ranks);

  /// A frame of all ranks, or of a group.
  Frame makeFrame(DeclId decl, const std::optional<GroupValue> &group = {}) const;
  Frame makeFrame(DeclId decl, const Frame &caller) const;
  bool isWhole(const Frame &frame) const { return z3::eq(frame.ranks, ranks_.ranks); }

  Value evaluate(Frame &frame, ExprId id);
  Term integer(Frame &frame, ExprId id);
  Term condition(Frame &frame, ExprId id);
  SliceValue slice(Frame &frame, ExprId id);
  /// The values of an iterable of ints: how many, and each.
  ListValue list(Frame &frame, ExprId id);
  GroupValue group(Frame &frame, ExprId id);
  /// One slice, or a list of slices that has as many in each alternative.
  SliceValue slices(Frame &frame, ExprId id);
  /// Segment i of `segments(b, size)`, and how many there are.
  SliceValue segment(Frame &frame, ExprId id, const Term &i);
  Term segmentCount(Frame &frame, ExprId id);

  /// Refuses unless the condition follows from the facts.
  void require(SourceLoc loc, const Term &condition, const std::string &what);

  Term length(const Piece &piece);
  /// The length of a block that `holder` has.
  Term blockLength(unsigned buffer, const Term &block);
  /// A formula: the value is one of the parameter's candidates, if these are a range.
  Term isCandidate(Frame &frame, const Param &p, const Term &value);
  Term none() { return prover_.number(kNone); }

  Term holder; ///< of the slices that are evaluated: `rank`, but for operands of promises
  /// Trees may depend on indices of loops, as nothing but their root is used.
  bool treesMayVary = false;
  /// The conditions under which the text is executed where evaluation is.
  Terms facts;
  std::vector<Buffer> buffers;
  std::set<std::string> structures; ///< trees and graphs that the text declares and makes

  Terms leaders; ///< ranks, of `rank`, that lead groups, as the text names them

  const Program &program;

private:
  Value callFunction(Frame &frame, const Expr &e);
  Term builtin(Frame &frame, const Expr &e);
  Term binary(Frame &frame, const Expr &e);
  Term aggregation(Frame &frame, const Expr &e);
  Value select(Frame &frame, const Expr &e);
  Value makeTree(Frame &frame, const Expr &e);
  TreeValue tree(Frame &frame, const Expr &e);
  Level levelOf(const Frame &frame, const Expr &e) const;
  Term leaderOf(Frame &frame, const Expr &e, const Term &r);
  Term leader(Frame &frame, const Expr &e);
  GroupValue makeGroup(Frame &frame, const Expr &e);
  GroupValue keyed(const Term &condition, const Term &member);
  SliceValue cut(Frame &frame, const Expr &e);
  SliceValue part(const SliceValue &whole, const Division &division, const Term &count,
                  const Term &lo, const Term &hi, SourceLoc loc);
  Piece only(const SliceValue::Alternative &a, SourceLoc loc);
  void requireNumber(const Term &t, SourceLoc loc);
  void requireBits(SourceLoc loc, const Term &a, const Term &b, unsigned places);

  Prover &prover_;
  Axioms &axioms_;
  const Ranks &ranks_;
  Terms longPowers_;                ///< those that may have more bits than ranks
  std::vector<DeclId> calls_;       ///< functions that are being evaluated, within each other
  size_t openCalls_ = 0;            ///< so many of them are around a choice that is not decided
  unsigned groupDepth_ = 0;         ///< of groups within the conditions of others
  std::optional<Term> segmentSize_; ///< of all segments of the collective, with their type
  std::optional<ElementType> segmentType_;
};

} // namespace colldsl::parameterized
