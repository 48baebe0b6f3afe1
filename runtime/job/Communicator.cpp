#include "runtime/job/Communicator.h"

#include "executor/Plan.h"
#include "ir/RankSchedule.h"

#include <map>
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

/// A DAG in which each rank sends to all. ends[r]: the end of the contribution of rank r.
Dag gatherDag(Rank me, std::span<const uint64_t> ends) {
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
  return dag;
}

/// Adds the messages of one direction, numbered for each peer.
void addEdges(Dag &dag, OpKind kind, BufferId buffer, std::span<const Rank> peers, uint64_t bytes) {
  std::map<Rank, uint32_t> count;
  for (size_t i = 0; i < peers.size(); ++i) {
    Slice place = bytesOf(buffer, i * bytes, (i + 1) * bytes);
    std::span<const Slice> here(&place, 1), nothing;
    Op op;
    op.kind = kind;
    op.peer = peers[i];
    op.message = MessageId{count[peers[i]]++};
    bool sends = kind == OpKind::Send;
    dag.add(op, sends ? here : nothing, sends ? nothing : here, {});
  }
}

} // namespace

/// Runs a DAG with two buffers of bytes, one that is read and one that is written.
Status Communicator::runOnce(Dag dag, std::span<const std::byte> from, std::span<std::byte> to) {
  RankSchedule schedule(rank(), std::move(dag), SizeClass{});
  Binding binding;
  binding.buffers = {BoundBuffer::in(from.data(), from.size()), {to.data(), to.size()}};
  auto plan = Plan::open(engine_, schedule.view(), schedule.sizeClass(), binding);
  if (!plan)
    return plan.status();
  if (Status s = (*plan)->start(); !s)
    return s;
  return (*plan)->wait();
}

Status Communicator::allgather(std::span<const std::byte> mine, std::span<const uint64_t> ends,
                               void *all) {
  return runOnce(gatherDag(rank(), ends), mine, {static_cast<std::byte *>(all), ends.back()});
}

Result<std::vector<uint64_t>> Communicator::exchange(std::span<const Rank> to,
                                                     std::span<const Rank> from,
                                                     std::span<const uint64_t> words,
                                                     size_t wordsPerEdge) {
  std::vector<uint64_t> arrived(from.size() * wordsPerEdge);
  uint64_t bytes = wordsPerEdge * sizeof(uint64_t);
  Dag dag;
  BufferId out = addBytes(dag, BufferRole::In, to.size() * bytes);
  BufferId in = addBytes(dag, BufferRole::Out, from.size() * bytes);
  addEdges(dag, OpKind::Send, out, to, bytes);
  addEdges(dag, OpKind::Recv, in, from, bytes);
  Status s =
      runOnce(std::move(dag), std::as_bytes(words), std::as_writable_bytes(std::span(arrived)));
  if (!s)
    return s;
  return arrived;
}

// Gathers first the lengths, then the bytes.
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
