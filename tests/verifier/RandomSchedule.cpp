#include "tests/verifier/RandomSchedule.h"

#include "tests/verifier/Machine.h"

#include <cstdio>

namespace colldsl::test {

RandomSchedule::RandomSchedule(uint32_t seed)
    : random_(seed), b_(1 + below(3), kElements), x_(b_.param("x", BufferRole::In)),
      w_(b_.param("w", BufferRole::InOut)), y_(b_.param("y", BufferRole::Out)) {
  for (uint32_t r = 0; r < b_.ranks(); ++r)
    t_ = b_.temp(r, "t");
  usual_ = std::array{Reduction::Sum, Reduction::Max, Reduction::MatMul}[below(3)];
  b_.followsData = chance(85);
}

ScheduleBuilder RandomSchedule::make() {
  for (uint32_t r = 0; r < b_.ranks(); ++r)
    b_.copy(r, {b_.blockOf(x_, 0)}, {b_.blockOf(chance(50) ? y_ : t_, 0)});
  for (uint32_t steps = 2 + below(6); steps > 0; --steps) {
    uint32_t kind = below(10);
    kind < 4 ? addLocal() : kind < 8 ? addMessage() : addSignal();
    placeSomePending(40);
  }
  placeSomePending(100);
  if (chance(40))
    tamperWithDeps();
  promiseWhatHappens();
  if (chance(25))
    tamperWithContract();
  b_.schedule().deterministic = chance(40);
  b_.schedule().synchronizes = chance(15);
  return b_;
}

Slice RandomSchedule::slice(BufferId buffer, int64_t length) {
  int64_t begin = below(static_cast<uint32_t>(kElements - length + 1));
  return b_.elementsOf(buffer, begin, begin + length);
}

BufferId RandomSchedule::readable() { return std::array{x_, x_, w_, y_, t_}[below(5)]; }

BufferId RandomSchedule::writable() {
  return chance(3) ? x_ : std::array{w_, y_, y_, t_, t_}[below(5)];
}

Reduction RandomSchedule::reduction() { return chance(95) ? usual_ : Reduction::Bxor; }

void RandomSchedule::addLocal() {
  uint32_t rank = below(b_.ranks());
  int64_t length = 1 + below(4);
  Slice from = slice(readable(), length), to = slice(writable(), length);
  Reduction op = reduction();
  Side side = chance(50) ? Side::Before : Side::After;
  bool combines = chance(60);
  place([=, this] {
    if (combines)
      b_.combine(rank, from, to, side, op);
    else
      b_.copy(rank, {from}, {to});
  });
}

void RandomSchedule::addMessage() {
  uint32_t from = below(b_.ranks()), to = below(b_.ranks()), tag = tag_++;
  int64_t length = below(5);
  Slices sources{slice(readable(), length)}, targets{slice(writable(), length)};
  if (length > 1 && chance(20)) {
    sources = {slice(readable(), 1), slice(readable(), length - 1)};
    targets = {slice(writable(), length - 1), slice(writable(), 1)};
  }
  place([=, this] { b_.send(from, sources, to, {}, tag); });
  place([=, this] { b_.recv(to, targets, from, {}, tag); });
}

void RandomSchedule::addSignal() {
  uint32_t from = below(b_.ranks()), to = below(b_.ranks()), tag = tag_++;
  bool follows = chance(70); // the ops before and after it
  auto last = [this](uint32_t rank) { return OpId{b_.schedule().ranks[rank].size() - 1}; };
  place([=, this] { b_.signal(from, to, follows ? Deps{requires_(last(from))} : Deps{}, tag); });
  place([=, this] { b_.wait(to, from, follows ? Deps{requires_(last(to))} : Deps{}, tag); });
}

void RandomSchedule::place(std::function<void()> op) {
  if (chance(75))
    op();
  else
    pending_.push_back(std::move(op));
}

void RandomSchedule::placeSomePending(uint32_t percent) {
  std::vector<std::function<void()>> kept;
  for (auto &op : std::exchange(pending_, {}))
    if (chance(percent))
      op();
    else
      kept.push_back(std::move(op));
  pending_ = std::move(kept);
}

void RandomSchedule::tamperWithDeps() {
  Dag &dag = b_.schedule().ranks[below(b_.ranks())];
  Op &op = dag.ops[below(dag.size())];
  if (op.depCount == 0)
    return;
  Dep &dep = dag.deps[op.depBegin + below(op.depCount)];
  switch (below(3)) {
  case 0:
    dep.kind = DepKind::IRequires;
    return;
  case 1:
    dep.op = OpId{below(index(dep.op) + 1)};
    return;
  case 2:
    dep = dag.deps[op.depBegin + --op.depCount];
    return;
  }
}

void RandomSchedule::promiseWhatHappens() {
  Machine machine(b_.schedule(), b_.sizes());
  machine.run(random_);
  for (uint32_t r = 0; r < b_.ranks(); ++r) {
    promiseBuffer(machine, r, y_);
    promiseBuffer(machine, r, w_);
  }
}

/// One promise for as many elements as go on alike.
void RandomSchedule::promiseBuffer(const Machine &machine, uint32_t rank, BufferId buffer) {
  int64_t begin = 0;
  std::optional<Postcondition> first;
  for (int64_t i = 0; i <= kElements; ++i) {
    auto next = i < kElements ? promiseOf(machine, rank, buffer, i) : std::nullopt;
    bool goesOn =
        first && next && first->op == next->op && first->operands.size() == next->operands.size();
    for (size_t k = 0; goesOn && k < next->operands.size(); ++k) {
      const EntryValue &a = first->operands[k], &c = next->operands[k];
      goesOn = a.rank == c.rank && a.slice.buffer == c.slice.buffer &&
               a.slice.beginOffset + (i - begin) == c.slice.beginOffset;
    }
    if (goesOn)
      continue;
    if (first)
      add(rank, buffer, begin, i, *first);
    first = next;
    begin = i;
  }
}

std::optional<RandomSchedule::Postcondition> RandomSchedule::promiseOf(const Machine &machine,
                                                                       uint32_t rank,
                                                                       BufferId buffer,
                                                                       int64_t element) const {
  const Cell &cell = machine.cell(rank, buffer, static_cast<uint64_t>(element));
  Postcondition promise{cell.op, {}};
  for (const std::string &operand : cell.operands) {
    unsigned owner, source, at;
    if (std::sscanf(operand.c_str(), "%u.%u.%u", &owner, &source, &at) != 3)
      return std::nullopt; // of another operator; no promise can say it
    promise.operands.push_back({Rank{owner}, b_.elementsOf(BufferId{source}, at, at + 1)});
  }
  return cell.defined ? std::optional(promise) : std::nullopt;
}

void RandomSchedule::add(uint32_t rank, BufferId buffer, int64_t begin, int64_t end,
                         Postcondition promise) {
  for (EntryValue &operand : promise.operands)
    operand.slice.endOffset = operand.slice.beginOffset + (end - begin);
  Slice target = b_.elementsOf(buffer, begin, end);
  if (promise.op.empty())
    b_.ensure(rank, target, index(promise.operands[0].rank), promise.operands[0].slice);
  else
    b_.ensureReduce(rank, target, promise.operands, *parseReduction(promise.op));
}

void RandomSchedule::tamperWithContract() {
  Contract &contract = b_.schedule().ranks[below(b_.ranks())].contract;
  if (contract.ensures.empty())
    return;
  uint32_t last = static_cast<uint32_t>(contract.operands.size());
  EntryValue &one = contract.operands[below(last)];
  switch (below(3)) {
  case 0:
    one.rank = Rank{below(b_.ranks())};
    return;
  case 1:
    std::swap(one.rank, contract.operands[below(last)].rank);
    return;
  case 2:
    contract.ensures.pop_back();
    return;
  }
}

} // namespace colldsl::test
