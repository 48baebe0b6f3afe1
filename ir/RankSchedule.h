/// One rank's DAG in the form that plans run, without an image around it.
#pragma once

#include "ir/Image.h"

namespace colldsl {

/// The op as an image stores it, but for its successors. Fields without a meaning for its
/// kind are set to their defaults, so that equal schedules give equal bytes.
ImageOp imageOp(const Op &op, SourceLoc loc);

/// Turns each op's list of the ops that it waits for into lists of the ops that it releases.
class SuccessorLinks {
public:
  /// `ops`: the DAG's, made by imageOp(); `successors`: room for all dependencies. Each list
  /// of successors ascends.
  void link(const Dag &dag, std::span<ImageOp> ops, std::span<uint32_t> successors);

private:
  std::vector<uint32_t> cursor_; ///< per op: where its next successor goes
};

class RankSchedule {
public:
  RankSchedule() = default;
  RankSchedule(Rank rank, Dag dag, SizeClass sizeClass);

  /// Valid as long as this lives and is not moved.
  RankView view() const;
  const Dag &dag() const { return dag_; }
  const SizeClass &sizeClass() const { return sizeClass_; }

private:
  Rank rank_{0};
  Dag dag_;
  SizeClass sizeClass_;
  std::vector<ImageOp> ops_;
  std::vector<uint32_t> successors_;
};

} // namespace colldsl
