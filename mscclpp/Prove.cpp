#include "mscclpp/Prove.h"

#include "ir/Concat.h"
#include "mscclpp/CheckOp.h"
#include "mscclpp/Lengths.h"
#include "mscclpp/PlanResult.h"
#include "mscclpp/StepOrder.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace colldsl::mscclpp {
namespace {

constexpr size_t kMostRefusals = 16, kMostBlocked = 6;

std::string counted(size_t count, std::string_view word) {
  return concat(count, " ", word, count == 1 ? "" : "s");
}

class Prover {
public:
  Prover(const Plan &plan, const Memory &memory, const Events &events, const Contract &contract)
      : plan_(plan), memory_(memory), events_(events), contract_(contract) {}
  std::vector<Refusal> run();

private:
  void matchCounters();
  void refuseBlocked(const Execution &execution);
  void checkFlag(EventId id, const Access &access, Value value);
  void checkWaiters(const Execution &execution, const Order &order);
  void checkRaces(const Execution &execution, const Order &order);
  void checkPair(EventId a, const Access &x, EventId b, const Access &y, const Order &order);
  Refusal race(EventId a, const Access &x, EventId b, const Access &y, const Order &order) const;
  void checkData(const Execution &execution);
  void checkResult(uint32_t gpu, uint32_t launch, const std::vector<Value> &cells);
  void setInputs(uint32_t gpu, uint32_t launch, std::vector<Value> &cells);
  std::string counterWords(uint32_t counter) const;
  std::string waitWords(const Event &event) const;
  void refuse(std::string message, std::vector<std::string> notes, std::vector<EventId> events) {
    if (refusals_.size() < kMostRefusals)
      refusals_.push_back({std::move(message), std::move(notes), std::move(events)});
  }

  const Plan &plan_;
  const Memory &memory_;
  const Events &events_;
  const Contract &contract_;
  Values values_;
  std::optional<uint32_t> root_;
  std::vector<Refusal> refusals_;
  std::vector<Refusal> results_; ///< values that are wrong in this order of the steps
  std::map<size_t, std::pair<EventId, Value>> packets_; ///< the first of a slot in a launch
  std::set<std::array<uint32_t, 6>> flagged_;           ///< pairs of ops that send to one slot
  std::set<std::array<uint32_t, 6>> racing_; ///< pairs of ops, without launches and cells
};

std::string Prover::counterWords(uint32_t counter) const {
  const Counter &c = events_.counters[counter];
  if (c.kind == ChannelKind::None)
    return concat("semaphore ", c.index, " of gpu ", c.gpu);
  return concat("gpu ", c.gpu, "'s ", spelling(c.kind), " channel ", c.index, " from gpu ",
                plan_.gpus[c.gpu].channels(c.kind)[c.index].peer);
}

// All launches have the same steps, so a counter that is even after one stays so.
void Prover::matchCounters() {
  std::vector<std::array<size_t, 2>> counts(events_.counters.size(), {0, 0});
  std::vector<std::array<EventId, 2>> examples(counts.size(), {kNoEvent, kNoEvent});
  for (EventId id = 0; id < events_.all.size(); ++id) {
    const Event &event = events_.all[id];
    bool waits = event.step == Step::Wait || event.step == Step::Acquire;
    if (event.launch != 1 || !(waits || event.step == Step::Signal || event.step == Step::Release))
      continue;
    if (event.counter == kNone) {
      refuse(concat("matching: ", describe(event),
                    " signals over a channel for which the peer has no end"),
             {}, {id});
      continue;
    }
    ++counts[event.counter][waits];
    examples[event.counter][waits] = id;
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i][0] == counts[i][1])
      continue;
    std::vector<std::string> notes;
    std::vector<EventId> named;
    for (EventId example : examples[i])
      if (example != kNoEvent) {
        named.push_back(example);
        notes.push_back("one of them is " + describe(events_.all[example]));
      }
    bool isSemaphore = events_.counters[i].kind == ChannelKind::None;
    refuse(concat("matching: ", counterWords(static_cast<uint32_t>(i)), " has ",
                  counted(counts[i][0], isSemaphore ? "release" : "signal"), " and ",
                  counted(counts[i][1], isSemaphore ? "acquire" : "wait"), " per launch"),
           std::move(notes), std::move(named));
  }
}

