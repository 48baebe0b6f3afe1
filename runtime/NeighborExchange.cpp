#include "runtime/NeighborExchange.h"

#include "runtime/ByteBuffers.h"

#include <map>

namespace colldsl {
namespace {

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

Result<std::unique_ptr<NeighborExchange>> NeighborExchange::open(Communicator &communicator,
                                                                 std::span<const Rank> to,
                                                                 std::span<const Rank> from,
                                                                 uint32_t wordsPerEdge) {
  std::unique_ptr<NeighborExchange> made(new NeighborExchange(to, from, wordsPerEdge));
  uint64_t bytes = wordsPerEdge * sizeof(uint64_t);
  Dag dag;
  BufferId out = addBytes(dag, BufferRole::In, to.size() * bytes);
  BufferId in = addBytes(dag, BufferRole::Out, from.size() * bytes);
  addEdges(dag, OpKind::Send, out, to, bytes);
  addEdges(dag, OpKind::Recv, in, from, bytes);
  made->schedule_ = RankSchedule(communicator.rank(), std::move(dag), SizeClass{});
  Binding binding;
  binding.buffers = {BoundBuffer::in(made->outgoing_.data(), to.size() * bytes),
                     {made->incoming_.data(), from.size() * bytes}};
  auto plan = Plan::open(communicator.engine(), made->schedule_.view(), made->schedule_.sizeClass(),
                         binding);
  if (!plan)
    return plan.status();
  made->plan_ = plan.take();
  return made;
}

Status NeighborExchange::run() {
  if (Status s = plan_->start(); !s)
    return s;
  return plan_->wait();
}

} // namespace colldsl
