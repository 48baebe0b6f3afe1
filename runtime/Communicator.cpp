#include "runtime/Communicator.h"

#include "executor/Plan.h"
#include "ir/RankSchedule.h"

#include <cstring>
#include <numeric>

namespace colldsl {
namespace {

Slice bytesOf(BufferId buffer, uint64_t begin, uint64_t end) {
  Slice slice;
  slice.beginOffset = static_cast<int64_t>(begin);
  slice.endOffset = static_cast<int64_t>(end);
  slice.buffer = buffer;
  return slice;
}

BufferId addBytes(Dag &dag, BufferRole role, uint64_t bytes) {
  Buffer buffer;
  buffer.endOffset = static_cast<int64_t>(bytes);
  buffer.role = role;
  buffer.type = ElementType::U8;
  return dag.addBuffer(buffer);
}

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

// First the lengths, then the bytes.
Result<std::vector<std::vector<std::byte>>>
Communicator::allgather(std::span<const std::byte> mine) {
  auto gather = [&](std::span<const std::byte> from, void *to,
                    std::span<const uint64_t> ends) -> Status {
    RankSchedule schedule = gatherSchedule(rank(), ends);
    Binding binding;
    binding.buffers = {BoundBuffer::in(from.data(), from.size()), {to, ends.back()}};
    auto plan = Plan::open(engine_, schedule.view(), schedule.sizeClass(), binding);
    if (!plan)
      return plan.status();
    if (Status s = (*plan)->start(); !s)
      return s;
    return (*plan)->wait();
  };
  uint64_t length = mine.size();
  std::vector<uint64_t> ends(numRanks());
  std::vector<uint64_t> lengthEnds(numRanks(), sizeof length);
  std::partial_sum(lengthEnds.begin(), lengthEnds.end(), lengthEnds.begin());
  if (Status s = gather(std::as_bytes(std::span(&length, 1)), ends.data(), lengthEnds); !s)
    return s;
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::byte> bytes(ends.back());
  if (Status s = gather(mine, bytes.data(), ends); !s)
    return s;
  std::vector<std::vector<std::byte>> all;
  for (size_t r = 0; r < ends.size(); ++r)
    all.emplace_back(bytes.begin() + static_cast<ptrdiff_t>(r == 0 ? 0 : ends[r - 1]),
                     bytes.begin() + static_cast<ptrdiff_t>(ends[r]));
  return all;
}

} // namespace colldsl
