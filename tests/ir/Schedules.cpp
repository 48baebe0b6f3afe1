#include "tests/ir/Schedules.h"

#include "ir/Operators.h"

#include <array>
#include <random>

namespace colldsl {
namespace {

/// From `begin` (scale, offset) to `end`, over one denominator.
Slice slice(BufferId buffer, std::array<int64_t, 2> begin, std::array<int64_t, 2> end,
            uint32_t denominator = 1) {
  return {begin[0], begin[1], end[0], end[1], denominator, buffer, kNoBlock, 0};
}

Slice inBlock(Slice s, uint32_t block) {
  s.block = block;
  return s;
}

Buffer buffer(BufferRole role, ElementType type, uint32_t name, int64_t scale, int64_t offset = 0) {
  Buffer b;
  b.role = role;
  b.type = type;
  b.name = name;
  b.endScale = scale;
  b.endOffset = offset;
  return b;
}

Op message(OpKind kind, uint32_t peer, MessageId id, uint64_t bytes = 0) {
  Op op;
  op.kind = kind;
  op.peer = Rank{peer};
  op.message = id;
  op.amount = bytes;
  return op;
}

Op local(OpKind kind, uint64_t amount = 0) {
  Op op;
  op.kind = kind;
  op.amount = amount;
  return op;
}

void promiseBlocks(Dag &dag, BufferId x, BufferId y, uint32_t ranks) {
  for (uint32_t r = 0; r < ranks; ++r) {
    Ensure e;
    e.target = slice(y, {r, 0}, {r + 1, 0});
    e.operandBegin = r;
    e.operandCount = 1;
    dag.contract.ensures.push_back(e);
    dag.contract.operands.push_back({Rank{r}, slice(x, {0, 0}, {1, 0})});
  }
}

Dag ringRank(uint32_t rank, uint32_t ranks) {
  Dag dag;
  BufferId x = dag.addBuffer(buffer(BufferRole::In, ElementType::I32, 0, 1));
  BufferId y = dag.addBuffer(buffer(BufferRole::Out, ElementType::I32, 1, ranks));
  Slice mine = slice(y, {rank, 0}, {rank + 1, 0});
  Slice all = slice(x, {0, 0}, {1, 0});
  Dep last{dag.add(local(OpKind::Copy), {&all, 1}, {&mine, 1}, {})};
  for (uint32_t k = 0; k + 1 < ranks; ++k) {
    uint32_t out = (rank + ranks - k) % ranks;
    uint32_t in = (rank + ranks - k - 1) % ranks;
    Slice sent = slice(y, {out, 0}, {out + 1, 0});
    Slice received = slice(y, {in, 0}, {in + 1, 0});
    MessageId id = makeMessageId(k, 0);
    dag.add(message(OpKind::Send, (rank + 1) % ranks, id), {&sent, 1}, {}, {&last, 1});
    last = {dag.add(message(OpKind::Recv, (rank + ranks - 1) % ranks, id), {}, {&received, 1}, {})};
  }
  promiseBlocks(dag, x, y, ranks);
  return dag;
}

} // namespace

Schedule ringSchedule(uint32_t ranks) {
  Schedule s;
  s.name = "allgather_ring";
  s.names = {"x", "y"};
  s.files = {"ring.coll"};
  s.sizeClass = {1000, 1, 4000};
  s.hasContract = true;
  for (uint32_t r = 0; r < ranks; ++r)
    s.ranks.push_back(ringRank(r, ranks));
  return s;
}

namespace {

/// Rank 0 of everythingSchedule(): buffers of every role and layout, lists of slices,
/// every kind of op, a reduction in the contract.
Dag everythingRank() {
  Dag dag;
  BufferId x = dag.addBuffer(buffer(BufferRole::In, ElementType::F64, 0, 4));
  BufferId y = dag.addBuffer(buffer(BufferRole::Out, ElementType::F64, 1, 4));
  Buffer third = buffer(BufferRole::Temp, ElementType::U8, 2, 8, 5);
  third.originScale = 7;
  third.originOffset = -2;
  third.denominator = 3;
  BufferId part = dag.addBuffer(third);
  BufferId again = dag.addBuffer(third);
  Buffer open = buffer(BufferRole::InOut, ElementType::I16, 3, 0);
  open.layout = Layout::CallTime;
  open.blocks = 4;
  BufferId blocks = dag.addBuffer(open);
  Buffer capacity = buffer(BufferRole::Temp, ElementType::U32, 4, 12, 4);
  capacity.layout = Layout::Capacity;
  capacity.blocks = 4;
  BufferId cells = dag.addBuffer(capacity);
  Buffer alias = buffer(BufferRole::In, ElementType::F64, 5, 1);
  alias.aliasOf = y;
  alias.aliasSlice = static_cast<uint32_t>(dag.slices.size());
  alias.significant = false;
  dag.slices.push_back(slice(y, {3, 0}, {4, 0}));
  dag.addBuffer(alias);

  Slice wholeX = slice(x, {0, 0}, {4, 0});
  Slice wholeY = slice(y, {0, 0}, {4, 0});
  Slice list[] = {slice(y, {0, 1}, {0, 7}), slice(y, {3, -8}, {4, -8}), wholeY};
  Slice inPart = slice(part, {7, 0}, {8, 1}, 3);
  Slice inAgain = slice(again, {7, -2}, {8, -1}, 3);
  Slice block = inBlock(slice(blocks, {0, 0}, {1, 0}), 3);
  Slice cell = inBlock(slice(cells, {0, 0}, {1, 0}), 1);

  OpId first = dag.add(message(OpKind::Send, 1, makeMessageId(7, 0)), {&wholeX, 1}, {}, {});
  OpId second = dag.add(message(OpKind::Recv, 2, makeMessageId(0, 0)), {}, list, {});
  Dep both[] = {{first, DepKind::IRequires}, {second, DepKind::Requires}};
  Op combine = local(OpKind::Combine);
  combine.reduction = Reduction::MatMul;
  combine.side = Side::Before;
  combine.type = ElementType::U32;
  combine.loc = {12, 9, 1};
  OpId third3 = dag.add(combine, {&wholeX, 1}, {&wholeY, 1}, both);
  Dep last[] = {{third3, DepKind::Requires}, {first, DepKind::Requires}};
  dag.add(local(OpKind::Copy), {&inPart, 1}, {&inAgain, 1}, last);
  dag.add(message(OpKind::Signal, 3, MessageId{0xfedcba9876543210}), {}, {}, {});
  dag.add(message(OpKind::Wait, 3, makeMessageId(7, 5)), {}, {}, {});
  Op calc = local(OpKind::Calc, 1234567890123);
  calc.cpu = 3;
  calc.loc = {3, 0, 0};
  dag.add(calc, {}, {}, last);
  dag.add(message(OpKind::Send, 0, makeMessageId(0, 0)), {&block, 1}, {}, {});
  Op plain = message(OpKind::Recv, 0, makeMessageId(0, 0));
  plain.nic = 255;
  dag.add(plain, {}, {&cell, 1}, {});
  dag.add(message(OpKind::Send, 2, makeMessageId(9, 0), UINT64_MAX), {}, {}, {});

  Ensure sum;
  sum.target = slice(y, {0, 0}, {1, 0});
  sum.isReduction = true;
  sum.reduction = Reduction::Max;
  sum.operandCount = 2;
  sum.loc = {4, 11, 0};
  Ensure plainCopy;
  plainCopy.target = wholeY;
  plainCopy.operandBegin = 2;
  plainCopy.operandCount = 1;
  dag.contract.ensures = {sum, plainCopy};
  dag.contract.operands = {
      {Rank{0}, slice(x, {0, 0}, {1, 0})}, {Rank{0}, slice(x, {3, 0}, {4, 0})}, {Rank{0}, wholeX}};
  return dag;
}

} // namespace

Schedule everythingSchedule() {
  Schedule s;
  s.name = "every \"thing\"\n\\";
  s.names = {"x", "y", "part", "open", "the cells", "send"};
  s.files = {"every.coll", "lib/every thing.coll"};
  s.sizeClass = {1000, 900, 4000};
  s.hasContract = true;
  s.synchronizes = true;
  s.deterministic = true;
  s.ranks.resize(4);
  s.ranks[0] = everythingRank();
  s.ranks[2].add(message(OpKind::Recv, 0, makeMessageId(9, 0), UINT64_MAX), {}, {}, {});
  return s;
}

namespace {

/// Draws the parts of a random schedule.
class Dice {
public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  uint64_t below(uint64_t limit) { return engine_() % limit; }
  bool oneIn(uint64_t n) { return below(n) == 0; }