std::string Prover::waitWords(const Event &event) const {
  if (event.counter != kNone)
    return concat(describe(event), " waits at ", counterWords(event.counter));
  for (const Access &access : event.accesses)
    if (access.kind == AccessKind::PacketRead)
      return concat(describe(event), " waits for ", memory_.describe(access.location));
  return describe(event);
}

void Prover::refuseBlocked(const Execution &execution) {
  std::vector<std::string> notes;
  std::vector<EventId> named;
  std::set<std::array<uint32_t, 3>> seen;
  uint32_t launch = events_.all[execution.blocked.front()].launch;
  for (EventId id : execution.blocked) {
    const Event &event = events_.all[id];
    if (event.launch == launch && seen.insert({event.gpu, event.block, event.op}).second &&
        notes.size() < kMostBlocked) {
      named.push_back(id);
      notes.push_back(waitWords(event));
    }
  }
  refuse(concat("deadlock: ", counted(seen.size(), "op"), " of launch ", launch, " wait for ever"),
         std::move(notes), std::move(named));
}

// Two packets to one slot have the same flag, so they must have the same value.
void Prover::checkFlag(EventId id, const Access &access, Value value) {
  const Event &event = events_.all[id];
  auto [first, isNew] =
      packets_.try_emplace(packetSlot(events_, access.location, event.launch), id, value);
  const Event &other = events_.all[first->second.first];
  if (!isNew && first->second.second != value &&
      flagged_.insert({event.gpu, event.block, event.op, other.gpu, other.block, other.op}).second)
    refuse(concat("flag: two packets of launch ", event.launch, " go to ",
                  memory_.describe(access.location), ", their flag is the same"),
           {"one is from " + describe(other), "one is from " + describe(event)},
           {first->second.first, id});
}

// Waits in no order leave it open which signal is for which of them.
void Prover::checkWaiters(const Execution &execution, const Order &order) {
  std::vector<EventId> last(events_.counters.size(), kNoEvent);
  for (EventId id : execution.order) {
    const Event &event = events_.all[id];
    if (event.step != Step::Wait && event.step != Step::Acquire)
      continue;
    EventId before = std::exchange(last[event.counter], id);
    if (before != kNoEvent && !order.isBefore(before, id))
      return refuse(
          concat("matching: two threads wait in no order at ", counterWords(event.counter)),
          {"one is " + describe(events_.all[before]), "one is " + describe(event)}, {before, id});
  }
}

std::string verb(AccessKind kind) { return isWrite(kind) ? "writes" : "reads"; }

Refusal Prover::race(EventId a, const Access &x, EventId b, const Access &y,
                     const Order &order) const {
  const Event &first = events_.all[a], &second = events_.all[b];
  Refusal made{concat("race: ", describe(first), " ", verb(x.kind), " ",
                      memory_.describe(x.location), ", ", describe(second), " ", verb(y.kind),
                      " it"),
               {},
               {a, b}};
  if (order.isBefore(a, b)) {
    made.notes.push_back(
        "between them are only relaxed signals or packets, which order no data of the same launch");
    return made;
  }
  EventId last = kNoEvent;
  for (EventId id = 0; id < events_.all.size(); ++id) {
    const Event &event = events_.all[id];
    if (event.gpu == first.gpu && event.block == first.block && event.launch == first.launch &&
        order.isBefore(id, b) && (last == kNoEvent || order.at(last) < order.at(id)))
      last = id;
  }
  made.notes.push_back("no signal, packet, barrier or nop leads from the first to the second");
  made.notes.push_back(
      last == kNoEvent || events_.all[last].step == Step::Begin
          ? std::string("the second waits for no op of the first one's threadblock in that launch")
          : concat("the last step there that the second waits for is ",
                   describe(events_.all[last])));
  return made;
}

