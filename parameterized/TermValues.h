/// The values of a body at any rank of any number of ranks: terms, and what is made of terms.
#pragma once

#include "parameterized/Prover.h"
#include "program/Program.h"

#include <optional>
#include <variant>

namespace colldsl::parameterized {

/// The text has something that this module cannot express.
struct NoFormula : NotShown {
  using NotShown::NotShown;
};

/// A tree as uninterpreted functions of ranks, with the axioms of trees (Trees.cpp). That the text
/// declares a tree is checked whenever one is made for a number of ranks.
struct Tree {
  std::string name;
  Term root;
  z3::func_decl parent, depth; ///< of a rank
  z3::func_decl children;      ///< how many
  z3::func_decl child, place;  ///< child(r, i); place(r, c): the i of which c is the child
  z3::func_decl isBelow;       ///< isBelow(r, s): s is r or lies below it
};

/// A graph as uninterpreted functions of a rank, and of the slots of its edges. Directions are 0
/// for the edges that leave, 1 for those that arrive.
struct Graph {
  std::string name;
  z3::func_decl degree[2];   ///< of a rank
  z3::func_decl peer[2];     ///< of a rank and a slot: `none` or the rank at the other end
  z3::func_decl peerSlot[2]; ///< the slot there
};

struct EdgeValue {
  const Graph *graph;
  unsigned direction;
  Term viewer, slot;
};

struct GraphValue {
  const Graph *graph;
  Term viewer;
};

struct ListValue {
  Term length;
  std::function<Term(const Term &)> at;
  const Tree *childrenOf = nullptr; ///< the list is that tree's children of `rank`
};

struct TreeValue {
  const Tree *tree; ///< null: nothing but the root is known
  Term viewer;      ///< the rank that asks: `t.parent` is parent(viewer)
  Term root;
  Terms rankArguments, otherArguments; ///< of a declared tree
  bool isDeclared;
};

/// Groups of ranks: one for each choice of keys, of those ranks for which a condition holds.
/// Members are numbered from 0 in the order of ranks.
struct RankGroups {
  Terms keys;  ///< constants of the condition
  Term member; ///< a constant of the condition: any rank
  Term condition;
  z3::func_decl size;   ///< of the keys
  z3::func_decl at;     ///< of the keys and a number: the member
  z3::func_decl number; ///< of the keys and a member: its number
};

/// One group, as a rank sees it: `keys` are formulas of that rank.
struct GroupValue {
  const RankGroups *groups;
  Terms keys;

  Term size() const;
  Term member(const Term &number) const;
  Term numberOf(const Term &member) const;
  /// Its condition holds for this rank.
  Term admits(const Term &rank) const;
};

struct ReductionValue {
  Term id, commutes;
};

/// A run of whole blocks, or some elements of one block. A buffer T[n] is one block.
struct Piece {
  unsigned buffer; ///< index into Body::buffers
  bool isRun;      ///< blocks [block, block + blocks), else elements [begin, begin + length) of one
  Term block, blocks;
  Term begin, length; ///< not of a run
};
using Pieces = std::vector<Piece>; ///< one message; most have one piece

/// A slice of which conditions choose one: exactly one alternative holds.
struct SliceValue {
  struct Alternative {
    Term condition;
    Pieces pieces;
  };
  std::vector<Alternative> alternatives;
};

/// `none` and unset slots are monostate; conditions are terms of sort Bool.
using Value = std::variant<std::monostate, Term, ListValue, TreeValue, GraphValue, EdgeValue,
                           ReductionValue, SliceValue, GroupValue>;

/// The elements of one division of a length: `part`, or `segments`.
struct Division {
  z3::func_decl begin; ///< begin(length, count, i): the first element of part i
  z3::func_decl index; ///< index(length, count, e): the part of element e
};

/// Terms x with `equation(x) == value`, by the form of the equation in `x`; the caller picks and
/// proves. Sums, differences, conditionals, multiples, children of trees and parts have inverses.
struct Inverses {
  std::vector<const Tree *> trees;
  std::vector<const Graph *> graphs;
  std::vector<Division> divisions;
  std::optional<z3::func_decl> exclusiveOr, quotient;

  Terms solve(Prover &prover, const Term &equation, const Term &x, const Term &value) const;
};

bool contains(const Term &term, const Term &constant);
/// True if the term has the index of a loop, or another constant that Prover::fresh() made.
bool hasVariables(const Term &term);

} // namespace colldsl::parameterized
