#include "ir/Dag.h"
#include "ir/Index32.h"

#include <cassert>

namespace colldsl {
namespace {

uint32_t append(std::vector<Slice> &all, std::span<const Slice> some) {
  auto begin = index32(all.size());
  all.insert(all.end(), some.begin(), some.end());
  return begin;
}

} // namespace

OpId Dag::add(Op op, std::span<const Slice> sources, std::span<const Slice> targets,
              std::span<const Dep> opDeps) {
  OpId id{index32(ops.size())};
  op.sourceBegin = append(slices, sources);
  op.sourceCount = index32(sources.size());
  op.targetBegin = append(slices, targets);
  op.targetCount = index32(targets.size());
  op.depBegin = index32(deps.size());
  op.depCount = index32(opDeps.size());
  for (const Dep &dep : opDeps) {
    assert(index(dep.op) < index(id) && "a dependency names an older op");
    deps.push_back(dep);
  }
  ops.push_back(op);
  return id;
}

BufferId Dag::addBuffer(const Buffer &buffer) {
  buffers.push_back(buffer);
  return BufferId{index32(buffers.size() - 1)};
}

void Dag::clear() {
  ops.clear();
  deps.clear();
  slices.clear();
  buffers.clear();
  contract.ensures.clear();
  contract.operands.clear();
  contract.invariants.clear();
  contract.programOrder.clear();
}

uint64_t payloadBytes(const Dag &dag, const Op &op, const Sizes &sizes) {
  if (op.kind == OpKind::Signal || op.kind == OpKind::Wait || op.kind == OpKind::Calc)
    return 0;
  auto slices = op.kind == OpKind::Send ? dag.sources(op) : dag.targets(op);
  if (slices.empty())
    return op.amount;
  uint64_t bytes = 0;
  for (const Slice &slice : slices)
    bytes += resolve(slice, dag.bufferOf(slice), sizes).length;
  return bytes;
}

} // namespace colldsl
