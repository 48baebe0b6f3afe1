#include "tests/executor/Schedules.h"

#include <cstring>
#include <new>
#include <stdexcept>

namespace colldsl::test {

Builder::Builder(uint32_t numRanks, ElementType type)
    : type_(type), sent_(numRanks * numRanks), received_(numRanks * numRanks) {
  schedule.name = "test";
  schedule.ranks.resize(numRanks);
  schedule.sizeClass.elements = 1;
}

BufferId Builder::buffer(BufferRole role, uint32_t blocks) {
  Buffer buffer;
  buffer.endScale = blocks;
  buffer.role = role;
  buffer.type = type_;
  buffer.name = static_cast<uint32_t>(schedule.names.size());
  schedule.names.push_back("buffer" + std::to_string(buffer.name));
  BufferId id{};
  for (Dag &dag : schedule.ranks)
    id = dag.addBuffer(buffer);
  return id;
}

Slice Builder::blocks(BufferId buffer, uint32_t begin, uint32_t end) const {
  Slice slice;
  slice.beginScale = begin;
  slice.endScale = end;
  slice.buffer = buffer;
  return slice;
}

OpId Builder::message(OpKind kind, Rank at, Rank peer, std::vector<Slice> slices,
                      std::vector<Dep> deps) {
  bool sends = sendsMessage(kind);
  auto numRanks = schedule.numRanks();
  uint32_t pair = sends ? index(at) * numRanks + index(peer) : index(peer) * numRanks + index(at);
  Op op;
  op.kind = kind;
  op.peer = peer;
  op.message = makeMessageId((sends ? sent_ : received_)[pair]++, 0);
  Dag &dag = schedule.ranks[index(at)];
  std::span<const Slice> none;
  return sends ? dag.add(op, slices, none, deps) : dag.add(op, none, slices, deps);
}

OpId Builder::send(Rank at, Rank to, std::vector<Slice> sources, std::vector<Dep> deps) {
  return message(OpKind::Send, at, to, std::move(sources), std::move(deps));
}
OpId Builder::recv(Rank at, Rank from, std::vector<Slice> targets, std::vector<Dep> deps) {
  return message(OpKind::Recv, at, from, std::move(targets), std::move(deps));
}
OpId Builder::signal(Rank at, Rank to, std::vector<Dep> deps) {
  return message(OpKind::Signal, at, to, {}, std::move(deps));
}
OpId Builder::wait(Rank at, Rank from, std::vector<Dep> deps) {
  return message(OpKind::Wait, at, from, {}, std::move(deps));
}

OpId Builder::copy(Rank at, std::vector<Slice> from, std::vector<Slice> to, std::vector<Dep> deps) {
  Op op;
  op.kind = OpKind::Copy;
  return schedule.ranks[index(at)].add(op, from, to, deps);
}

OpId Builder::combine(Rank at, Slice from, Slice to, Reduction reduction, Side side,
                      std::vector<Dep> deps) {
  Op op;
  op.kind = OpKind::Combine;
  op.reduction = reduction;
  op.type = type_;
  op.side = side;
  return schedule.ranks[index(at)].add(op, {&from, 1}, {&to, 1}, deps);
}

OpId Builder::calc(Rank at, uint64_t ns, std::vector<Dep> deps) {
  Op op;
  op.kind = OpKind::Calc;
  op.amount = ns;
  return schedule.ranks[index(at)].add(op, {}, {}, deps);
}

LoadedImage::LoadedImage(const Schedule &schedule) {
  std::vector<std::byte> bytes = encodeImage(schedule);
  bytes_.reset(static_cast<std::byte *>(::operator new[](bytes.size(), std::align_val_t{64})));
  std::memcpy(bytes_.get(), bytes.data(), bytes.size());
  Result<Image> image = Image::load({bytes_.get(), bytes.size()});
  if (!image)
    throw std::runtime_error(image.message());
  image_ = image.take();
}

Schedule ringAllgather(uint32_t numRanks) {
  Builder b(numRanks);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, numRanks);
  for (uint32_t r = 0; r < numRanks; ++r) {
    Rank me{r}, right = rightOf(me, 1, numRanks), left = rightOf(me, numRanks - 1, numRanks);
    OpId last = b.copy(me, {b.block(x, 0)}, {b.block(y, r)});
    for (uint32_t k = 0; k + 1 < numRanks; ++k) {
      b.send(me, right, {b.block(y, (r - k + numRanks) % numRanks)}, {after(last)});
      last = b.recv(me, left, {b.block(y, (r - k - 1 + numRanks) % numRanks)});
    }
  }
  return b.schedule;
}

Schedule disseminationBarrier(uint32_t numRanks) {
  Builder b(numRanks);
  for (uint32_t r = 0; r < numRanks; ++r) {
    std::vector<Dep> before;
    for (uint32_t step = 1; step < numRanks; step *= 2) {
      b.signal(Rank{r}, rightOf(Rank{r}, step, numRanks), before);
      before.push_back(after(b.wait(Rank{r}, rightOf(Rank{r}, numRanks - step, numRanks))));
    }
  }
  return b.schedule;
}

Schedule reduceChain(uint32_t numRanks, Reduction reduction, ElementType type) {
  Builder b(numRanks, type);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
  BufferId acc = b.buffer(BufferRole::Temp, 1), incoming = b.buffer(BufferRole::Temp, 1);
  for (uint32_t r = 0; r < numRanks; ++r) {
    OpId last = b.copy(Rank{r}, {b.block(x, 0)}, {b.block(acc, 0)});
    if (r > 0) {
      OpId got = b.recv(Rank{r}, Rank{r - 1}, {b.block(incoming, 0)});
      last = b.combine(Rank{r}, b.block(incoming, 0), b.block(acc, 0), reduction, Side::Before,
                       {after(last), after(got)});
    }
    if (r + 1 < numRanks)
      b.send(Rank{r}, Rank{r + 1}, {b.block(acc, 0)}, {after(last)});
    else
      b.copy(Rank{r}, {b.block(acc, 0)}, {b.block(y, 0)}, {after(last)});
  }
  return b.schedule;
}

Schedule flatBroadcast(uint32_t numRanks) {
  Builder b(numRanks);
  BufferId buf = b.buffer(BufferRole::InOut, 1);
  for (uint32_t r = 1; r < numRanks; ++r) {
    b.send(Rank{0}, Rank{r}, {b.block(buf, 0)});
    b.recv(Rank{r}, Rank{0}, {b.block(buf, 0)});
  }
  return b.schedule;
}

Schedule exchange() {
  Builder b(2);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
  for (uint32_t r = 0; r < 2; ++r) {
    b.send(Rank{r}, Rank{1 - r}, {b.block(x, 0)});
    b.recv(Rank{r}, Rank{1 - r}, {b.block(y, 0)});
  }
  return b.schedule;
}

} // namespace colldsl::test
