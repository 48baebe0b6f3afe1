/// The buffers of one rank while the interpreter runs it: where each slice lies among the rank's
/// elements, and what lengths the blocks have.
#pragma once

#include "ir/Dag.h"
#include "tests/random/Cells.h"
#include "tests/random/Values.h"

namespace colldsl::generated {

Slice asSlice(const SliceValue &value);

class RankBuffers {
public:
  RankBuffers(const Program &program, uint32_t rank, Evaluator &values)
      : program_(program), rank_(rank), values_(values) {}

  /// What follows is added to this.
  void begin(Dag &dag) { dag_ = &dag; }
  /// Lengths may be any: they are looked for.
  void leaveLengths() { checksLengths_ = false; }

  void addParameter(const Param &param);
  void setAlias(const Alias &alias);
  /// Behind all parameters and aliases.
  void layOut();
  /// From here on a parameter that lies in a block of capacity is that block, with its length.
  void enterBody();

  void addTemporary(const Stmt &s);
  /// What `recv ... combine` receives to.
  std::vector<SliceValue> hiddenFor(const std::vector<SliceValue> &to);

  SliceValue targetOf(const Ensure &e);
  /// Blocks have the lengths that they have on the owner.
  SliceValue operandOf(const Ensure &e, int64_t owner);
  std::vector<SliceValue> slicesOf(const std::vector<SliceExpr> &exprs);

  /// Of a block of capacity all of its room, and its length.
  std::vector<int64_t> cellsOf(const std::vector<SliceValue> &slices) const;
  /// Whether both are equally long, as far as that is known before the run.
  bool areEqual(const std::vector<SliceValue> &a, const std::vector<SliceValue> &b) const;

  Cells cells;

private:
  uint32_t addBuffer(BufferRole role, int64_t length);
  uint32_t addBlocks(BufferRole role, Extent extent, const std::vector<int64_t> &lengths);
  uint32_t addTemporaryBlocks(int64_t count, int64_t room);
  void addBufferOf(const Param &param);
  void addParameterOfBlocks(const Param &param, const std::vector<int64_t> &dims);
  void addCells(uint32_t buffer);
  std::vector<int64_t> dimsOf(const std::vector<Expr> &exprs, Extent extent, Symbol symbol);
  SliceValue sliceOfBlocks(uint32_t buffer, Extent extent, bool isGrid) const;
  SliceValue oneSlice(const SliceExpr &e);
  void requireSignificant(const SliceValue &slice, int64_t rank);

  const Program &program_;
  uint32_t rank_;
  Evaluator &values_;
  Dag *dag_ = nullptr;
  bool checksLengths_ = true;
  std::vector<std::vector<int64_t>> firsts_; // per buffer: its first cell, or that of each block
  std::map<uint32_t, SliceValue> aliases_;   // per buffer that lies in another one: where
  std::map<Name, SliceValue> lent_;          // such buffers of capacity, by name
};

} // namespace colldsl::generated
