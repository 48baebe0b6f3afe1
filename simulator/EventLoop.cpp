#include "simulator/EventLoop.h"

namespace colldsl::sim {
namespace {

constexpr uint64_t kStartStream = uint64_t{1} << 63;
constexpr uint64_t kWatchEvery = uint64_t{1} << 18; ///< events: some hundredths of a second
constexpr size_t kAhead = 12; ///< events ahead of now whose memory is prefetched

} // namespace

template <bool kPlain>
Engine<kPlain>::Engine(Workload &workload, const SimulateOptions &options)
    : workload_(workload), vertices_(workload.vertices.data()), lists_(workload.lists.data()),
      options_(options), model_(options.model), topology_(options.topology),
      hosts_(workload.numRanks()), cpus_(workload.cpus), nics_(workload.nics),
      isSimple_(cpus_ == 1 && nics_ == 1), stride_(cpus_ + size_t{2} * nics_ + 1),
      clocks_(hosts_ * stride_), readyAt_(isSimple_ ? 0 : workload.vertices.size()),
      lines_(cpus_ + 2 * cpus_ * nics_, uint64_t{1} << kFlagBits),
      nextTold_(options.watch ? kWatchEvery : UINT64_MAX) {
  hasSizes_ = std::any_of(model_.longer.begin(), model_.longer.end(),
                          [](const auto &longer) { return !longer.empty(); });
  if (model_.node != NodeCosts())
    nodes_.emplace(model_.node, topology_, hosts_);
  if (nodes_ && nodes_->hasInterfaces())
    through_.grow(workload.vertices.size());
  if (options.noise.kind != NoiseOptions::Kind::None)
    noise_.emplace(options.noise, uint64_t{hosts_} * cpus_, options.seed);
  if (options.network.kind != NetworkOptions::Kind::None)
    network_.emplace(options.network, options.record);
  if (options.record)
    recorder_.emplace(workload.vertices.size(), hosts_, clocks_.size(), network_.has_value());
  if (options.receiveSlots > 0)
    slots_.resize(hosts_);
}

template <bool kPlain> Result<Outcome> Engine<kPlain>::run() {
  if (Status s = checkTimes(); !s)
    return s;
  start();
  auto fetch = [this](const Event &event) __attribute__((always_inline)) { this->fetch(event); };
  while (error_ && wheel_.advance(fetch)) {
    now_ = wheel_.now();
    while (const Event *next = wheel_.next()) {
      if (const Event *soon = wheel_.peek(kAhead))
        fetch(*soon);
      dispatch(Event(*next)); // pushing may move the queue
      if (!freed_.empty())
        flush();
    }
    if (started_ + received_ >= nextTold_)
      tellWatcher();
  }
  if (!error_)
    return error_;
  if (finished_ < workload_.numOps || isMessageLeft())
    return stuck();
  return outcome();
}

template <bool kPlain> void Engine<kPlain>::tellWatcher() {
  nextTold_ = started_ + received_ + kWatchEvery;
  if (!options_.watch(started_ + received_, now_))
    error_ = Status::error("the simulation was stopped");
}

/// True for a receive that can be started before the loop begins, as no message is there yet.
/// Receives matched by tag must wait, because their order counts, and so must those whose start
/// frees others.
template <bool kPlain> bool Engine<kPlain>::startsAtOnce(const Vertex &v) const {
  return v.kind == VertexKind::Recv && !v.isByTag &&
         (v.run != kIsList || lists_[v.successors + 1] == 0);
}

template <bool kPlain> void Engine<kPlain>::start() {
  bool areMessagesLater = std::all_of(model_.distances.begin(), model_.distances.end(),
                                      [](const LogGop &p) { return p.o + p.L > 0; });
  wheel_.reserve(hosts_);
  for (uint32_t h = 0; h < hosts_; ++h) {
    uint64_t begin =
        options_.skewNs == 0 ? 0 : drawBelow(options_.skewNs + 1, options_.seed, kStartStream, h);
    if (begin > 0)
      std::fill_n(clocksOf(h), stride_ - 1, begin);
    const RankVertices &rank = workload_.ranks[h];
    now_ = begin;
    for (uint32_t op = 0; op < rank.count; ++op) {
      uint32_t vertex = rank.at(op);
      if (vertices_[vertex].open > 0)
        continue;
      if (areMessagesLater && startsAtOnce(vertices_[vertex]))
        runRecv({begin, 0, vertex, h});
      else
        freed_.push_back({vertex, h});
    }
    if (!freed_.empty())
      flush();
  }
}

template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::dispatch(const Event &event) {
  switch (static_cast<Kind>(event.order & kKindMask)) {
  case kSend:
    return runSend(event);
  case kRecv:
    return runRecv(event);
  case kMessage:
    return runMessage(event, false);
  case kCalc:
    return runCalc(event);
  case kTagMessage:
    return runMessage(event, true);
  case kHop:
  case kTagHop:
    return hop(event);
  case kSlotFree:
    return freeSlot(event);
  default:
    if constexpr (kPlain)
      __builtin_unreachable();
    else
      dispatchOther(event);
  }
}

/// True if the event may run; if not, it waits from now on.
template <bool kPlain>
[[gnu::always_inline]] inline bool Engine<kPlain>::isReady(const Event &event, uint64_t readyAt,
                                                           LineKind kind, Ports ports) {
  if (readyAt <= now_ && (kPlain || isFirst(event, kind, ports))) [[likely]]
    return true;
  wait(event, readyAt, kind, ports);
  return false;
}

template <bool kPlain> void Engine<kPlain>::runCalc(const Event &event) {
  const Vertex &v = vertices_[event.vertex];
  uint32_t host = event.host;
  Ports ports = portsOf(v);
  if (!isReady(event, cpu(host, ports), LineKind::Calc, ports))
    return;
  uint64_t end = workUntil(v, host, ports, now_, workload_.amountOf(v));
  if (recorder())
    recorder()->ranOp(event.vertex, useOf(host, ports, false), now_, end, false);
  cpu(host, ports) = end;
  startOp(event.vertex, host);
  finishOp(event.vertex, host, end, {event.vertex, false});
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Calc, ports);
}

