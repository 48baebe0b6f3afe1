#include "mscclpp/PlanSchedule.h"

#include "ir/Concat.h"
#include "mscclpp/Lengths.h"
#include "mscclpp/PlanLayout.h"
#include "mscclpp/PlanRun.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace colldsl::mscclpp {
namespace {

using IrOp = colldsl::Op;
using IrKind = colldsl::OpKind;

constexpr size_t kMostProcessors = 256; ///< of a rank
constexpr size_t kOthers = 2;           ///< of these: the memory, and the proxy
constexpr uint8_t kLink = 0, kProxyLink = 1;

/// The order of an execution, and behind it the steps that wait for ever, each after those that its
/// own GPU has before it.
std::vector<EventId> orderOfAll(const Events &events, const Execution &execution) {
  std::vector<EventId> order = execution.order;
  std::vector<bool> isKnown(events.all.size(), false);
  for (EventId id : order)
    isKnown[id] = true;
  std::vector<size_t> missing(events.all.size(), 0);
  std::vector<std::vector<EventId>> after(events.all.size());
  for (EventId id = 0; id < events.all.size(); ++id)
    for (EventId before : events.all[id].before)
      if (!isKnown[id] && !isKnown[before]) {
        ++missing[id];
        after[before].push_back(id);
      }
  size_t done = order.size();
  for (EventId id = 0; id < events.all.size(); ++id)
    if (!isKnown[id] && missing[id] == 0)
      order.push_back(id);
  for (; done < order.size(); ++done)
    for (EventId next : after[order[done]])
      if (--missing[next] == 0)
        order.push_back(next);
  return order;
}

class ScheduleBuilder {
public:
  ScheduleBuilder(const Plan &plan, const Memory &memory, const Events &events, uint64_t chunkBytes,
                  Signals signals)
      : plan_(plan), memory_(memory), events_(events), chunkBytes_(chunkBytes), signals_(signals),
        execution_(execute(events, memory.size())), groupOf_(events.all.size(), kNone) {}

  PlanSchedule build(const std::string &file) {
    made_.schedule.name = plan_.name.empty() ? "plan" : plan_.name;
    made_.schedule.files = {file};
    made_.schedule.ranks.resize(plan_.numGpus());
    made_.ops.assign(events_.all.size(), kNoOp);
    std::vector<EventId> order = orderOfAll(events_, execution_);
    findGroups(order);
    pairSignals(order);
    for (EventId id : order)
      if (groupOf_[id] == kNone)
        addStep(id);
      else if (groups_[groupOf_[id]].events.back() == id)
        addGroup(groupOf_[id]);
    receiveRest();
    return std::move(made_);
  }

private:
  /// Steps of an op that move cells between the same GPUs, which become one op or message each way.
  struct Group {
    std::vector<EventId> events;
    bool isRequest = false; ///< the proxy reads, and writes to `target`
    uint32_t target = 0;
    bool arePackets = false;
    OpId done = kNoOp;
  };
  struct Message {
    MessageId id{0};
    uint64_t bytes = 0;
    OpId recv = kNoOp; ///< of its first reader
  };
  using Deps = std::set<OpId>;

  void findGroups(const std::vector<EventId> &order);
  void pairSignals(const std::vector<EventId> &order);
  void addStep(EventId id);
  OpId addSignal(EventId id, const Deps &deps);
  void addGroup(uint32_t number);
  OpId addRequest(uint32_t number, const Deps &deps);
  OpId addReads(const Group &group, Deps &deps);
  OpId addWork(const Group &group, Deps &deps, OpId received);
  OpId addWrites(uint32_t number, Deps deps, OpId computed);
  OpId send(uint32_t number, uint32_t gpu, bool arePackets, IrOp op, const Deps &deps);
  Message &packetsOf(uint32_t group, uint32_t gpu);
  OpId receivePackets(uint32_t group, const Event &reader);
  void receiveRest();
  void addInMemory(uint32_t gpu, IrOp op, const Event &cause);
  OpId add(const Event &event, IrOp op, Deps deps);
  OpId add(const Event &event, IrKind kind, const Deps &deps, uint64_t amount = 0);
  IrOp opOn(const Event &event, IrKind kind, uint64_t amount) const;
  Deps depsOf(EventId id) const;
  MessageId newMessage(uint32_t from, uint32_t to) {
    return makeMessageId(numMessages_[{from, to}]++, 0);
  }
  uint64_t bytesOf(const Group &group) const {
    return chunkBytes_ * group.events.size() / memory_.perChunk();
  }
  SourceLoc locOf(const Event &event) const;
  /// The number of a processor besides those of the threadblocks.
  uint8_t lane(uint32_t gpu, size_t beyond) const {
    return static_cast<uint8_t>(plan_.gpus[gpu].threadBlocks.size() + beyond);
  }
  uint8_t memoryOf(uint32_t gpu) const { return lane(gpu, 0); }
  uint8_t proxyOf(uint32_t gpu) const { return lane(gpu, 1); }

