#include "tests/verifier/Machine.h"

#include <algorithm>

namespace colldsl::test {
namespace {

constexpr uint64_t kElementBytes = 4;

Cell combineCells(const std::string &op, const Cell &left, const Cell &right) {
  Cell cell{true, "(" + left.tree + op + right.tree + ")", op, {}};
  for (const Cell *side : {&left, &right}) {
    bool flat = side->op.empty() || side->op == op;
    if (flat)
      cell.operands.insert(cell.operands.end(), side->operands.begin(), side->operands.end());
    else
      cell.operands.push_back(side->tree);
  }
  return cell;
}

} // namespace

Machine::Machine(const Schedule &schedule, const std::vector<Sizes> &sizes)
    : schedule_(schedule), sizes_(sizes) {
  for (const Dag &dag : schedule.ranks)
    ops_.emplace_back(dag.size());
  pairMessages();
  fillMemory();
}

void Machine::pairMessages() {
  std::map<std::tuple<uint32_t, uint32_t, MessageId>, Place> sends;
  auto forEachOp = [&](auto visit) {
    for (uint32_t r = 0; r < ops_.size(); ++r)
      for (uint32_t i = 0; i < ops_[r].size(); ++i)
        visit(Place{r, i});
  };
  forEachOp([&](Place p) {
    if (sendsMessage(op(p).kind))
      sends[{p.first, index(op(p).peer), op(p).message}] = p;
  });
  forEachOp([&](Place p) {
    if (!receivesMessage(op(p).kind))
      return;
    Place sender = sends.at({index(op(p).peer), p.first, op(p).message});
    bool bytes = payloadBytes(schedule_.ranks[p.first], op(p), sizes_[p.first]) > 0;
    opOf(p).partner = sender;
    opOf(sender).partner = p;
    opOf(p).travels = opOf(sender).travels = bytes || op(p).kind == OpKind::Wait;
  });
}

void Machine::fillMemory() {
  for (uint32_t r = 0; r < ops_.size(); ++r) {
    auto &cells = memory_.emplace_back();
    auto &begins = bufferBegins_.emplace_back();
    const Dag &dag = schedule_.ranks[r];
    for (uint32_t b = 0; b < dag.buffers.size(); ++b) {
      begins.push_back(cells.size());
      uint64_t elements = extentBytes(dag.buffers[b], sizes_[r]) / kElementBytes;
      bool holds =
          dag.buffers[b].role == BufferRole::In || dag.buffers[b].role == BufferRole::InOut;
      for (uint64_t i = 0; i < elements; ++i) {
        std::string name = entryName(r, BufferId{b}, i);
        cells.push_back(holds ? Cell{true, name, "", {name}} : Cell());
      }
    }
  }
}

std::string Machine::entryName(uint32_t rank, BufferId buffer, uint64_t element) const {
  return std::to_string(rank) + "." + std::to_string(index(buffer)) + "." + std::to_string(element);
}

size_t Machine::cellIndex(uint32_t rank, BufferId buffer, uint64_t element) const {
  return bufferBegins_[rank][index(buffer)] + element;
}

const Cell &Machine::cell(uint32_t rank, BufferId buffer, uint64_t element) const {
  return memory_[rank][cellIndex(rank, buffer, element)];
}

std::vector<size_t> Machine::touched(uint32_t rank, std::span<const Slice> slices) const {
  std::vector<size_t> cells;
  for (const Slice &slice : slices) {
    ByteRange range = resolve(slice, schedule_.ranks[rank].bufferOf(slice), sizes_[rank]);
    for (uint64_t at = range.offset; at < range.end(); at += kElementBytes)
      cells.push_back(cellIndex(rank, slice.buffer, at / kElementBytes));
  }
  return cells;
}

bool Machine::allFinished() const {
  return std::all_of(ops_.begin(), ops_.end(), [](const auto &rank) {
    return std::all_of(rank.begin(), rank.end(), [](const OpState &op) { return op.finished; });
  });
}

void Machine::run(std::mt19937 &random) {
  while (true) {
    std::vector<std::pair<Place, bool>> possible; // op, whether it would finish
    for (uint32_t r = 0; r < ops_.size(); ++r)
      for (uint32_t i = 0; i < ops_[r].size(); ++i) {
        if (mayStart({r, i}))
          possible.push_back({{r, i}, false});
        if (mayFinish({r, i}))
          possible.push_back({{r, i}, true});
      }
    if (possible.empty())
      return;
    auto [place, finishes] = possible[random() % possible.size()];
    if (finishes)
      finish(place);
    else
      start(place);
  }
}

bool Machine::mayStart(Place p) const {
  if (opOf(p).started || neverStart.count(p))
    return false;
  for (const Dep &dep : schedule_.ranks[p.first].depsOf(op(p))) {
    const OpState &older = ops_[p.first][index(dep.op)];
    if (!(dep.kind == DepKind::Requires ? older.finished : older.started))
      return false;
  }
  bool queues = buffering == Buffering::Channels && sendsMessage(op(p).kind) && opOf(p).travels;
  return !queues || isNextInChannel(p);
}

/// The earlier sends of the channel have been put in, and there is room.
bool Machine::isNextInChannel(Place p) const {
  for (uint32_t i = 0; i < p.second; ++i) {
    const Op &other = op({p.first, i});
    bool sameChannel = sendsMessage(other.kind) && other.peer == op(p).peer;
    if (sameChannel && ops_[p.first][i].travels && !ops_[p.first][i].started)
      return false;
  }
  auto channel = channels_.find({p.first, index(op(p).peer)});
  return slots == 0 || channel == channels_.end() || channel->second.size() < slots;
}

bool Machine::mayFinish(Place p) const {
  const OpState &state = opOf(p);
  if (!state.started || state.finished || neverFinish.count(p))
    return false;
  if (!state.travels)
    return true;
  if (sendsMessage(op(p).kind))
    return buffering != Buffering::None || opOf(state.partner).started;
  if (buffering != Buffering::Channels)
    return opOf(state.partner).started;
  auto channel = channels_.find({state.partner.first, p.first});
  return channel != channels_.end() && !channel->second.empty() &&
         channel->second.front() == state.partner;
}

void Machine::start(Place p) {
  opOf(p).started = true;
  if (!sendsMessage(op(p).kind) || !opOf(p).travels)
    return;
  opOf(p).payload = read(p, schedule_.ranks[p.first].sources(op(p)));
  channels_[{p.first, index(op(p).peer)}].push_back(p);
}

void Machine::finish(Place p) {
  opOf(p).finished = true;
  switch (op(p).kind) {
  case OpKind::Recv:
  case OpKind::Wait:
    if (opOf(p).travels) {
      std::erase(channels_[{opOf(p).partner.first, p.first}], opOf(p).partner);
      write(p, opOf(opOf(p).partner).payload);
    }
    return;
  case OpKind::Copy:
    return write(p, read(p, schedule_.ranks[p.first].sources(op(p))));
  case OpKind::Combine:
    return write(p, combined(p));
  case OpKind::Send:
  case OpKind::Signal:
  case OpKind::Calc:
    return;
  }
}

std::vector<Cell> Machine::read(Place p, std::span<const Slice> slices) {
  std::vector<Cell> cells;
  for (size_t at : touched(p.first, slices)) {
    cells.push_back(memory_[p.first][at]);
    readUndefined_ |= !cells.back().defined;
  }
  return cells;
}

std::vector<Cell> Machine::combined(Place p) {
  std::vector<Cell> incoming = read(p, schedule_.ranks[p.first].sources(op(p)));
  std::vector<Cell> present = read(p, schedule_.ranks[p.first].targets(op(p)));
  std::string sign(spelling(op(p).reduction));
  for (size_t i = 0; i < present.size(); ++i)
    present[i] = op(p).side == Side::Before ? combineCells(sign, incoming[i], present[i])
                                            : combineCells(sign, present[i], incoming[i]);
  return present;
}

void Machine::write(Place p, const std::vector<Cell> &cells) {
  std::vector<size_t> targets = touched(p.first, schedule_.ranks[p.first].targets(op(p)));
  for (size_t i = 0; i < targets.size(); ++i)
    memory_[p.first][targets[i]] = cells[i];
}

} // namespace colldsl::test