template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::runSend(const Event &event) {
  const Vertex &v = vertices_[event.vertex];
  uint32_t host = event.host;
  Ports ports = portsOf(v);
  uint64_t &processor = cpu(host, ports), &gap = sendGap(host, ports);
  if (!isReady(event, std::max(processor, gap), LineKind::Send, ports))
    return;
  if (!kPlain && isMovedByOne(v.way) && !mayMove(event, v, ports))
    return;
  if (!kPlain && !slots_.empty() && !takeSlot(event, v, ports))
    return;
  if (!kPlain && isMovedByOne(v.way))
    return moveOne(event, v, ports);
  const LogGop &p = costs(v);
  uint64_t bytes = workload_.amountOf(v);
  startOp(event.vertex, host);
  uint64_t leaves = busyUntil(host, ports, now_, p.o);
  uint64_t further = p.sendNs(bytes) - p.o;
  uint64_t end = further == 0 ? leaves : workUntil(v, host, ports, leaves, further);
  if (recorder())
    recorder()->ranOp(event.vertex, useOf(host, ports, false), now_, end, true);
  processor = end;
  gap = now_ + (isWhole(v, p) ? p.g : p.gapNs(bytes));
  if (recorder())
    recorder()->sendsUntil(event.vertex, gap);
  deliver(v, event.vertex, host, leaves + p.L);
  if (!isLong(v, p))
    finishOp(event.vertex, host, end, {event.vertex, false});
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Send, ports);
}

template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::runRecv(const Event &event) {
  const Vertex &v = vertices_[event.vertex];
  startOp(event.vertex, event.host);
  if (recorder())
    recorder()->posted(event.vertex, useOf(event.host, portsOf(v), true), now_);
  if (!kPlain && isMovedByOne(v.way))
    began(event, v);
  else if (!kPlain && v.isByTag)
    postByTag(event, v);
  else if (v.hasArrived)
    meet(event.vertex, event.host, v.partner, v.peer,
         isSimple() ? now_ : std::max(now_, readyAt_[v.partner]));
}

