#include "passes/LogGP.h"

#include "passes/Messages.h"

#include <queue>

namespace colldsl {

void LogGP::describe(PassOptions &options) {
  options.number("L", "NS", "latency of the network (default: 2500)", L);
  options.number("o", "NS", "overhead of a message at each end (default: 1500)", o, 1);
  options.number("g", "NS", "gap between messages (default: 1000)", g);
  options.number("G", "NS", "gap per byte (default: 6)", G);
  options.number("copy", "NS", "time to copy a KiB (default: 100)", copyNsPerKiB);
}

namespace {

/// One run. Ops become ready, then start when their rank's processor is free, sends and arrivals
/// when its network interface is too; of what happens at the same time, what was caused first comes
/// first. What has to wait does so in a queue of its rank, so that each op is looked at a few times
/// only.
class Run {
public:
  Run(const Schedule &schedule, const std::vector<Sizes> &sizes, const LogGP &model,
      const std::vector<MessageEnds> &messages)
      : schedule_(schedule), sizes_(sizes), model_(model), number_(schedule),
        state_(number_.size()), ranks_(schedule.numRanks()) {
    for (const MessageEnds &m : messages) {
      const Dag &dag = schedule.ranks[index(m.from)];
      const Op &send = dag.op(m.send);
      state_[number_(m.from, m.send)].partner = m.recv;
      state_[number_(m.to, m.recv)].bytes =
          send.kind == OpKind::Signal ? 1 : payloadBytes(dag, send, sizesOf(sizes, m.from));
    }
  }

  Result<std::vector<uint64_t>> finish() {
    linkSuccessors();
    for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
      for (uint32_t i = 0; i < schedule_.ranks[r].size(); ++i)
        if (schedule_.ranks[r].ops[i].depCount == 0)
          push(0, Kind::Ready, Rank{r}, OpId{i});
    while (!events_.empty()) {
      Event event = events_.top();
      events_.pop();
      handle(event);
    }
    if (done_ != number_.size())
      return Status::error("the schedule waits for itself");
    std::vector<uint64_t> times;
    for (const RankState &rank : ranks_)
      times.push_back(std::max(rank.cpu, rank.last));
    return times;
  }

private:
  enum class Kind : uint8_t { Ready, Arrival, Wake };
  enum class Resource : uint8_t { Processor, SendPort, RecvPort };

  struct Event {
    uint64_t time, serial;
    Kind kind;
    Rank rank;
    OpId op; ///< Arrival: the receive
    uint64_t bytes;
    Resource resource = Resource::Processor; ///< Wake

    bool operator>(const Event &other) const {
      return std::tie(time, serial) > std::tie(other.time, other.serial);
    }
  };

  struct OpState {
    OpId partner = kNoOp;
    uint64_t bytes = 0; ///< receives: as the sender counts them
    uint32_t waits = 0;
    uint64_t ready = 0;
    uint64_t arrived = 0; ///< receives: when its message is in
    bool isPosted = false, hasArrived = false;
  };

  using Queue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  struct RankState {
    uint64_t cpu = 0, sendGap = 0, recvGap = 0, last = 0;
    Queue waiting[3]; ///< per resource, by when they were caused

    uint64_t freeAt(Resource resource) const {
      switch (resource) {
      case Resource::Processor:
        return cpu;
      case Resource::SendPort:
        return std::max(cpu, sendGap);
      case Resource::RecvPort:
        return std::max(cpu, recvGap);
      }
      return cpu;
    }
  };

  void push(uint64_t time, Kind kind, Rank rank, OpId op, uint64_t bytes = 0) {
    events_.push({time, serial_++, kind, rank, op, bytes, Resource::Processor});
  }

  void linkSuccessors() {
    successors_.resize(schedule_.numRanks());
    for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
      const Dag &dag = schedule_.ranks[r];
      successors_[r].resize(dag.size());
      for (uint32_t i = 0; i < dag.size(); ++i) {
        state_[number_(Rank{r}, OpId{i})].waits = dag.ops[i].depCount;
        for (const Dep &dep : dag.depsOf(dag.ops[i]))
          successors_[r][index(dep.op)].push_back({OpId{i}, dep.kind});
      }
    }
  }

  void handle(const Event &event) {
    if (event.kind == Kind::Wake)
      return wake(event);
    if (event.kind == Kind::Arrival)
      return arrive(event);
    const Op &op = schedule_.ranks[index(event.rank)].op(event.op);
    uint64_t bytes =
        payloadBytes(schedule_.ranks[index(event.rank)], op, sizesOf(sizes_, event.rank));
    switch (op.kind) {
    case OpKind::Send:
    case OpKind::Signal:
      return send(event, op, op.kind == OpKind::Signal ? 1 : bytes);
    case OpKind::Recv:
    case OpKind::Wait:
      return post(event);
    case OpKind::Copy:
    case OpKind::Combine:
      return compute(event, bytes * model_.copyNsPerKiB / 1024);
    case OpKind::Calc:
      return compute(event, op.amount);
    }
  }

