#include "tests/verifier/ScheduleBuilder.h"

#include <algorithm>

namespace colldsl::test {

ScheduleBuilder::ScheduleBuilder(uint32_t ranks, uint64_t n) : n_(n) {
  schedule_.name = "by hand";
  schedule_.files = {"hand.coll"};
  schedule_.ranks.resize(ranks);
  schedule_.sizeClass = {n, n, n};
  schedule_.hasContract = true;
  sizes_.resize(ranks);
  for (Sizes &sizes : sizes_)
    sizes.elements = n;
}

Buffer ScheduleBuilder::dense(const std::string &name, BufferRole role, uint32_t blocks) {
  Buffer buffer;
  buffer.endScale = blocks;
  buffer.role = role;
  buffer.name = static_cast<uint32_t>(schedule_.names.size());
  schedule_.names.push_back(name);
  return buffer;
}

BufferId ScheduleBuilder::param(const std::string &name, BufferRole role, uint32_t blocks) {
  Buffer buffer = dense(name, role, blocks);
  BufferId id{};
  for (Dag &dag : schedule_.ranks)
    id = dag.addBuffer(buffer);
  return id;
}

void ScheduleBuilder::setAlias(uint32_t rank, BufferId id, const Slice &place) {
  Dag &dag = schedule_.ranks[rank];
  Buffer &buffer = dag.buffers[index(id)];
  buffer.aliasOf = place.buffer;
  buffer.aliasSlice = static_cast<uint32_t>(dag.slices.size());
  dag.slices.push_back(place);
}

BufferId ScheduleBuilder::blocky(const std::string &name, BufferRole role, Layout layout,
                                 uint64_t extent, const BlockTable &table) {
  BufferId id = param(name, role, 0);
  for (uint32_t r = 0; r < ranks(); ++r) {
    Buffer &buffer = schedule_.ranks[r].buffers[index(id)];
    buffer.layout = layout;
    buffer.blocks = static_cast<uint32_t>(table.length.size());
    buffer.endOffset = static_cast<int64_t>(extent);
    sizes_[r].blocks.resize(index(id) + 1);
    sizes_[r].blocks[index(id)] = table;
  }
  return id;
}

BufferId ScheduleBuilder::ragged(const std::string &name, BufferRole role,
                                 const std::vector<uint64_t> &lengths) {
  BlockTable table{{}, lengths};
  uint64_t at = 0;
  for (uint64_t length : lengths) {
    table.offset.push_back(at);
    at += length;
  }
  return blocky(name, role, Layout::CallTime, at, table);
}

BufferId ScheduleBuilder::capacity(const std::string &name, BufferRole role, uint64_t m,
                                   const std::vector<uint64_t> &lengths) {
  BlockTable table{{}, lengths};
  for (size_t i = 0; i < lengths.size(); ++i)
    table.offset.push_back(i * m);
  return blocky(name, role, Layout::Capacity, m * lengths.size(), table);
}

BufferId ScheduleBuilder::temp(uint32_t rank, const std::string &name, uint32_t blocks) {
  return schedule_.ranks[rank].addBuffer(dense(name, BufferRole::Temp, blocks));
}

Slice ScheduleBuilder::blocksOf(BufferId buffer, uint32_t begin, uint32_t end) const {
  Slice slice;
  slice.beginScale = begin;
  slice.endScale = end;
  slice.buffer = buffer;
  return slice;
}

Slice ScheduleBuilder::elementsOf(BufferId buffer, int64_t begin, int64_t end) const {
  Slice slice;
  slice.beginOffset = begin;
  slice.endOffset = end;
  slice.buffer = buffer;
  return slice;
}

Slice ScheduleBuilder::raggedBlock(BufferId buffer, uint32_t block) const {
  Slice slice;
  slice.endScale = 1;
  slice.buffer = buffer;
  slice.block = block;
  return slice;
}

Op ScheduleBuilder::message(OpKind kind, uint32_t rank, uint32_t peer, uint32_t tag) {
  bool sends = sendsMessage(kind);
  uint32_t from = sends ? rank : peer, to = sends ? peer : rank;
  Op op;
  op.kind = kind;
  op.peer = Rank{peer};
  op.message = makeMessageId(tag, messageCounts_[{from, to, tag, sends}]++);
  return op;
}

OpId ScheduleBuilder::send(uint32_t rank, Slices from, uint32_t to, Deps deps, uint32_t tag) {
  return add(rank, message(OpKind::Send, rank, to, tag), from, {}, deps);
}

OpId ScheduleBuilder::recv(uint32_t rank, Slices into, uint32_t from, Deps deps, uint32_t tag) {
  return add(rank, message(OpKind::Recv, rank, from, tag), {}, into, deps);
}

OpId ScheduleBuilder::recvCombine(uint32_t rank, Slice into, uint32_t from, Side side,
                                  Reduction reduction) {
  Buffer hidden = dense("incoming", BufferRole::Temp, 0);
  hidden.originScale = into.beginScale;
  hidden.originOffset = into.beginOffset;
  hidden.endScale = into.endScale;
  hidden.endOffset = into.endOffset;
  hidden.denominator = into.denominator;
  Slice incoming = into;
  incoming.buffer = schedule_.ranks[rank].addBuffer(hidden);
  recv(rank, {incoming}, from);
  return combine(rank, incoming, into, side, reduction);
}

OpId ScheduleBuilder::signal(uint32_t rank, uint32_t to, Deps deps, uint32_t tag) {
  return add(rank, message(OpKind::Signal, rank, to, tag), {}, {}, deps);
}

OpId ScheduleBuilder::wait(uint32_t rank, uint32_t from, Deps deps, uint32_t tag) {
  return add(rank, message(OpKind::Wait, rank, from, tag), {}, {}, deps);
}

OpId ScheduleBuilder::copy(uint32_t rank, Slices from, Slices to, Deps deps) {
  Op op;
  op.kind = OpKind::Copy;
  return add(rank, op, from, to, deps);
}

OpId ScheduleBuilder::combine(uint32_t rank, Slice from, Slice into, Side side, Reduction reduction,
                              Deps deps) {
  Op op;
  op.kind = OpKind::Combine;
  op.side = side;
  op.reduction = reduction;
  return add(rank, op, {from}, {into}, deps);
}

OpId ScheduleBuilder::sendBytes(uint32_t rank, uint64_t bytes, uint32_t to, Deps deps,
                                uint32_t tag) {
  Op op = message(OpKind::Send, rank, to, tag);
  op.amount = bytes;
  return add(rank, op, {}, {}, deps);
}

OpId ScheduleBuilder::recvBytes(uint32_t rank, uint64_t bytes, uint32_t from, Deps deps,
                                uint32_t tag) {
  Op op = message(OpKind::Recv, rank, from, tag);
  op.amount = bytes;
  return add(rank, op, {}, {}, deps);
}

OpId ScheduleBuilder::add(uint32_t rank, Op op, const Slices &sources, const Slices &targets,
                          Deps deps) {
  Dag &dag = schedule_.ranks[rank];
  op.loc = {dag.size() + 1, 3, 0};
  if (followsData)
    addDataDeps(rank, sources, targets, deps);
  return dag.add(op, sources, targets, deps);
}

void ScheduleBuilder::addDataDeps(uint32_t rank, const Slices &sources, const Slices &targets,
                                  Deps &deps) const {
  const Dag &dag = schedule_.ranks[rank];
  auto meets = [&](std::span<const Slice> mine, std::span<const Slice> theirs) {
    return std::any_of(mine.begin(), mine.end(), [&](const Slice &a) {
      return std::any_of(theirs.begin(), theirs.end(),
                         [&](const Slice &b) { return overlap(rank, a, b); });
    });
  };
  for (uint32_t i = 0; i < dag.size(); ++i) {
    const Op &older = dag.ops[i];
    if (meets(targets, dag.targets(older)) || meets(targets, dag.sources(older)) ||
        meets(sources, dag.targets(older)))
      deps.push_back(requires_(OpId{i}));
  }
}

std::pair<BufferId, ByteRange> ScheduleBuilder::place(uint32_t rank, const Slice &slice) const {
  const Dag &dag = schedule_.ranks[rank];
  const Buffer &buffer = dag.bufferOf(slice);
  ByteRange range = resolve(slice, buffer, sizes_[rank]);
  if (buffer.aliasOf == kNoBuffer)
    return {slice.buffer, range};
  auto [root, whole] = place(rank, dag.slices[buffer.aliasSlice]);
  return {root, {whole.offset + range.offset, range.length}};
}

bool ScheduleBuilder::overlap(uint32_t rank, const Slice &a, const Slice &b) const {
  auto [rootA, rangeA] = place(rank, a);
  auto [rootB, rangeB] = place(rank, b);
  return rootA == rootB && rangeA.offset < rangeB.end() && rangeB.offset < rangeA.end();
}

void ScheduleBuilder::ensure(uint32_t rank, Slice target, uint32_t ownerRank, Slice operand) {
  ensureReduce(rank, target, {{Rank{ownerRank}, operand}});
  schedule_.ranks[rank].contract.ensures.back().isReduction = false;
}

void ScheduleBuilder::ensureReduce(uint32_t rank, Slice target,
                                   const std::vector<EntryValue> &operands, Reduction reduction) {
  Contract &contract = schedule_.ranks[rank].contract;
  Ensure ensure;
  ensure.target = target;
  ensure.isReduction = true;
  ensure.reduction = reduction;
  ensure.operandBegin = static_cast<uint32_t>(contract.operands.size());
  ensure.operandCount = static_cast<uint32_t>(operands.size());
  ensure.loc = {1000, 1, 0};
  contract.ensures.push_back(ensure);
  contract.operands.insert(contract.operands.end(), operands.begin(), operands.end());
}

void ScheduleBuilder::ensureReduceAll(uint32_t rank, Slice target, Slice operand,
                                      Reduction reduction) {
  std::vector<EntryValue> operands;
  for (uint32_t r = 0; r < ranks(); ++r)
    operands.push_back({Rank{r}, operand});
  ensureReduce(rank, target, operands, reduction);
}

VerifyReport ScheduleBuilder::verify(VerifyOptions options) const {
  return proof::verify(schedule_, sizes_, options);
}

std::string ScheduleBuilder::verdict(VerifyOptions options) const {
  return describe(verify(options), schedule_);
}

bool fails(const VerifyReport &report, Proof proof, std::initializer_list<const char *> words) {
  return std::any_of(report.failures.begin(), report.failures.end(), [&](const Failure &failure) {
    std::string text = failure.message;
    for (const Failure::Step &step : failure.steps)
      text += "\n" + step.text;
    return failure.proof == proof && std::all_of(words.begin(), words.end(), [&](const char *word) {
             return text.find(word) != std::string::npos;
           });
  });
}

} // namespace colldsl::test
