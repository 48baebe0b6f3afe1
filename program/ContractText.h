/// The promises of a collective as text that can be compared: it depends on no order of parameters
/// or clauses, on no name of a bound variable or of a size, and on no place in the sources.
#pragma once

#include "program/Program.h"

namespace colldsl {

/// The texts of one collective, in the language's words as far as it has some: parameters by their
/// names, the variables that loops bind as $1, $2 by their depth, sizes as $n1, $n2.
class ContractText {
public:
  /// Both outlive this object.
  ContractText(const Program &program, const Decl &collective);

  /// All postconditions: "y == reduce(op, for $1 in 0..ranks: x@$1)"; "" without any. Equal texts
  /// of comparable contracts are equal promises.
  std::string ensures();
  /// "T[ranks][$n1] at root"
  std::string buffer(const Param &param);
  /// The text of a slice, or of a default value.
  std::string expr(ExprId id);

  /// True if all texts so far say all that counts. False: one calls a declaration, which may mean
  /// something else in another program.
  bool isComparable() const { return isComparable_; }

private:
  std::string ensure(const EnsureNode &node);
  std::string loop(const EnsureNode &node, const std::string &body, const std::string &condition);
  std::string dim(const Dim &dim);
  std::string operandsOf(const Expr &e);
  std::string listOf(const Expr &e);
  std::string binary(const Expr &e, std::string_view sign);
  std::string literal(const Expr &e) const;
  std::string local(uint32_t slot, bool isSlice);
  std::string size(uint32_t slot);
  std::string call(const Expr &e);
  std::string atRank(ExprId slice, ExprId rank);

  const Program &program_;
  const Decl &collective_;
  std::vector<uint32_t> bound_; ///< int slots of the loops around, from outside
  std::vector<uint32_t> sizes_; ///< size slots in the order in which buffers name them
  bool isComparable_ = true;
};

} // namespace colldsl
