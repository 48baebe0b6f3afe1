#include "ir/RankSchedule.h"
#include "ir/ImageLayout.h"
#include "ir/Index32.h"

#include <algorithm>

namespace colldsl {

ImageOp imageOp(const Op &op, SourceLoc loc) {
  bool reduces = op.kind == OpKind::Combine;
  bool isSized = op.kind != OpKind::Signal && op.kind != OpKind::Wait && op.sourceCount == 0 &&
                 op.targetCount == 0;
  return {.kind = op.kind,
          .detail = reduces              ? static_cast<uint8_t>(op.side)
                    : isMessage(op.kind) ? op.transfer.packed()
                                         : uint8_t{0},
          .reduction = reduces ? op.reduction : Reduction::Sum,
          .type = reduces ? op.type : ElementType::I32,
          .peer = isMessage(op.kind) ? op.peer : kNoRank,
          .message = isMessage(op.kind) ? op.message : MessageId{0},
          .sourceBegin = op.sourceCount == 0 ? 0 : op.sourceBegin,
          .sourceCount = op.sourceCount,
          .targetBegin = op.targetCount == 0 ? 0 : op.targetBegin,
          .targetCount = op.targetCount,
          .amount = isSized ? op.amount : 0,
          .successorBegin = 0,
          .requireCount = 0,
          .irequireCount = 0,
          .depCount = op.depCount,
          .line = std::min(loc.line, kMaxImageLine),
          .column = std::min<uint32_t>(loc.column, kMaxImageColumn),
          .file = std::min<uint32_t>(loc.file, kMaxImageFile),
          .cpu = op.cpu,
          .nic = op.nic};
}

// Counts them, gives each op its place, then fills the places in op order. So each list
// is ascending.
void SuccessorLinks::link(const Dag &dag, std::span<ImageOp> ops, std::span<uint32_t> successors) {
  for (const Op &op : dag.ops)
    for (const Dep &dep : dag.depsOf(op))
      ++(dep.kind == DepKind::Requires ? ops[index(dep.op)].requireCount
                                       : ops[index(dep.op)].irequireCount);
  uint32_t end = 0;
  for (uint32_t i = 0; i < dag.size(); ++i) {
    ops[i].successorBegin = end;
    end += ops[i].requireCount + ops[i].irequireCount;
  }
  cursor_.assign(size_t{dag.size()} * 2, 0);
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i])) {
      bool isStart = dep.kind == DepKind::IRequires;
      const ImageOp &from = ops[index(dep.op)];
      uint32_t place = cursor_[size_t{index(dep.op)} * 2 + isStart]++;
      successors[from.successorBegin + (isStart ? from.requireCount : 0) + place] = i;
    }
}

RankSchedule::RankSchedule(Rank rank, Dag dag, SizeClass sizeClass)
    : rank_(rank), dag_(std::move(dag)), sizeClass_(sizeClass) {
  size_t deps = 0;
  ops_.reserve(dag_.size());
  for (const Op &op : dag_.ops) {
    ops_.push_back(imageOp(op, op.loc));
    deps += op.depCount;
  }
  successors_.resize(index32(deps));
  SuccessorLinks().link(dag_, ops_, successors_);
}

RankView RankSchedule::view() const {
  return {rank_,
          ops_,
          successors_,
          dag_.slices,
          dag_.buffers,
          dag_.contract.ensures,
          dag_.contract.operands};
}

} // namespace colldsl
