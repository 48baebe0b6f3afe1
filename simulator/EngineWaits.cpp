#include "ir/Concat.h"
#include "simulator/EventLoop.h"

namespace colldsl::sim {

/// Puts an event that found its resources busy into its line, or leaves it there. Only a line's
/// head has an event in the queue, and while its interface is stalled none has.
template <bool kPlain>
void Engine<kPlain>::wait(const Event &event, uint64_t readyAt, LineKind kind, Ports ports) {
  uint32_t line = lineOf(kind, ports);
  uint64_t &lines = linesOf(event.host), order = event.order | kIsWaiting;
  if (!(event.order & kIsWaiting))
    lines_.insert(lines, line, {order, event.vertex, false});
  Waiter &head = lines_.head(lines, line);
  if (head.order != order || readyAt == kNever) {
    if (event.order & kIsWaiting)
      lines_.find(lines, line, order).isQueued = false;
    return;
  }
  head.isQueued = true;
  wheel_.push({readyAt, order, event.vertex, event.host});
}

/// True if the event is the first in its line. A message may have come that was sent earlier, over
/// a longer way, and waits for more resources than this one does.
template <bool kPlain>
bool Engine<kPlain>::isFirst(const Event &event, LineKind kind, Ports ports) {
  return !(event.order & kIsWaiting) ||
         lines_.head(linesOf(event.host), lineOf(kind, ports)).order == event.order;
}

/// Puts the sends among ops of a rank that became free together into a line at once, if they are
/// several: only one of them can run at a time.
template <bool kPlain> void Engine<kPlain>::lineUp(std::span<const Freed> freed) {
  Ports ports;
  uint32_t host = freed.front().host;
  uint64_t &lines = linesOf(host);
  for (const Freed &f : freed)
    if (vertices_[f.vertex].kind == VertexKind::Send)
      lines_.insert(lines, lineOf(LineKind::Send, ports),
                    {newOrder(kSend | kIsWaiting), f.vertex, false});
  uint64_t readyAt = sendGap(host, ports);
  if (readyAt != kNever)
    readyAt = std::max(readyAt, cpu(host, ports));
  wakeLine(host, LineKind::Send, ports, readyAt);
}

/// The time at which the first message in line can be taken in: a static one needs no processor.
template <bool kPlain> uint64_t Engine<kPlain>::messageReadyAt(uint32_t host, Ports ports) {
  uint64_t gap = receiveGap(host, ports), both = std::max(cpu(host, ports), gap);
  uint64_t lines = linesOf(host);
  uint32_t line = lineOf(LineKind::Message, ports);
  if (lines_.isEmpty(lines, line))
    return both;
  return isStatic(vertices_[lines_.head(lines, line).vertex].way) ? gap : both;
}

/// Removes an event that ran, the head, from its line.
template <bool kPlain>
void Engine<kPlain>::leaveLine(const Event &event, LineKind kind, Ports ports) {
  lines_.popHead(linesOf(event.host), lineOf(kind, ports));
  uint64_t readyAt = cpu(event.host, ports);
  if (kind == LineKind::Send)
    readyAt = std::max(readyAt, sendGap(event.host, ports));
  if (kind == LineKind::Message)
    readyAt = kPlain ? std::max(readyAt, receiveGap(event.host, ports))
                     : messageReadyAt(event.host, ports);
  wakeLine(event.host, kind, ports, readyAt);
}

template <bool kPlain>
void Engine<kPlain>::wakeLine(uint32_t host, LineKind kind, Ports ports, uint64_t readyAt) {
  uint64_t lines = linesOf(host);
  uint32_t line = lineOf(kind, ports);
  if (lines_.isEmpty(lines, line) || readyAt == kNever)
    return;
  Waiter &head = lines_.head(lines, line);
  if (head.isQueued)
    return;
  head.isQueued = true;
  wheel_.push({std::max(readyAt, now_), head.order, head.vertex, host});
}

/// True if the receiver has room. If not, the send waits for it, and its interface with it: events
/// behind it on the same interface cannot overtake.
template <bool kPlain>
bool Engine<kPlain>::takeSlot(const Event &event, const Vertex &v, Ports ports) {
  if (event.order & kHasSlot)
    return true;
  Slots &slots = slots_[v.peer];
  if (slots.used < options_.receiveSlots) {
    ++slots.used;
    return true;
  }
  Event waiting = event;
  waiting.order &= ~uint64_t{kIsWaiting};
  slots.queue.push_back(waiting);
  sendGap(event.host, ports) = kNever;
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Send, ports);
  return false;
}