  Buffer buffer(uint32_t names) {
    Buffer b;
    b.role = static_cast<BufferRole>(below(4));
    b.type = static_cast<ElementType>(below(kElementTypes));
    b.name = static_cast<uint32_t>(below(names));
    b.denominator = oneIn(3) ? 1 + static_cast<uint32_t>(below(7)) : 1;
    b.originScale = oneIn(4) ? static_cast<int64_t>(below(3)) : 0;
    b.originOffset = oneIn(4) ? static_cast<int64_t>(below(9)) - 4 : 0;
    b.endScale = b.originScale + static_cast<int64_t>(below(30));
    b.endOffset = b.originOffset + static_cast<int64_t>(below(5));
    b.layout = oneIn(4) ? static_cast<Layout>(below(3)) : Layout::Dense;
    b.blocks = b.layout == Layout::Dense ? 0 : 1 + static_cast<uint32_t>(below(6));
    b.significant = !oneIn(5);
    return b;
  }

  /// Part k of 1..8 of a Dense buffer, some of a block, or all of one whose length travels.
  Slice slice(const Dag &dag) {
    BufferId id{static_cast<uint32_t>(below(dag.buffers.size()))};
    const Buffer &b = dag.buffers[index(id)];
    if (b.layout != Layout::Dense)
      return {0,
              0,
              1,
              0,
              b.layout == Layout::Capacity ? 1 : 1 + static_cast<uint32_t>(below(3)),
              id,
              static_cast<uint32_t>(below(b.blocks)),
              0};
    auto parts = static_cast<int64_t>(1 + below(8));
    auto first = static_cast<int64_t>(below(parts));
    int64_t scale = b.endScale - b.originScale;
    int64_t offset = b.endOffset - b.originOffset;
    return {b.originScale * parts + scale * first,
            b.originOffset * parts + offset * first,
            b.originScale * parts + scale * (first + 1),
            b.originOffset * parts + offset * (first + 1),
            b.denominator * static_cast<uint32_t>(parts),
            id,
            kNoBlock,
            0};
  }

