#include "ir/Concat.h"
#include "simulator/RankPacker.h"

namespace colldsl::sim {
namespace {

const Sizes &sizesOf(std::span<const Sizes> sizes, uint32_t rank, const Sizes &common) {
  return rank < sizes.size() ? sizes[rank] : common;
}

} // namespace

Result<Workload> packSchedule(const Schedule &schedule, std::span<const Sizes> sizes,
                              const WorkloadOptions &options) {
  WorkloadBuilder builder(schedule.numRanks(), options);
  RankPacker packer(schedule.numRanks(), options);
  Sizes common{schedule.sizeClass.elements, {}};
  PackedRanks packed(options.topology);
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    if (r % kStride == 0)
      packed.clear();
    Status s = packer.add(Rank{r}, schedule.ranks[r], sizesOf(sizes, r, common), packed);
    if (s && (r % kStride == kStride - 1 || r + 1 == schedule.numRanks()))
      s = builder.add(packed);
    if (!s)
      return s;
  }
  auto describe = [&schedule](Rank rank, OpId op) -> Result<Op> {
    return schedule.ranks[index(rank)].op(op);
  };
  return builder.finish(describe, schedule.files);
}

SourceLoc locOf(const Workload &workload, uint32_t vertex) {
  Result<Op> op = workload.describe(Rank{workload.rankOf(vertex)}, workload.opOf(vertex));
  return op ? op->loc : SourceLoc();
}

std::string nameOf(const Workload &workload, uint32_t vertex) {
  uint32_t rank = workload.rankOf(vertex);
  OpId id = workload.opOf(vertex);
  Result<Op> op = workload.describe(Rank{rank}, id);
  std::string name = concat("rank ", rank, ": op ", index(id));
  if (!op)
    return name;
  name += concat(", ", spelling(op->kind));
  if (isMessage(op->kind))
    name += sendsMessage(op->kind) ? " to " : " from ";
  if (isMessage(op->kind))
    name += op->peer == kNoRank ? "any rank" : concat("rank ", index(op->peer));
  return name + ",";
}

} // namespace colldsl::sim