void Prover::checkPair(EventId a, const Access &x, EventId b, const Access &y, const Order &order) {
  if (a == b || (!isWrite(x.kind) && !isWrite(y.kind)))
    return;
  const Event &first = events_.all[a], &second = events_.all[b];
  // A packet that comes is awaited, and an older one is no harm: its flag is another.
  if (x.kind == AccessKind::PacketWrite && y.kind == AccessKind::PacketRead)
    return;
  // Packets with one flag have one value, which checkFlag() compares.
  bool arePackets = x.kind == AccessKind::PacketWrite || x.kind == AccessKind::PacketRead;
  if (arePackets && y.kind == AccessKind::PacketWrite && first.launch == second.launch)
    return;
  std::array<uint32_t, 6> pair{first.gpu,  first.block,  first.op,
                               second.gpu, second.block, second.op};
  if (racing_.contains(pair) || order.isCompleteBefore(a, x, b))
    return;
  racing_.insert(pair);
  refusals_.size() < kMostRefusals ? refusals_.push_back(race(a, x, b, y, order)) : void();
}

void Prover::checkRaces(const Execution &execution, const Order &order) {
  struct At {
    EventId id;
    Access access;
  };
  std::vector<std::vector<At>> uses(memory_.size());
  for (EventId id : execution.order)
    for (const Access &access : events_.all[id].accesses)
      uses[access.location].push_back({id, access});
  for (const std::vector<At> &list : uses)
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t k = i + 1; k < list.size() && refusals_.size() < kMostRefusals; ++k)
        checkPair(list[i].id, list[i].access, list[k].id, list[k].access, order);
}

void Prover::setInputs(uint32_t gpu, uint32_t launch, std::vector<Value> &cells) {
  uint32_t n = memory_.perChunk();
  for (Buffer buffer : {Buffer::Output, Buffer::Input})
    for (uint32_t chunk = 0; chunk < plan_.chunks(gpu, buffer); ++chunk)
      for (uint32_t part = 0; part < n; ++part)
        cells[memory_.cell(gpu, buffer, chunk, part, 0)] =
            buffer == Buffer::Input ? values_.input(launch, gpu, chunk * n + part)
                                    : Values::kUndefined;
}

void Prover::checkResult(uint32_t gpu, uint32_t launch, const std::vector<Value> &cells) {
  uint32_t n = memory_.perChunk();
  auto differs = [&](Buffer buffer, uint32_t chunk, uint32_t part, Value expected) {
    Value found = cells[memory_.cell(gpu, buffer, chunk, part, 0)];
    if (found == expected)
      return false;
    if (results_.size() < kMostRefusals)
      results_.push_back({concat("result: after launch ", launch, " ",
                                 memory_.describe(memory_.cell(gpu, buffer, chunk, part, 0)),
                                 " holds ", values_.describe(found, n), ", ", plan_.collective,
                                 " leaves ", values_.describe(expected, n)),
                          {},
                          {}});
    return true;
  };
  for (uint32_t chunk = 0; !plan_.inPlace && chunk < plan_.gpus[gpu].inputChunks; ++chunk)
    for (uint32_t part = 0; part < n; ++part)
      if (differs(Buffer::Input, chunk, part, values_.input(launch, gpu, chunk * n + part)))
        return;
  if (contract_.promisesNothing())
    return;
  if (contract_.hasRoot() && !root_)
    for (uint32_t from = 0; from < plan_.numGpus() && !root_; ++from)
      if (cells[memory_.cell(gpu, Buffer::Output, 0, 0, 0)] == values_.input(launch, from, 0))
        root_ = from;
  for (uint32_t chunk = 0; chunk < plan_.gpus[gpu].outputChunks; ++chunk)
    for (uint32_t part = 0; part < n; ++part)
      if (differs(Buffer::Output, chunk, part,
                  contract_.expected(values_, launch, gpu, chunk, part, n, root_.value_or(0))))
        return;
}

