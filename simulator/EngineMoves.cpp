// Messages that one end alone moves, and those that interfaces move.
#include "simulator/EventLoop.h"

namespace colldsl::sim {

/// True if data may move. If not, the send has started, and continues with its receive; other sends
/// use its interface meanwhile.
template <bool kPlain>
bool Engine<kPlain>::mayMove(const Event &event, const Vertex &v, Ports ports) {
  if (!awaitsReceive(v.way) || vertices_[v.partner].isStarted)
    return true;
  startOp(event.vertex, event.host);
  vertices_[event.vertex].hasArrived = 1;
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Send, ports);
  return false;
}

template <bool kPlain>
void Engine<kPlain>::moveOne(const Event &event, const Vertex &v, Ports ports) {
  const LogGop &p = costs(v);
  uint64_t bytes = workload_.amountOf(v), work = p.sendNs(bytes);
  uint64_t gapNs = isWhole(v, p) ? p.g : p.gapNs(bytes);
  uint32_t host = event.host;
  if (v.way == Way::Reader) {
    work = p.o;
    gapNs = p.g;
  } else if (v.way == Way::Writer) {
    work = p.receiveNs(bytes);
  } else if (hasFlag(v.way)) {
    work += p.o;
    gapNs += p.g;
  }
  if (!v.isStarted)
    startOp(event.vertex, host);
  uint64_t notice = isStatic(v.way) && awaitsReceive(v.way) ? p.notice : 0;
  uint64_t leaves = busyUntil(host, ports, now_, notice + p.o);
  uint64_t end = work == p.o ? leaves : workUntil(v, host, ports, leaves, work - p.o);
  if (recorder())
    recorder()->ranOp(event.vertex, useOf(host, ports, false), now_, end, true);
  cpu(host, ports) = end;
  sendGap(host, ports) = now_ + notice + gapNs;
  if (recorder())
    recorder()->sendsUntil(event.vertex, sendGap(host, ports));
  deliver(v, event.vertex, host, (v.way == Way::Writer ? end : leaves) + p.L);
  if (v.way != Way::Reader)
    finishOp(event.vertex, host, end, {event.vertex, false});
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Send, ports);
}

/// Continues the send or the message that waited for the start of this receive.
template <bool kPlain> void Engine<kPlain>::began(const Event &event, const Vertex &v) {
  Vertex &send = vertices_[v.partner];
  if (send.hasArrived) {
    send.hasArrived = 0;
    if (recorder())
      recorder()->awaited(v.partner, false, event.vertex, now_);
    wheel_.push({now_, newOrder(kSend), v.partner, v.peer});
  } else if (v.hasArrived && v.way == Way::Reader) {
    if (recorder())
      recorder()->awaited(v.partner, true, event.vertex, now_);
    wheel_.push({now_, newOrder(kMessage), event.vertex, event.host});
  } else if (v.hasArrived) {
    meet(event.vertex, event.host, v.partner, v.peer,
         isSimple() ? now_ : std::max(now_, readyAt_[v.partner]));
  }
}

/// The first byte of a message that the interface takes arrives, and all that follows.
template <bool kPlain> void Engine<kPlain>::land(const Event &event, const Vertex &v, Ports ports) {
  uint32_t host = event.host;
  uint64_t &gap = receiveGap(host, ports);
  if (!isReady(event, gap, LineKind::Message, ports))
    return;
  const LogGop &p = costs(v);
  uint64_t bytes = workload_.amountOf(v), further = LogGop::furtherBytes(bytes);
  bool isThere = isWhole(v, p);
  uint64_t last = isThere ? 0 : hasFlag(v.way) ? p.nextSendNs(bytes) : p.G.times(further);
  if (crossesNetwork(v) && !isThere)
    last = std::max(last, linkG(event.vertex, host).times(further));
  gap = now_ + (isThere ? p.g : p.gapNs(bytes)) + (hasFlag(v.way) ? p.g : 0);
  wheel_.push({now_ + last, newOrder(kLanded), event.vertex, host});
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Message, ports);
}

template <bool kPlain> void Engine<kPlain>::runLanded(const Event &event) {
  const Vertex &v = vertices_[event.vertex];
  uint32_t host = event.host, send = v.partner;
  Ports ports = receiverPortsOf(v, send);
  if (recorder() && !(event.order & kIsWaiting))
    recorder()->arrived(send, now_);
  if (!isReady(event, cpu(host, ports), LineKind::Calc, ports))
    return;
  const LogGop &p = costs(v);
  uint64_t end =
      workUntil(v, host, ports, now_, isStatic(v.way) ? p.o : p.sendNs(workload_.amountOf(v)));
  if (recorder())
    recorder()->ranMessage(send, useOf(host, ports, true), now_, end);
  cpu(host, ports) = end;
  takenIn(event.vertex, host, send, end, false);
  if (event.order & kIsWaiting)
    leaveLine(event, LineKind::Calc, ports);
}

template class Engine<true>;
template class Engine<false>;

} // namespace colldsl::sim
