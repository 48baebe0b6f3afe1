#include "tests/verifier/Oracle.h"

#include <algorithm>

namespace colldsl::test {
namespace {

constexpr int kRuns = 4;
constexpr uint64_t kElementBytes = 4;

bool meet(const std::vector<size_t> &a, const std::vector<size_t> &b) {
  return std::any_of(a.begin(), a.end(),
                     [&](size_t cell) { return std::find(b.begin(), b.end(), cell) != b.end(); });
}

} // namespace

bool Oracle::getsStuck(Buffering buffering) {
  Machine machine(schedule_, sizes_);
  machine.buffering = buffering;
  machine.slots = slots_;
  machine.run(random_);
  return !machine.allFinished();
}

bool Oracle::deadlocks() {
  bool stuck = false;
  for (int i = 0; i < kRuns; ++i)
    stuck |= getsStuck(Buffering::None) || getsStuck(Buffering::Channels);
  return stuck;
}

bool Oracle::conflict(uint32_t rank, const Op &a, const Op &b) const {
  const Dag &dag = schedule_.ranks[rank];
  auto reads = [&](const Op &op) { return idle_.touched(rank, dag.sources(op)); };
  auto writes = [&](const Op &op) { return idle_.touched(rank, dag.targets(op)); };
  return meet(writes(a), writes(b)) || meet(reads(a), writes(b)) || meet(writes(a), reads(b));
}

bool Oracle::isSelfConflict(uint32_t rank, const Op &op) const {
  const Dag &dag = schedule_.ranks[rank];
  std::vector<size_t> from = idle_.touched(rank, dag.sources(op));
  std::vector<size_t> to = idle_.touched(rank, dag.targets(op));
  std::set<size_t> distinct(to.begin(), to.end());
  if (distinct.size() < to.size())
    return true;
  for (size_t i = 0; i < from.size() && !to.empty(); ++i)
    for (size_t k = 0; k < to.size(); ++k)
      if (i != k && from[i] == to[k])
        return true;
  return false;
}

/// Whether an op can touch its bytes while another one takes forever: a send until its receive has
/// finished. A receive touches its own once its send has started.
bool Oracle::touchesWhile(Machine::Place slow, Machine::Place other) {
  Machine machine(schedule_, sizes_);
  machine.neverFinish = {slow};
  if (auto receive = machine.receiveOf(slow))
    machine.neverFinish.insert(*receive);
  machine.run(random_);
  auto send = machine.sendOf(other);
  return machine.started(other) && (!send || machine.started(*send));
}

/// Each of the two can, while the other one takes forever.
bool Oracle::mayOverlap(Machine::Place a, Machine::Place b) {
  return touchesWhile(a, b) && touchesWhile(b, a);
}

bool Oracle::races() {
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    const auto &ops = schedule_.ranks[r].ops;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      if (isSelfConflict(r, ops[i]))
        return true;
      for (uint32_t k = 0; k < i; ++k)
        if (conflict(r, ops[i], ops[k]) && mayOverlap({r, i}, {r, k}))
          return true;
    }
  }
  return false;
}

bool Oracle::breaksContract() {
  bool broken = writesTooMuch() || (schedule_.synchronizes && failsToSynchronize());
  for (int i = 0; i < kRuns && !broken; ++i) {
    Machine machine(schedule_, sizes_);
    machine.run(random_);
    broken |= machine.readUndefined() || breaksPromise(machine) ||
              (schedule_.deterministic && treesDiffer(machine));
  }
  return broken;
}

bool Oracle::breaksPromise(const Machine &machine) {
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    for (const Ensure &ensure : schedule_.ranks[r].contract.ensures) {
      const Dag &dag = schedule_.ranks[r];
      uint64_t bytes = resolve(ensure.target, dag.bufferOf(ensure.target), sizes_[r]).length;
      for (uint64_t i = 0; i < bytes / kElementBytes; ++i)
        if (!isPromised(machine, r, ensure, i))
          return true;
    }
  return false;
}

bool Oracle::isPromised(const Machine &machine, uint32_t rank, const Ensure &ensure,
                        uint64_t element) const {
  auto elementAt = [&](uint32_t r, const Slice &slice) {
    ByteRange range = resolve(slice, schedule_.ranks[r].bufferOf(slice), sizes_[r]);
    return range.offset / kElementBytes + element;
  };
  const Cell &cell = machine.cell(rank, ensure.target.buffer, elementAt(rank, ensure.target));
  std::vector<std::string> promised;
  for (const EntryValue &operand : schedule_.ranks[rank].contract.operandsOf(ensure))
    promised.push_back(machine.entryName(index(operand.rank), operand.slice.buffer,
                                         elementAt(index(operand.rank), operand.slice)));
  std::vector<std::string> found = cell.operands;
  bool rightOp = promised.size() == 1 ? cell.op.empty() : cell.op == spelling(ensure.reduction);
  if (isCommutative(ensure.reduction)) {
    std::sort(promised.begin(), promised.end());
    std::sort(found.begin(), found.end());
  }
  return cell.defined && rightOp && found == promised;
}

bool Oracle::writesTooMuch() const {
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    const Dag &dag = schedule_.ranks[r];
    std::set<size_t> promised;
    for (const Ensure &ensure : dag.contract.ensures)
      for (size_t cell : idle_.touched(r, {&ensure.target, 1}))
        promised.insert(cell);
    for (const Op &op : dag.ops)
      for (const Slice &slice : dag.targets(op))
        for (size_t cell : idle_.touched(r, {&slice, 1})) {
          BufferRole role = dag.bufferOf(slice).role;
          if (role == BufferRole::In || (role != BufferRole::Temp && !promised.count(cell)))
            return true;
        }
  }
  return false;
}

/// Some rank gets through while another one does nothing at all.
bool Oracle::failsToSynchronize() {
  for (uint32_t late = 0; late < schedule_.numRanks(); ++late) {
    Machine machine(schedule_, sizes_);
    for (uint32_t i = 0; i < schedule_.ranks[late].size(); ++i)
      machine.neverStart.insert({late, i});
    machine.run(random_);
    for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
      bool done = true;
      for (uint32_t i = 0; i < schedule_.ranks[r].size(); ++i)
        done &= machine.finished({r, i});
      if (done && r != late)
        return true;
    }
  }
  return false;
}

bool Oracle::treesDiffer(const Machine &machine) const {
  std::map<std::vector<std::string>, std::string> trees;
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    for (const Ensure &ensure : schedule_.ranks[r].contract.ensures) {
      if (!ensure.isReduction)
        continue;
      const Slice &target = ensure.target;
      ByteRange range = resolve(target, schedule_.ranks[r].bufferOf(target), sizes_[r]);
      for (uint64_t at = range.offset; at < range.end(); at += kElementBytes) {
        const Cell &cell = machine.cell(r, target.buffer, at / kElementBytes);
        std::vector<std::string> key = cell.operands;
        if (isCommutative(ensure.reduction))
          std::sort(key.begin(), key.end());
        key.push_back(cell.op);
        if (trees.emplace(key, cell.tree).first->second != cell.tree)
          return true;
      }
    }
  return false;
}

} // namespace colldsl::test