template <bool kPlain> void Engine<kPlain>::freeSlot(const Event &event) {
  Slots &slots = slots_[event.host];
  if (slots.queue.empty()) {
    --slots.used;
    return;
  }
  Event first = slots.queue.front();
  slots.queue.pop_front();
  Ports ports = portsOf(vertices_[first.vertex]);
  sendGap(first.host, ports) = now_;
  wheel_.push({now_, first.order | kHasSlot, first.vertex, first.host});
  for (ports.cpu = 0; ports.cpu < cpus_; ++ports.cpu)
    wakeLine(first.host, LineKind::Send, ports, std::max(now_, cpu(first.host, ports)));
}

template <bool kPlain>
void Engine<kPlain>::enterNetwork(const Vertex &send, uint32_t sendIndex, uint32_t from,
                                  uint64_t at) {
  uint32_t vertex = send.isByTag ? sendIndex : send.partner;
  if (recorder())
    recorder()->entersLinks(sendIndex, at);
  wheel_.push({at, newOrder(send.isByTag ? kTagHop : kHop), vertex, nodeOf(from)});
}

template <bool kPlain> void Engine<kPlain>::hop(const Event &event) {
  bool isByTag = (event.order & kKindMask) == kTagHop;
  const Vertex &v = vertices_[event.vertex];
  uint32_t receiver = isByTag ? v.peer : vertices_[v.partner].peer;
  if (event.host == nodeOf(receiver)) {
    if (recorder())
      recorder()->leavesLinks(isByTag ? event.vertex : v.partner, now_);
    return arrive(event.vertex, receiver, now_, isByTag);
  }
  Network::Step step = network_->forward(event.host, nodeOf(receiver), now_, workload_.amountOf(v));
  wheel_.push({step.arrival, event.order, event.vertex, step.next});
}

/// Time per byte on the slowest link of a message. `vertex`: its receive; by tag, its send.
template <bool kPlain> PerByte Engine<kPlain>::linkG(uint32_t vertex, uint32_t receiver) const {
  const Vertex &v = vertices_[vertex];
  uint32_t sender = v.kind == VertexKind::Send ? workload_.rankOf(vertex) : v.peer;
  return network_->slowestG(nodeOf(sender), nodeOf(receiver));
}

template <bool kPlain> void Engine<kPlain>::postByTag(const Event &event, const Vertex &v) {
  TagEnd wanted{v.peer, v.isAnyTag ? kAnyOne : v.partner, event.vertex};
  TagHost &host = tags_[event.host];
  std::optional<TagEnd> message = host.messages.take(wanted.rank, wanted.tag);
  if (!message)
    host.receives.add(wanted);
  else if (agree(message->vertex, event.vertex))
    meetByTag(event.vertex, event.host, message->vertex, message->rank,
              isSimple() ? now_ : std::max(now_, readyAt_[message->vertex]));
}

template <bool kPlain> void Engine<kPlain>::arriveByTag(uint32_t send, uint32_t to, uint64_t end) {
  const Vertex &v = vertices_[send];
  TagEnd message{workload_.rankOf(send), v.isAnyTag ? kAnyOne : v.partner, send};
  TagHost &host = tags_[to];
  std::optional<TagEnd> recv = host.receives.take(message.rank, message.tag);
  if (!recv) {
    host.messages.add(message);
    if (!isSimple())
      readyAt_[send] = end;
  } else if (agree(send, recv->vertex)) {
    meetByTag(recv->vertex, to, send, message.rank, end);
  }
}

/// True if both ends state the same size; else the run ends with an error.
template <bool kPlain> bool Engine<kPlain>::agree(uint32_t send, uint32_t recv) {
  uint64_t sent = workload_.amountOf(vertices_[send]);
  uint64_t received = workload_.amountOf(vertices_[recv]);
  if (sent == received)
    return true;
  uint32_t from = workload_.rankOf(send), to = workload_.rankOf(recv);
  SourceLoc loc = locOf(workload_, send);
  Diagnostic error =
      Diagnostic::error(loc, concat(nameOf(workload_, send), " has ", sent, " bytes, and meets ",
                                    nameOf(workload_, recv), " of ", received, " bytes"));
  error.notes.push_back(
      Diagnostic::note(locOf(workload_, recv), concat("rank ", to, " receives from rank ", from)));
  error_ = error;
  return false;
}

template class Engine<true>;
template class Engine<false>;

} // namespace colldsl::sim