  /// Whether the resource is taken; the event then comes back when it is free.
  bool mustWait(Event event, Resource resource) {
    RankState &rank = ranks_[index(event.rank)];
    if (rank.freeAt(resource) <= event.time)
      return false;
    event.time = 0; // in the queue only what caused them counts
    Queue &queue = rank.waiting[static_cast<size_t>(resource)];
    queue.push(event);
    if (queue.size() == 1)
      scheduleWake(event.rank, resource);
    return true;
  }

  void scheduleWake(Rank rank, Resource resource) {
    const RankState &state = ranks_[index(rank)];
    events_.push({state.freeAt(resource), state.waiting[static_cast<size_t>(resource)].top().serial,
                  Kind::Wake, rank, kNoOp, 0, resource});
  }

  void wake(const Event &event) {
    RankState &rank = ranks_[index(event.rank)];
    Queue &queue = rank.waiting[static_cast<size_t>(event.resource)];
    if (rank.freeAt(event.resource) > event.time)
      return scheduleWake(event.rank, event.resource);
    Event next = queue.top();
    queue.pop();
    next.time = event.time;
    handle(next);
    if (!queue.empty())
      scheduleWake(event.rank, event.resource);
  }

  void compute(const Event &event, uint64_t ns) {
    if (mustWait(event, Resource::Processor))
      return;
    uint64_t &cpu = ranks_[index(event.rank)].cpu;
    cpu = event.time + ns;
    release(event.rank, event.op, DepKind::IRequires, event.time);
    complete(event.rank, event.op, cpu);
  }

  void send(const Event &event, const Op &op, uint64_t bytes) {
    RankState &rank = ranks_[index(event.rank)];
    if (bytes == 0) { // never travels
      release(event.rank, event.op, DepKind::IRequires, event.time);
      return complete(event.rank, event.op, event.time);
    }
    if (mustWait(event, Resource::SendPort))
      return;
    rank.cpu = event.time + model_.o;
    rank.sendGap = event.time + model_.g + model_.bytesNs(bytes);
    OpId recv = state_[number_(event.rank, event.op)].partner;
    push(rank.cpu + model_.L, Kind::Arrival, op.peer, recv, bytes);
    release(event.rank, event.op, DepKind::IRequires, event.time);
    complete(event.rank, event.op, rank.cpu);
  }

  void post(const Event &event) {
    OpState &state = state_[number_(event.rank, event.op)];
    state.isPosted = true;
    release(event.rank, event.op, DepKind::IRequires, event.time);
    if (state.hasArrived || state.bytes == 0)
      complete(event.rank, event.op, std::max(event.time, state.arrived));
  }

  void arrive(const Event &event) {
    RankState &rank = ranks_[index(event.rank)];
    if (mustWait(event, Resource::RecvPort))
      return;
    rank.cpu = event.time + model_.o + model_.bytesNs(event.bytes);
    rank.recvGap = event.time + model_.g + model_.bytesNs(event.bytes);
    OpState &state = state_[number_(event.rank, event.op)];
    state.hasArrived = true;
    state.arrived = rank.cpu;
    if (state.isPosted)
      complete(event.rank, event.op, rank.cpu);
  }

  void complete(Rank rank, OpId op, uint64_t time) {
    ++done_;
    ranks_[index(rank)].last = std::max(ranks_[index(rank)].last, time);
    release(rank, op, DepKind::Requires, time);
  }

  void release(Rank rank, OpId op, DepKind kind, uint64_t time) {
    for (const Dep &next : successors_[index(rank)][index(op)]) {
      if (next.kind != kind)
        continue;
      OpState &state = state_[number_(rank, next.op)];
      state.ready = std::max(state.ready, time);
      if (--state.waits == 0)
        push(state.ready, Kind::Ready, rank, next.op);
    }
  }

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
  const LogGP &model_;
  OpNumbers number_;
  std::vector<OpState> state_;
  std::vector<RankState> ranks_;
  std::vector<std::vector<std::vector<Dep>>> successors_; ///< per rank, per op
  Queue events_;
  uint64_t serial_ = 0;
  size_t done_ = 0;
};

} // namespace

Result<std::vector<uint64_t>> LogGPCost::finishNs(const Schedule &schedule,
                                                  const std::vector<Sizes> &sizes) const {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  return Run(schedule, sizes, model_, *messages).finish();
}

Result<uint64_t> LogGPCost::makespanNs(const Schedule &schedule,
                                       const std::vector<Sizes> &sizes) const {
  Result<std::vector<uint64_t>> times = finishNs(schedule, sizes);
  if (!times)
    return times.status();
  return times->empty() ? 0 : *std::max_element(times->begin(), times->end());
}

} // namespace colldsl