  /// Of a buffer of this type, which there is.
  Slice sliceOf(const Dag &dag, ElementType type) {
    for (;;)
      if (Slice s = slice(dag); dag.bufferOf(s).type == type)
        return s;
  }

  /// One that elements of this type have.
  Reduction reductionOf(ElementType type) {
    for (;;)
      if (auto reduction = static_cast<Reduction>(below(kReductions)); isDefined(reduction, type))
        return reduction;
  }

  std::vector<Slice> slices(const Dag &dag) {
    std::vector<Slice> list;
    for (uint64_t left = dag.buffers.empty() ? 0
                         : oneIn(6)          ? below(40)
                                             : 1 + below(2);
         left > 0; --left)
      list.push_back(slice(dag));
    return list;
  }

  MessageId messageId() {
    if (oneIn(3))
      return MessageId{engine_()};
    return makeMessageId(static_cast<uint32_t>(below(3)), static_cast<uint32_t>(below(3)));
  }

  SourceLoc loc(const Schedule &s) {
    if (s.files.empty() || oneIn(2))
      return {};
    return {1 + static_cast<uint32_t>(below(500)), static_cast<uint16_t>(below(100)),
            static_cast<uint16_t>(below(s.files.size()))};
  }

  std::vector<Dep> deps(uint32_t older) {
    std::vector<Dep> list;
    for (uint64_t left = older == 0 ? 0 : below(4); left > 0; --left)
      list.push_back({OpId{static_cast<uint32_t>(below(older))}, static_cast<DepKind>(below(2))});
    return list;
  }

