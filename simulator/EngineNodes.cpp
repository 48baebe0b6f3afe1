// Interfaces that the ranks of a node share.
#include "simulator/EventLoop.h"

namespace colldsl::sim {

template <bool kPlain> void Engine<kPlain>::dispatchOther(const Event &event) {
  switch (static_cast<Kind>(event.order & kKindMask)) {
  case kLanded:
    return runLanded(event);
  case kThrough:
    return through(event);
  case kAtNode:
  case kTagAtNode:
    return enterNode(event);
  default:
    return acknowledge(event.vertex, event.host); // kWasRead
  }
}

/// A message whose first byte would be at the receiver's interface at `at` goes out through the
/// interface of its node.
template <bool kPlain>
void Engine<kPlain>::leaveNode(const Vertex &send, uint32_t sendIndex, uint32_t from, uint64_t at) {
  uint64_t bytes = workload_.amountOf(send), L = costs(send).L;
  bool isLongOne = isLong(send, costs(send));
  uint32_t interface = nodes_->sending(from, isLongOne);
  if (nodes_->isShared(isLongOne)) {
    through_[sendIndex].lastByteAt = at + costs(send).G.times(LogGop::furtherBytes(bytes));
    share(interface, bytes, sendIndex);
  } else {
    at = nodes_->pass(interface, at - L, bytes) + L;
  }
  if (crossesNetwork(send))
    enterNetwork(send, sendIndex, from, at);
  else
    arrive(send.isByTag ? sendIndex : send.partner, send.peer, at, send.isByTag);
}

/// A long message shares the interface with others from now on.
template <bool kPlain>
void Engine<kPlain>::share(uint32_t interface, uint64_t bytes, uint32_t send) {
  nodes_->join(interface, now_, bytes, send);
  expectThrough(interface);
}

template <bool kPlain> void Engine<kPlain>::expectThrough(uint32_t interface) {
  if (std::optional<uint64_t> next = nodes_->nextThrough(interface))
    wheel_.push({std::max(*next, now_), newOrder(kThrough), nodes_->joins(interface), interface});
}

/// Messages that shared the interface are through. One that is through both interfaces is there:
/// all of it, so that its receiver need not wait for further bytes.
template <bool kPlain> void Engine<kPlain>::through(const Event &event) {
  uint32_t interface = event.host;
  if (event.vertex != nodes_->joins(interface))
    return; // another one joined, with an event of its own
  while (std::optional<uint32_t> send = nodes_->takeThrough(interface, now_)) {
    const Vertex &v = vertices_[*send];
    Through &state = through_[*send];
    state.lastByteAt =
        std::max(state.lastByteAt, now_ + (nodes_->isSending(interface) ? costs(v).L : 0));
    if (++state.interfaces == 2)
      wheel_.push({state.lastByteAt, newOrder(v.isByTag ? kTagMessage : kMessage),
                   v.isByTag ? *send : v.partner, v.peer});
  }
  expectThrough(interface);
}

/// The first byte of a message is at the receiver's node at `at`. `vertex`: the receive; by tag,
/// the send.
template <bool kPlain>
void Engine<kPlain>::arrive(uint32_t vertex, uint32_t receiver, uint64_t at, bool isByTag) {
  bool isAtNode = crossesInterfaces(vertices_[vertex]);
  Kind kind = isAtNode ? (isByTag ? kTagAtNode : kAtNode) : (isByTag ? kTagMessage : kMessage);
  wheel_.push({at, newOrder(kind), vertex, receiver});
}

/// A message goes in through the interface of its receiver's node.
template <bool kPlain> void Engine<kPlain>::enterNode(const Event &event) {
  bool isByTag = (event.order & kKindMask) == kTagAtNode;
  const Vertex &v = vertices_[event.vertex];
  const LogGop &p = costs(v);
  bool isLongOne = isLong(v, p);
  uint32_t interface = nodes_->receiving(event.host, isLongOne);
  uint64_t bytes = workload_.amountOf(v), further = LogGop::furtherBytes(bytes);
  uint64_t follows = p.G.times(further); // until the last byte, with the interface for itself
  if (crossesNetwork(v))
    follows = std::max(follows, linkG(event.vertex, event.host).times(further));
  if (nodes_->isShared(isLongOne)) {
    uint32_t send = isByTag ? event.vertex : v.partner;
    through_[send].lastByteAt = std::max(through_[send].lastByteAt, now_ + follows);
    return share(interface, bytes, send);
  }
  uint64_t at = nodes_->pass(interface, now_, bytes);
  if (isWhole(v, p))
    at += std::max(follows, nodes_->G().times(bytes));
  else if (nodes_->G() > p.G)
    at += nodes_->G().times(bytes) - p.G.times(bytes);
  wheel_.push({at, newOrder(isByTag ? kTagMessage : kMessage), event.vertex, event.host});
}

template class Engine<true>;
template class Engine<false>;

bool isMovedByInterfaces(const MachineModel &model) {
  auto isMoved = [](const LogGop &p) { return p.movedBy == MovedBy::Interfaces; };
  for (unsigned d = 0; d <= kMaxDistance; ++d)
    if (isMoved(model.distances[d]) ||
        std::any_of(model.longer[d].begin(), model.longer[d].end(),
                    [&](const FromBytes<LogGop> &next) { return isMoved(next.costs); }))
      return true;
  return false;
}

} // namespace colldsl::sim