template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::runMessage(const Event &event, bool isByTag) {
  uint32_t host = event.host;
  Vertex &v = vertices_[event.vertex];
  uint32_t send = isByTag ? event.vertex : v.partner;
  Ports ports = isSimple() ? Ports() : receiverPortsOf(v, send);
  uint64_t &processor = cpu(host, ports), &gap = receiveGap(host, ports);
  const LogGop &p = costs(v);
  if (!kPlain && (isStatic(v.way) || isMovedByInterface(v, p)))
    return land(event, v, ports);
  if (recorder() && !(event.order & kIsWaiting) && !v.hasArrived)
    recorder()->arrived(send, now_);
  if (!kPlain && v.way == Way::Reader && !v.isStarted) { // copied once the receive has started
    v.hasArrived = 1;
    return;
  }
  if (!isReady(event, std::max(processor, gap), LineKind::Message, ports))
    return;
  uint64_t bytes = workload_.amountOf(v), takes = p.receiveNs(bytes), gapNs = p.gapNs(bytes);
  if (!kPlain && v.way == Way::Writer) {
    takes = p.o;
    gapNs = p.g;
  } else if (isWhole(v, p)) {
    takes = p.sendNs(bytes);
    gapNs = p.g;
  }
  if (crossesNetwork(v) && !isWhole(v, p))
    takes = std::max(takes, p.o + linkG(event.vertex, host).times(LogGop::furtherBytes(bytes)));
  uint64_t end = workUntil(v, host, ports, now_, takes);
  if (recorder())
    recorder()->ranMessage(send, useOf(host, ports, true), now_, end);
  processor = end;
  gap = now_ + gapNs;
  if (!kPlain && v.way == Way::Reader)
    wheel_.push({end, newOrder(kWasRead), send, v.peer});
  takenIn(event.vertex, host, send, end, isByTag);
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Message, ports);
}

/// The processor is done with a message. `vertex` is its receive; by tag, its send.
template <bool kPlain>
[[gnu::always_inline]] inline void
Engine<kPlain>::takenIn(uint32_t vertex, uint32_t host, uint32_t send, uint64_t end, bool isByTag) {
  Vertex &v = vertices_[vertex];
  ++received_;
  if (!kPlain && !slots_.empty())
    wheel_.push({end + costs(v).L, newOrder(kSlotFree), send, host});
  if (isByTag) {
    arriveByTag(send, host, end);
  } else if (v.isStarted) {
    meet(vertex, host, send, v.peer, end);
  } else {
    v.hasArrived = 1;
    if (!isSimple())
      readyAt_[send] = end;
  }
}

/// The first byte of a message reaches the receiver's interface, or the network, at `at`.
template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::deliver(const Vertex &send, uint32_t sendIndex,
                                                           uint32_t from, uint64_t at) {
  if (crossesInterfaces(send))
    leaveNode(send, sendIndex, from, at);
  else if (crossesNetwork(send))
    enterNetwork(send, sendIndex, from, at);
  else if (!kPlain && send.isByTag)
    wheel_.push({at, newOrder(kTagMessage), sendIndex, send.peer});
  else
    wheel_.push({at, newOrder(kMessage), send.partner, send.peer});
}

/// Joins a message that was taken in and its receive, which was started. The later of both happens
/// now.
template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::meet(uint32_t recv, uint32_t recvHost,
                                                        uint32_t send, uint32_t sendHost,
                                                        uint64_t end) {
  const Vertex &v = vertices_[recv]; // has the size and distance of the send, and is cached
  const LogGop &p = kPlain || !v.isByTag ? costs(v) : costs(vertices_[send]);
  if (isLong(v, p))
    acknowledge(send, sendHost);
  if (recorder())
    recorder()->received(recv, send, end);
  finishOp(recv, recvHost, end, {recv, false});
}

template <bool kPlain>
void Engine<kPlain>::meetByTag(uint32_t recv, uint32_t recvHost, uint32_t send, uint32_t sendHost,
                               uint64_t end) {
  meet(recv, recvHost, send, sendHost, end);
}

/// Finishes the send of a long message that has met its receive.
template <bool kPlain> void Engine<kPlain>::acknowledge(uint32_t send, uint32_t sendHost) {
  Ports ports = portsOf(vertices_[send]);
  if (recorder())
    recorder()->acknowledged(useOf(sendHost, ports, false), send, now_);
  uint64_t &processor = cpu(sendHost, ports), &gap = sendGap(sendHost, ports);
  processor = std::max(processor, now_);
  gap = std::max(gap, now_);
  finishOp(send, sendHost, now_, {send, true});
}