  const Plan &plan_;
  const Memory &memory_;
  const Events &events_;
  uint64_t chunkBytes_;
  Signals signals_;
  Execution execution_;
  PlanSchedule made_;
  std::vector<Group> groups_;
  std::vector<uint32_t> groupOf_; ///< per event
  std::map<EventId, MessageId> signalOf_;
  std::map<EventId, EventId> releaseOf_;                          ///< of acquires
  std::map<std::pair<uint32_t, uint32_t>, Message> packets_;      ///< by group and receiver
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numMessages_; ///< by sender and receiver
};

// The proxy reads in one step and writes in another, which are one message.
void ScheduleBuilder::findGroups(const std::vector<EventId> &order) {
  std::map<EventId, EventId> writeOf;
  for (EventId id = 0; id < events_.all.size(); ++id)
    if (EventId from = events_.all[id].valueFrom; from != kNoEvent)
      writeOf[from] = id;
  std::map<std::vector<uint32_t>, uint32_t> known;
  for (EventId id : order) {
    const Event &event = events_.all[id];
    if (event.step != Step::Data || event.valueFrom != kNoEvent)
      continue;
    auto write = writeOf.find(id);
    std::vector<uint32_t> key{event.launch, event.gpu,       event.block,           event.op,
                              event.member, event.iteration, write != writeOf.end()};
    auto extend = [&](const Event &with) {
      for (const Access &access : with.accesses) {
        key.push_back(memory_.gpuOf(access.location));
        key.push_back(static_cast<uint32_t>(access.kind));
      }
    };
    extend(event);
    if (write != writeOf.end())
      extend(events_.all[write->second]);
    auto [at, isNew] = known.try_emplace(key, static_cast<uint32_t>(groups_.size()));
    if (isNew)
      groups_.emplace_back();
    Group &group = groups_[at->second];
    group.events.push_back(id);
    groupOf_[id] = at->second;
    if (write == writeOf.end())
      continue;
    const Access &target = events_.all[write->second].accesses.front();
    group.isRequest = true;
    group.target = memory_.gpuOf(target.location);
    group.arePackets = target.kind == AccessKind::PacketWrite;
  }
}

// The n-th signal of a counter is for the n-th wait, in the order of one execution.
void ScheduleBuilder::pairSignals(const std::vector<EventId> &order) {
  std::vector<std::vector<EventId>> waits(events_.counters.size());
  std::vector<std::vector<EventId>> signals(events_.counters.size());
  for (EventId id : order) {
    const Event &event = events_.all[id];
    if (event.counter == kNone)
      continue;
    bool waitsThere = event.step == Step::Wait || event.step == Step::Acquire;
    (waitsThere ? waits : signals)[event.counter].push_back(id);
  }
  for (size_t i = 0; i < waits.size(); ++i) {
    const Counter &counter = events_.counters[i];
    auto skipped = static_cast<size_t>(counter.initial);
    for (size_t k = skipped; k < waits[i].size() && k - skipped < signals[i].size(); ++k) {
      EventId wait = waits[i][k], signal = signals[i][k - skipped];
      if (counter.kind == ChannelKind::None) {
        releaseOf_[wait] = signal;
        continue;
      }
      bool isRelaxed = events_.all[wait].relaxed || events_.all[signal].relaxed;
      if (isRelaxed && signals_ == Signals::OfData)
        continue;
      uint32_t from = events_.all[signal].gpu;
      signalOf_[wait] = signalOf_[signal] = newMessage(from, counter.gpu);
    }
  }
}

ScheduleBuilder::Deps ScheduleBuilder::depsOf(EventId id) const {
  Deps deps;
  for (EventId before : events_.all[id].before)
    if (OpId op = made_.ops[before]; op != kNoOp)
      deps.insert(op);
  return deps;
}

SourceLoc ScheduleBuilder::locOf(const Event &event) const {
  if (event.block == kNone || event.op == kNone)
    return {};
  const mscclpp::Op &op = plan_.gpus[event.gpu].threadBlocks[event.block].ops[event.op];
  return event.member == kNone ? op.loc : op.members[event.member].loc;
}

/// Adds an op of the event's GPU. Its processor is that of the threadblock, unless it has one.
OpId ScheduleBuilder::add(const Event &event, IrOp op, Deps deps) {
  Dag &dag = made_.schedule.ranks[event.gpu];
  op.loc = locOf(event);
  // The others wait for some of them already.
  for (OpId dep : Deps(deps))
    for (const Dep &older : dag.depsOf(dag.op(dep)))
      deps.erase(older.op);
  std::vector<Dep> list;
  for (OpId dep : deps)
    list.push_back({dep, DepKind::Requires});
  return dag.add(op, {}, {}, list);
}

OpId ScheduleBuilder::add(const Event &event, IrKind kind, const Deps &deps, uint64_t amount) {
  return add(event, opOn(event, kind, amount), deps);
}

IrOp ScheduleBuilder::opOn(const Event &event, IrKind kind, uint64_t amount) const {
  IrOp op;
  op.kind = kind;
  op.amount = amount;
  op.cpu = static_cast<uint8_t>(event.block == kNone ? 0 : event.block);
  return op;
}

/// Adds an end of a message to the memory of a GPU, which no threadblock waits for.
void ScheduleBuilder::addInMemory(uint32_t gpu, IrOp op, const Event &cause) {
  op.cpu = memoryOf(gpu);
  op.loc = locOf(cause);
  made_.schedule.ranks[gpu].add(op, {}, {}, {});
}

ScheduleBuilder::Message &ScheduleBuilder::packetsOf(uint32_t group, uint32_t gpu) {
  auto [at, isNew] = packets_.try_emplace({group, gpu});
  const Group &from = groups_[group];
  if (isNew)
    at->second = {newMessage(events_.all[from.events.front()].gpu, gpu), 2 * bytesOf(from), kNoOp};
  return at->second;
}

/// The op that receives the packets of a group. Its first reader adds it.
OpId ScheduleBuilder::receivePackets(uint32_t group, const Event &reader) {
  Message &message = packetsOf(group, reader.gpu);
  if (message.recv != kNoOp)
    return message.recv;
  const Group &from = groups_[group];
  IrOp op = opOn(reader, IrKind::Recv, message.bytes);
  op.peer = Rank{events_.all[from.events.front()].gpu};
  op.message = message.id;
  op.transfer.protocol = Protocol::Eager;
  op.nic = from.isRequest ? kProxyLink : kLink;
  return message.recv = add(reader, op, {});
}

void ScheduleBuilder::addStep(EventId id) {
  const Event &event = events_.all[id];
  Deps deps = depsOf(id);
  switch (event.step) {
  case Step::Data: // the proxy writes what it has read
    made_.ops[id] = made_.ops[event.valueFrom];
    return;
  case Step::Signal:
  case Step::Wait:
    made_.ops[id] = addSignal(id, deps);
    return;
  case Step::Acquire:
    if (auto release = releaseOf_.find(id); release != releaseOf_.end())
      if (OpId op = made_.ops[release->second]; op != kNoOp)
        deps.insert(op);
    [[fallthrough]];
  case Step::User:
  case Step::Begin:
  case Step::End:
  case Step::Sync:
  case Step::Push:
  case Step::Flushed:
  case Step::Release:
    made_.ops[id] = add(event, IrKind::Calc, deps);
    return;
  }
}

// A signal or wait without a partner is an end of a message that has no other.
OpId ScheduleBuilder::addSignal(EventId id, const Deps &deps) {
  const Event &event = events_.all[id];
  if (event.counter == kNone)
    return add(event, IrKind::Calc, deps);
  const Counter &counter = events_.counters[event.counter];
  bool isSignal = event.step == Step::Signal, isPort = counter.kind == ChannelKind::Port;
  uint32_t from = plan_.gpus[counter.gpu].channels(counter.kind)[counter.index].peer;
  auto message = signalOf_.find(id);
  IrOp op = opOn(event, isSignal ? IrKind::Signal : IrKind::Wait, 0);
  op.peer = Rank{isSignal ? counter.gpu : from};
  op.message = message != signalOf_.end() ? message->second : newMessage(from, counter.gpu);
  op.nic = isPort ? kProxyLink : kLink;
  if (isPort && isSignal)
    op.cpu = proxyOf(event.gpu);
  return add(event, op, deps);
}

void ScheduleBuilder::addGroup(uint32_t number) {
  Group &group = groups_[number];
  const Event &event = events_.all[group.events.front()];
  Deps deps;
  for (EventId id : group.events)
    deps.merge(depsOf(id));
  if (group.isRequest) {
    group.done = addRequest(number, deps);
  } else {
    OpId received = addReads(group, deps);
    OpId computed = addWork(group, deps, received);
    OpId written = addWrites(number, deps, computed);
    group.done = written == kNoOp ? add(event, IrKind::Calc, deps) : written;
  }
  for (EventId id : group.events)
    made_.ops[id] = group.done;
}

/// Adds the messages that bring what the group reads, and has the rest of it wait for them. Returns
/// the last one.
OpId ScheduleBuilder::addReads(const Group &group, Deps &deps) {
  const Event &event = events_.all[group.events.front()];
  std::set<uint32_t> remote;
  Deps received;
  for (EventId id : group.events)
    for (const Access &access : events_.all[id].accesses) {
      if (access.kind == AccessKind::Read && memory_.gpuOf(access.location) != event.gpu)
        remote.insert(memory_.gpuOf(access.location));
      if (access.kind != AccessKind::PacketRead)
        continue;
      const PacketUse &use = execution_.packets[packetSlot(events_, access.location, event.launch)];
      if (use.writes.empty())
        continue;
      const Event &writer = events_.all[use.writes.front()];
      uint32_t from =
          groupOf_[writer.valueFrom == kNoEvent ? use.writes.front() : writer.valueFrom];
      if (writer.gpu != event.gpu)
        received.insert(receivePackets(from, event));
      else if (groups_[from].done != kNoOp)
        received.insert(groups_[from].done);
    }
  OpId last = received.empty() ? kNoOp : *received.rbegin();
  for (uint32_t gpu : remote) {
    IrOp op = opOn(event, IrKind::Recv, bytesOf(group));
    op.transfer.mover = Mover::Reader;
    op.message = newMessage(gpu, event.gpu);
    op.peer = Rank{gpu};
    received.insert(last = add(event, op, deps));
    op.kind = IrKind::Send;
    op.peer = Rank{event.gpu};
    addInMemory(gpu, op, event);
  }
  deps.merge(received);
  return last;
}

/// Adds the copy or sum of a threadblock, unless it only reads from or writes to one other GPU.
OpId ScheduleBuilder::addWork(const Group &group, Deps &deps, OpId received) {
  const Event &event = events_.all[group.events.front()];
  uint64_t sources = 0;
  bool readsHere = false, writesHere = false;
  for (const Access &access : event.accesses) {
    bool isHere = memory_.gpuOf(access.location) == event.gpu;
    sources += !isWrite(access.kind);
    (isWrite(access.kind) ? writesHere : readsHere) |= isHere;
  }
  if (sources < 2 && !(readsHere && writesHere))
    return received;
  OpId work = add(event, sources < 2 ? IrKind::Copy : IrKind::Combine, deps,
                  bytesOf(group) * std::max<uint64_t>(sources - 1, 1));
  deps = {work};
  return work;
}

/// Adds the messages that bring what the group writes to other GPUs. Returns the last op.
OpId ScheduleBuilder::addWrites(uint32_t number, Deps deps, OpId computed) {
  const Group &group = groups_[number];
  const Event &event = events_.all[group.events.front()];
  std::set<std::pair<uint32_t, bool>> targets;
  for (const Access &access : event.accesses)
    if (isWrite(access.kind) && memory_.gpuOf(access.location) != event.gpu)
      targets.emplace(memory_.gpuOf(access.location), access.kind == AccessKind::PacketWrite);
  OpId last = computed;
  for (const auto &[gpu, arePackets] : targets) {
    IrOp op = opOn(event, IrKind::Send, bytesOf(group));
    op.transfer.mover = Mover::Writer;
    last = send(number, gpu, arePackets, op, deps);
    deps = {last};
  }
  return last;
}

/// Adds a message from the group to another GPU. `op`: a send of a plain write.
OpId ScheduleBuilder::send(uint32_t number, uint32_t gpu, bool arePackets, IrOp op,
                           const Deps &deps) {
  const Event &event = events_.all[groups_[number].events.front()];
  op.peer = Rank{gpu};
  if (arePackets) {
    const Message &message = packetsOf(number, gpu);
    op.message = message.id;
    op.amount = message.bytes;
    op.transfer = {};
    op.transfer.protocol = Protocol::Eager;
    return add(event, op, deps);
  }
  op.message = newMessage(event.gpu, gpu);
  OpId sent = add(event, op, deps);
  op.kind = IrKind::Recv;
  op.peer = Rank{event.gpu};
  addInMemory(gpu, op, event);
  return sent;
}

OpId ScheduleBuilder::addRequest(uint32_t number, const Deps &deps) {
  const Group &group = groups_[number];
  const Event &event = events_.all[group.events.front()];
  IrOp op = opOn(event, IrKind::Send, bytesOf(group));
  op.transfer.protocol = Protocol::Eager;
  op.cpu = proxyOf(event.gpu);
  op.nic = kProxyLink;
  return send(number, group.target, group.arePackets, op, deps);
}

/// Adds the ends of packets that no op reads.
void ScheduleBuilder::receiveRest() {
  for (auto &[key, message] : packets_) {
    if (message.recv != kNoOp)
      continue;
    const Group &from = groups_[key.first];
    const Event &writer = events_.all[from.events.front()];
    IrOp op = opOn(writer, IrKind::Recv, message.bytes);
    op.peer = Rank{writer.gpu};
    op.message = message.id;
    op.transfer.protocol = Protocol::Eager;
    op.nic = from.isRequest ? kProxyLink : kLink;
    addInMemory(key.second, op, writer);
  }
}

} // namespace