  void addOp(Schedule &s, Dag &dag) {
    Op op;
    op.kind = static_cast<OpKind>(below(kOpKinds));
    op.side = static_cast<Side>(below(2));
    op.type = static_cast<ElementType>(below(kElementTypes));
    op.reduction = reductionOf(op.type);
    op.peer = Rank{static_cast<uint32_t>(below(s.numRanks()))};
    op.message = messageId();
    op.cpu = oneIn(4) ? static_cast<uint8_t>(below(256)) : 0;
    op.nic = oneIn(4) ? static_cast<uint8_t>(below(256)) : 0;
    if (op.kind == OpKind::Send || op.kind == OpKind::Recv) {
      op.transfer.protocol = static_cast<Protocol>(below(kProtocols));
      op.transfer.mover = static_cast<Mover>(below(kMovers));
      op.transfer.canary = op.transfer.protocol == Protocol::Static && oneIn(2);
      op.transfer.announced = op.transfer.protocol == Protocol::Static && oneIn(2);
      op.transfer.streamed = op.kind == OpKind::Recv && oneIn(2);
      op.transfer.multicast = oneIn(2);
    }
    op.loc = loc(s);
    bool reads = op.kind == OpKind::Send || op.kind == OpKind::Copy || op.kind == OpKind::Combine;
    bool writes = op.kind == OpKind::Recv || op.kind == OpKind::Copy || op.kind == OpKind::Combine;
    auto sources = reads ? slices(dag) : std::vector<Slice>();
    auto targets = writes ? slices(dag) : std::vector<Slice>();
    if (sources.empty() && targets.empty() && op.kind != OpKind::Signal && op.kind != OpKind::Wait)
      op.amount = oneIn(2) ? engine_() : below(100);
    dag.add(op, sources, targets, deps(dag.size()));
  }

  void addEnsure(const Schedule &s, Dag &dag, uint32_t rank) {
    if (dag.buffers.empty())
      return;
    Ensure e;
    e.target = slice(dag);
    e.isReduction = oneIn(2);
    ElementType type = dag.bufferOf(e.target).type;
    e.reduction = e.isReduction ? reductionOf(type) : Reduction::Sum;
    e.operandBegin = static_cast<uint32_t>(dag.contract.operands.size());
    e.operandCount = e.isReduction ? 1 + static_cast<uint32_t>(below(30)) : 1;
    e.loc = loc(s);
    for (uint32_t i = 0; i < e.operandCount; ++i)
      dag.contract.operands.push_back({Rank{rank}, sliceOf(dag, type)});
    dag.contract.ensures.push_back(e);
  }

  Dag dag(Schedule &s, uint32_t rank) {
    Dag dag;
    for (uint64_t left = below(6); left > 0; --left) {
      Buffer b = buffer(static_cast<uint32_t>(s.names.size()));
      if (!dag.buffers.empty() && oneIn(3)) {
        dag.slices.push_back(slice(dag));
        b.aliasOf = dag.slices.back().buffer;
        b.aliasSlice = static_cast<uint32_t>(dag.slices.size() - 1);
      }
      dag.addBuffer(b);
    }
    for (uint64_t left = below(30); left > 0; --left)
      addOp(s, dag);
    for (uint64_t left = s.hasContract ? below(4) : 0; left > 0; --left)
      addEnsure(s, dag, rank);
    return dag;
  }

private:
  std::mt19937_64 engine_;
};

} // namespace

Schedule randomSchedule(uint64_t seed) {
  Dice dice(seed);
  Schedule s;
  s.name = dice.oneIn(5) ? "" : "random";
  s.names = {"x", "y", "acc", "in", "n", "a b", "l0", "", "\x01\xff\"\\"};
  for (uint64_t left = dice.below(3); left > 0; --left)
    s.files.push_back("file" + std::to_string(left) + ".coll");
  s.sizeClass.elements = dice.below(3000);
  if (dice.oneIn(2))
    s.sizeClass = {s.sizeClass.elements, s.sizeClass.elements / 2, s.sizeClass.elements * 2};
  s.hasContract = dice.oneIn(2);
  s.synchronizes = s.hasContract && dice.oneIn(2);
  s.deterministic = s.hasContract && dice.oneIn(2);
  s.ranks.resize(1 + dice.below(5));
  for (uint32_t r = 0; r < s.numRanks(); ++r)
    s.ranks[r] = dice.dag(s, r);
  return s;
}

} // namespace colldsl