/// Frees the ops that waited only for the op to start.
template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::startOp(uint32_t vertex, uint32_t host) {
  Vertex &v = vertices_[vertex];
  v.isStarted = 1;
  ++started_;
  if (v.run != kIsList)
    return;
  const uint32_t *list = lists_ + v.successors;
  for (uint32_t i = 0; i < list[1]; ++i)
    free(vertex + list[2 + list[0] + i], host, now_, {vertex, false});
}

template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::finishOp(uint32_t vertex, uint32_t host,
                                                            uint64_t at, ActivityId by) {
  const Vertex &v = vertices_[vertex];
  ++finished_;
  if (v.run != kIsList) {
    uint32_t successor = vertex + v.successors;
    for (uint32_t i = 0; i < v.run; ++i, successor += strideOf(v))
      free(successor, host, at, by);
    return;
  }
  const uint32_t *list = lists_ + v.successors;
  for (uint32_t i = 0; i < list[0]; ++i)
    free(vertex + list[2 + i], host, at, by);
}

template <bool kPlain>
[[gnu::always_inline]] inline void Engine<kPlain>::free(uint32_t vertex, uint32_t host, uint64_t at,
                                                        ActivityId by) {
  if (recorder())
    recorder()->released(vertex, by, at);
  if (!isSimple())
    readyAt_[vertex] = std::max(readyAt_[vertex], at);
  Vertex &v = vertices_[vertex];
  if (--v.open == 0)
    freed_.push_back({vertex, host});
}

/// Freed ops are queued by rank, then sends before receives before calcs, then as they were
/// freed. Most often there are one or two, and all are of one rank.
template <bool kPlain> [[gnu::always_inline]] inline void Engine<kPlain>::flush() {
  if (freed_.size() > 2 || freed_.front().host != freed_.back().host)
    return flushMany();
  Freed first = freed_.front(), last = freed_.back();
  bool isTwo = freed_.size() == 2;
  VertexKind firstKind = vertices_[first.vertex].kind, lastKind = vertices_[last.vertex].kind;
  if (isSimple() && isTwo && firstKind == VertexKind::Send && lastKind == VertexKind::Send)
    return flushMany();
  freed_.clear();
  if (isTwo && lastKind < firstKind)
    std::swap(first, last);
  push(first);
  if (isTwo)
    push(last);
}

template <bool kPlain> void Engine<kPlain>::flushMany() {
  auto isBefore = [](const Freed &a, const Freed &b) { return a.host < b.host; };
  if (!std::is_sorted(freed_.begin(), freed_.end(), isBefore)) // std::stable_sort takes memory
    std::stable_sort(freed_.begin(), freed_.end(), isBefore);
  std::span<const Freed> left = freed_;
  while (!left.empty()) {
    auto isOther = [&left](const Freed &f) { return f.host != left.front().host; };
    auto end = std::find_if(left.begin(), left.end(), isOther);
    flushHost({left.begin(), end});
    left = {end, left.end()};
  }
  freed_.clear();
}

template <bool kPlain> void Engine<kPlain>::flushHost(std::span<const Freed> freed) {
  std::array<uint32_t, 3> count{};
  for (const Freed &f : freed)
    ++count[static_cast<size_t>(vertices_[f.vertex].kind)];
  for (VertexKind kind : {VertexKind::Send, VertexKind::Recv, VertexKind::Calc}) {
    uint32_t of = count[static_cast<size_t>(kind)];
    if (isSimple() && kind == VertexKind::Send && of > 1)
      lineUp(freed);
    else if (of > 0)
      for (const Freed &f : freed)
        if (vertices_[f.vertex].kind == kind)
          push(f);
  }
}

template <bool kPlain> [[gnu::always_inline]] inline void Engine<kPlain>::push(const Freed &freed) {
  const Vertex &v = vertices_[freed.vertex];
  Ports ports = portsOf(v);
  uint64_t time = std::max(cpu(freed.host, ports), now_);
  if (v.kind == VertexKind::Send && (kPlain || sendGap(freed.host, ports) != kNever))
    time = std::max(time, sendGap(freed.host, ports));
  if (!isSimple())
    time = std::max(time, readyAt_[freed.vertex]);
  wheel_.push({time, newOrder(static_cast<uint64_t>(v.kind)), freed.vertex, freed.host});
}

template class Engine<true>;
template class Engine<false>;

} // namespace colldsl::sim