Result<PlanSchedule> scheduleOf(const Plan &plan, const Memory &memory, const Events &events,
                                uint64_t chunkBytes, const std::string &file, Signals signals) {
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu)
    if (size_t blocks = plan.gpus[gpu].threadBlocks.size(); blocks + kOthers > kMostProcessors)
      return Status::error(concat("plan: gpu ", gpu, " has ", blocks,
                                  " threadblocks, plans with up to ", kMostProcessors - kOthers,
                                  " are simulated and drawn"));
  return ScheduleBuilder(plan, memory, events, chunkBytes, signals).build(file);
}

Result<Schedule> scheduleOf(const Plan &plan, uint64_t messageBytes, uint32_t launches,
                            const std::string &file) {
  Result<PlanLayout> layout = PlanLayout::of(plan, messageBytes);
  if (!layout)
    return layout.status();
  Result<CellCounts> counts = cellsOf(plan, layout->chunkBytes());
  if (!counts)
    return counts.status();
  Result<Memory> memory = Memory::of(plan, *counts);
  if (!memory)
    return memory.status();
  Result<Events> events = buildEvents(plan, *memory, launches);
  if (!events)
    return events.status();
  if (events->all.size() > kMostEvents)
    return Status::error(concat("plan: it has more than ", kMostEvents, " steps in ", launches,
                                launches == 1 ? " launch" : " launches"));
  if (Execution run = execute(*events, memory->size()); !run.blocked.empty())
    return Status::error(concat("plan: deadlock: ", describe(events->all[run.blocked.front()]),
                                " waits for ever, one of ", run.blocked.size(), " steps"));
  Result<PlanSchedule> made =
      scheduleOf(plan, *memory, *events, layout->chunkBytes(), file, Signals::All);
  if (!made)
    return made.status();
  made->schedule.sizeClass = {messageBytes, messageBytes, messageBytes};
  return std::move(made->schedule);
}

} // namespace colldsl::mscclpp
