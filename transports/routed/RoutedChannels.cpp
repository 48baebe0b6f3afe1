#include "transports/routed/RoutedChannels.h"

namespace colldsl::routed {

RoutedChannels::RoutedChannels(const RoutedEndpoint &endpoint, const OpenRequest &request) {
  addEdges(out_, request.out, endpoint);
  addEdges(in_, request.in, endpoint);
}

void RoutedChannels::addEdges(Side &side, std::span<const EdgeSpec> edges,
                              const RoutedEndpoint &endpoint) {
  side.edges.resize(endpoint.parts_.size());
  size_t messages = 0;
  for (const EdgeSpec &edge : edges) {
    uint8_t part = endpoint.partOf_[index(edge.peer)];
    side.ways.push_back({part, static_cast<uint32_t>(side.edges[part].size())});
    side.edges[part].push_back(edge);
    messages += edge.messages.size();
  }
  done_.reserve(done_.capacity() + messages);
}

OpenRequest RoutedChannels::nextRequest(const OpenRequest &request) const {
  OpenRequest next = request;
  next.out = out_.edges[parts_.size()];
  next.in = in_.edges[parts_.size()];
  return next;
}

Status RoutedChannels::prepare(const Work &work) {
  for (Channels *part : parts_)
    if (Status s = part->prepare(work); !s)
      return s;
  return {};
}

void RoutedChannels::start() {
  for (Channels *part : parts_)
    part->start();
}

Posted RoutedChannels::after(Posted posted, Way way) {
  if (posted == Posted::Failed)
    fail(partOf(way).fault());
  return posted;
}

Posted RoutedChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  Way way = out_.ways[slot.edge];
  return after(partOf(way).send({way.edge, slot.message}, op, payload), way);
}

Posted RoutedChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  Way way = in_.ways[slot.edge];
  return after(partOf(way).recv({way.edge, slot.message}, op, payload), way);
}

Posted RoutedChannels::recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                                     CombiningTarget &target) {
  Way way = in_.ways[slot.edge];
  return after(partOf(way).recvCombining({way.edge, slot.message}, op, payload, target), way);
}

bool RoutedChannels::sendNow(MessageSlot slot, const Payload &payload) {
  Way way = out_.ways[slot.edge];
  return partOf(way).sendNow({way.edge, slot.message}, payload);
}

bool RoutedChannels::recvNow(MessageSlot slot, const Payload &payload) {
  Way way = in_.ways[slot.edge];
  return partOf(way).recvNow({way.edge, slot.message}, payload);
}

void RoutedChannels::hold() {
  for (Channels *part : parts_)
    part->hold();
}

void RoutedChannels::push() {
  for (Channels *part : parts_)
    part->push();
}

std::span<const Completion> RoutedChannels::poll() {
  done_.clear();
  for (Channels *part : parts_) {
    std::span<const Completion> done = part->poll();
    done_.insert(done_.end(), done.begin(), done.end());
    if (part->failed())
      fail(part->fault());
  }
  return done_;
}

// What one part learns the ranks of the others may not.
bool RoutedChannels::check() {
  for (Channels *part : parts_)
    if (!failed() && !part->check())
      abort(part->fault());
  return !failed();
}

void RoutedChannels::cancel() {
  for (Channels *part : parts_)
    part->cancel();
}

void RoutedChannels::abort(const Fault &fault) {
  fail(fault);
  for (Channels *part : parts_)
    part->abort(fault);
}

OpId RoutedChannels::openOp(Rank peer) const {
  for (const Channels *part : parts_)
    if (OpId op = part->openOp(peer); op != kNoOp)
      return op;
  return kNoOp;
}

} // namespace colldsl::routed
