#include "runtime/Communicator.h"

#include "executor/Plan.h"
#include "ir/RankSchedule.h"
#include "runtime/ByteBuffers.h"

#include <numeric>

namespace colldsl {
namespace {

/// Everybody sends to everybody. ends[r]: where the contribution of rank r ends.
RankSchedule gatherSchedule(Rank me, std::span<const uint64_t> ends) {
  Dag dag;
  auto begin = [&](size_t r) { return r == 0 ? 0 : ends[r - 1]; };
  size_t self = index(me);
  BufferId mine = addBytes(dag, BufferRole::In, ends[self] - begin(self));
  BufferId all = addBytes(dag, BufferRole::Out, ends.back());
  Slice own = bytesOf(mine, 0, ends[self] - begin(self));
  for (size_t r = 0; r < ends.size(); ++r) {
    Slice place = bytesOf(all, begin(r), ends[r]);
    Op op;
    if (r == self) {
      op.kind = OpKind::Copy;
      dag.add(op, {&own, 1}, {&place, 1}, {});
      continue;
    }
    op.peer = Rank{static_cast<uint32_t>(r)};
    op.message = MessageId{0};
    op.kind = OpKind::Send;
    dag.add(op, {&own, 1}, {}, {});
    op.kind = OpKind::Recv;
    dag.add(op, {}, {&place, 1}, {});
  }
  return RankSchedule(me, std::move(dag), SizeClass{});
}

} // namespace

Status Communicator::allgather(std::span<const std::byte> mine, std::span<const uint64_t> ends,
                               void *all) {
  RankSchedule schedule = gatherSchedule(rank(), ends);
  Binding binding;
  binding.buffers = {BoundBuffer::in(mine.data(), mine.size()), {all, ends.back()}};
  auto plan = Plan::open(engine_, schedule.view(), schedule.sizeClass(), binding);
  if (!plan)
    return plan.status();
  if (Status s = (*plan)->start(); !s)
    return s;
  return (*plan)->wait();
}

// First the lengths, then the bytes.
Result<std::vector<std::vector<std::byte>>>
Communicator::allgather(std::span<const std::byte> mine) {
  Result<std::vector<uint64_t>> lengths = allgatherOne<uint64_t>(mine.size());
  if (!lengths)
    return lengths.status();
  std::vector<uint64_t> ends(lengths->size());
  std::partial_sum(lengths->begin(), lengths->end(), ends.begin());
  std::vector<std::byte> bytes(ends.back());
  if (Status s = allgather(mine, ends, bytes.data()); !s)
    return s;
  std::vector<std::vector<std::byte>> all;
  for (size_t r = 0; r < ends.size(); ++r)
    all.emplace_back(bytes.begin() + static_cast<ptrdiff_t>(r == 0 ? 0 : ends[r - 1]),
                     bytes.begin() + static_cast<ptrdiff_t>(ends[r]));
  return all;
}

} // namespace colldsl
