#include "formats/MscclFusion.h"

#include <algorithm>

namespace colldsl::msccl {
namespace {

/// A range of a temporary that an op touches.
struct Access {
  Range range;
  OpId op;
  bool isPaired; ///< by the receive or the combine of a pair that it would vanish with
};

class Fuser {
public:
  Fuser(const Dag &dag, const Chunks &chunks) : dag_(dag), chunks_(chunks) {
    fusion_.combineOf.assign(dag.size(), kNoOp);
    fusion_.recvOf.assign(dag.size(), kNoOp);
  }
  Fusion run();

private:
  void countWaiters();
  void propose(OpId combine);
  bool takesFromTemporary(const Op &recv, const Op &combine) const;
  bool addsToTarget(OpId recv, const Op &combine) const;
  void dropSeenByOthers();
  std::vector<Access> temporaryAccesses() const;
  void drop(OpId op);
  std::vector<Range> sources(const Op &op) const { return chunks_.ranges(dag_, dag_.sources(op)); }
  std::vector<Range> targets(const Op &op) const { return chunks_.ranges(dag_, dag_.targets(op)); }

  const Dag &dag_;
  const Chunks &chunks_;
  Fusion fusion_;
  std::vector<uint32_t> waiters_; ///< per op
  std::vector<bool> isAside_;     ///< per op: of a pair whose temporary vanishes
};

void Fuser::countWaiters() {
  waiters_.assign(dag_.size(), 0);
  for (const Dep &dep : dag_.deps)
    ++waiters_[index(dep.op)];
}

bool Fuser::takesFromTemporary(const Op &recv, const Op &combine) const {
  std::vector<Range> came = targets(recv);
  return came.size() == 1 && came == sources(combine) &&
         dag_.buffers[index(came[0].buffer)].role == BufferRole::Temp;
}

bool Fuser::addsToTarget(OpId recv, const Op &combine) const {
  return waiters_[index(recv)] == 1 && targets(dag_.op(recv)) == targets(combine);
}

void Fuser::propose(OpId id) {
  const Op &combine = dag_.op(id);
  for (const Dep &dep : dag_.depsOf(combine)) {
    bool isFree = fusion_.combineOf[index(dep.op)] == kNoOp;
    if (dag_.op(dep.op).kind != OpKind::Recv || dep.kind != DepKind::Requires || !isFree)
      continue;
    bool isAside = takesFromTemporary(dag_.op(dep.op), combine);
    if (!isAside && !addsToTarget(dep.op, combine))
      continue;
    isAside_[index(id)] = isAside_[index(dep.op)] = isAside;
    fusion_.recvOf[index(id)] = dep.op;
    fusion_.combineOf[index(dep.op)] = id;
    return;
  }
}

std::vector<Access> Fuser::temporaryAccesses() const {
  std::vector<Access> accesses;
  for (uint32_t i = 0; i < dag_.size(); ++i) {
    const Op &op = dag_.ops[i];
    bool isRecv = op.kind == OpKind::Recv;
    auto add = [&](const std::vector<Range> &ranges, bool isPaired) {
      for (const Range &range : ranges)
        if (dag_.buffers[index(range.buffer)].role == BufferRole::Temp)
          accesses.push_back({range, OpId{i}, isPaired});
    };
    add(sources(op), isAside_[i] && !isRecv);
    add(targets(op), isAside_[i] && isRecv);
  }
  std::ranges::sort(accesses, {},
                    [](const Access &a) { return std::pair(a.range.buffer, a.range.begin); });
  return accesses;
}

void Fuser::drop(OpId op) {
  OpId other = fusion_.recvOf[index(op)];
  if (other == kNoOp)
    other = fusion_.combineOf[index(op)];
  if (!isAside_[index(op)] || other == kNoOp)
    return;
  for (OpId end : {op, other})
    fusion_.recvOf[index(end)] = fusion_.combineOf[index(end)] = kNoOp;
}

// Drops pairs whose temporary other ops see. Accesses fall into clusters that do not overlap. A
// cluster can vanish if it has only accesses of its pairs, all to the same chunks: as there are no
// races, each combine sees the data of its own receive.
void Fuser::dropSeenByOthers() {
  std::vector<Access> accesses = temporaryAccesses();
  for (size_t begin = 0, end = 0; begin < accesses.size(); begin = end) {
    Range cluster = accesses[begin].range;
    bool isPrivate = true;
    for (end = begin;
         end < accesses.size() && (end == begin || accesses[end].range.overlaps(cluster)); ++end) {
      isPrivate = isPrivate && accesses[end].isPaired && accesses[end].range == cluster;
      cluster.end = std::max(cluster.end, accesses[end].range.end);
    }
    for (size_t i = begin; i < end && !isPrivate; ++i)
      if (accesses[i].isPaired)
        drop(accesses[i].op);
  }
}

Fusion Fuser::run() {
  isAside_.assign(dag_.size(), false);
  countWaiters();
  for (uint32_t i = 0; i < dag_.size(); ++i)
    if (dag_.ops[i].kind == OpKind::Combine)
      propose(OpId{i});
  dropSeenByOthers();
  return std::move(fusion_);
}

} // namespace

Fusion fuseReductions(const Dag &dag, const Chunks &chunks) { return Fuser(dag, chunks).run(); }

} // namespace colldsl::msccl