// Without races each order of the steps gives the same values; packets have one value in any case.
void Prover::checkData(const Execution &execution) {
  std::vector<Value> cells(memory_.size(), Values::kUndefined),
      moved(events_.all.size(), Values::kUndefined);
  for (EventId id : execution.order) {
    const Event &event = events_.all[id];
    if (event.step == Step::User) {
      if (event.launch > 0)
        checkResult(event.gpu, event.launch, cells);
      setInputs(event.gpu, event.launch + 1, cells);
      continue;
    }
    bool isFirst = true;
    for (const Access &access : event.accesses) {
      if (isWrite(access.kind))
        continue;
      Value read = cells[access.location];
      moved[id] = isFirst ? read : values_.sum(moved[id], read);
      isFirst = false;
    }
    Value value = event.valueFrom == kNoEvent ? moved[id] : moved[event.valueFrom];
    for (const Access &access : event.accesses)
      if (isWrite(access.kind)) {
        cells[access.location] = value;
        if (access.kind == AccessKind::PacketWrite)
          checkFlag(id, access, value);
      }
  }
}

std::vector<Refusal> Prover::run() {
  matchCounters();
  if (!refusals_.empty())
    return std::move(refusals_);
  Execution execution = execute(events_, memory_.size());
  if (execution.order.size() < events_.all.size()) {
    refuseBlocked(execution);
    return std::move(refusals_);
  }
  Order order(events_, execution);
  checkWaiters(execution, order);
  checkData(execution);
  checkRaces(execution, order);
  // Wrong values follow from what was found, or stand alone.
  return refusals_.empty() ? std::move(results_) : std::move(refusals_);
}

/// Packets and payload in one scratch buffer would overlap: packets take twice the room.
Status refuseMixedScratch(const Plan &plan) {
  std::vector<bool> packets(plan.numGpus(), false), payload(plan.numGpus(), false);
  auto look = [&](const Op &op) {
    for (const std::vector<ChunkRange> *list : {&op.sources, &op.destinations})
      for (size_t i = 0; i < list->size(); ++i)
        if ((*list)[i].buffer == Buffer::Scratch)
          for (uint32_t gpu : (*list)[i].gpus)
            (isPacketRange(op, list == &op.sources, i) ? packets : payload)[gpu] = true;
  };
  for (const Gpu &gpu : plan.gpus)
    for (const ThreadBlock &block : gpu.threadBlocks)
      for (const Op &op : block.ops) {
        look(op);
        std::for_each(op.members.begin(), op.members.end(), look);
      }
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu)
    if (packets[gpu] && payload[gpu])
      return Status::error(concat("plan: gpu ", gpu,
                                  " has packets and payload in scratch, where they overlap; plans "
                                  "with one of them are proved"));
  return {};
}

} // namespace

Result<Verdict> prove(const Plan &plan) {
  Result<Contract> contract = Contract::of(plan);
  if (!contract)
    return contract.status();
  if (Status s = refuseMixedScratch(plan); !s)
    return s;
  Result<Lengths> lengths = lengthsOf(plan);
  if (!lengths)
    return lengths.status();
  Verdict verdict;
  verdict.promisesNothing = contract->promisesNothing();
  verdict.lengths = lengths->words;
  // Launches that use one half of scratch are those of one parity; see docs/mscclpp.md for why
  // neighbours stand for all.
  verdict.launches = plan.doubleScratch ? 3 : 2;
  for (const CellCounts &counts : lengths->cases) {
    Result<Memory> memory = Memory::of(plan, counts);
    if (!memory)
      return memory.status();
    Result<Events> events = buildEvents(plan, *memory, verdict.launches);
    if (!events) {
      verdict.refusals.push_back({events.message(), {}, {}});
      verdict.lengths = lengths->wordsOf(counts);
      return verdict;
    }
    verdict.cells = counts;
    if (events->all.size() > kMostEvents)
      return Status::error(concat("plan: it has more than ", kMostEvents, " steps in ",
                                  verdict.launches, " launches"));
    verdict.refusals = Prover(plan, *memory, *events, *contract).run();
    if (!verdict.refusals.empty()) {
      verdict.lengths = lengths->wordsOf(counts);
      return verdict;
    }
  }
  return verdict;
}

} // namespace colldsl::mscclpp
