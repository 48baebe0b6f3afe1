#include "ir/Dag.h"

#include <cassert>

namespace colldsl {
namespace {

uint32_t append(std::vector<Slice> &all, std::span<const Slice> some) {
  auto begin = static_cast<uint32_t>(all.size());
  all.insert(all.end(), some.begin(), some.end());
  return begin;
}

} // namespace

OpId Dag::add(Op op, std::span<const Slice> sources, std::span<const Slice> targets,
              std::span<const Dep> opDeps) {
  OpId id{size()};
  op.sourceBegin = append(slices, sources);
  op.sourceCount = static_cast<uint32_t>(sources.size());
  op.targetBegin = append(slices, targets);
  op.targetCount = static_cast<uint32_t>(targets.size());
  op.depBegin = static_cast<uint32_t>(deps.size());
  op.depCount = static_cast<uint32_t>(opDeps.size());
  for (const Dep &dep : opDeps) {
    assert(index(dep.op) < index(id) && "a dependency names an older op");
    deps.push_back(dep);
  }
  ops.push_back(op);
  return id;
}

BufferId Dag::addBuffer(const Buffer &buffer) {
  buffers.push_back(buffer);
  return BufferId{static_cast<uint32_t>(buffers.size() - 1)};
}

void Dag::clear() {
  ops.clear();
  deps.clear();
  slices.clear();
  buffers.clear();
  contract.ensures.clear();
  contract.operands.clear();
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
