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

/// One run. Ops become ready, then start when their rank's processor is free; of what
/// happens at the same time, what was caused first comes first.
class Run {
public:
  Run(const Schedule &schedule, const std::vector<Sizes> &sizes, const LogGP &model,
      const std::vector<MessageEnds> &messages)
      : schedule_(schedule), sizes_(sizes), model_(model), number_(schedule),
        state_(number_.size()), ranks_(schedule.numRanks()) {
    for (const MessageEnds &m : messages)
      state_[number_(m.from, m.send)].partner = m.recv;
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
  enum class Kind : uint8_t { Ready, Arrival };

  struct Event {
    uint64_t time, serial;
    Kind kind;
    Rank rank;
    OpId op; ///< Arrival: the receive
    uint64_t bytes;

    bool operator>(const Event &other) const {
      return std::tie(time, serial) > std::tie(other.time, other.serial);
    }
  };

  struct OpState {
    OpId partner = kNoOp;
    uint32_t waits = 0;
    uint64_t ready = 0;
    uint64_t arrived = 0; ///< receives: when its message is in
    bool isPosted = false, hasArrived = false;
  };

  struct RankState {
    uint64_t cpu = 0, sendGap = 0, recvGap = 0, last = 0;
  };

  void push(uint64_t time, Kind kind, Rank rank, OpId op, uint64_t bytes = 0) {
    events_.push({time, serial_++, kind, rank, op, bytes});
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
      return post(event, op.kind == OpKind::Wait ? 1 : bytes);
    case OpKind::Copy:
    case OpKind::Combine:
      return compute(event, bytes * model_.copyNsPerKiB / 1024);
    case OpKind::Calc:
      return compute(event, op.amount);
    }
  }

  void compute(const Event &event, uint64_t ns) {
    uint64_t &cpu = ranks_[index(event.rank)].cpu;
    if (cpu > event.time)
      return push(cpu, Kind::Ready, event.rank, event.op);
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
    uint64_t free = std::max(rank.cpu, rank.sendGap);
    if (free > event.time)
      return push(free, Kind::Ready, event.rank, event.op);
    rank.cpu = event.time + model_.o;
    rank.sendGap = event.time + model_.g + model_.bytesNs(bytes);
    OpId recv = state_[number_(event.rank, event.op)].partner;
    push(rank.cpu + model_.L, Kind::Arrival, op.peer, recv, bytes);
    release(event.rank, event.op, DepKind::IRequires, event.time);
    complete(event.rank, event.op, rank.cpu);
  }

  void post(const Event &event, uint64_t bytes) {
    OpState &state = state_[number_(event.rank, event.op)];
    state.isPosted = true;
    release(event.rank, event.op, DepKind::IRequires, event.time);
    if (state.hasArrived || bytes == 0)
      complete(event.rank, event.op, std::max(event.time, state.arrived));
  }

  void arrive(const Event &event) {
    RankState &rank = ranks_[index(event.rank)];
    uint64_t free = std::max(rank.cpu, rank.recvGap);
    if (free > event.time)
      return push(free, Kind::Arrival, event.rank, event.op, event.bytes);
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
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
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
