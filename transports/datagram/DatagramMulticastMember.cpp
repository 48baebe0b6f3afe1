// Groups of which this rank is a member.
#include "transports/datagram/DatagramTransport.h"
#include "transports/datagram/MulticastMessages.h"

#include <cstring>

namespace colldsl::datagram {

// Checks everything in a packet, which comes by multicast.
void DatagramMulticast::takeMulticast(const Listener &listener,
                                      std::span<const std::byte> datagram) {
  std::optional<PacketView> packet = parse(datagram, listener.token);
  MulticastHeader header;
  bool isFine = packet && packet->body.size() >= sizeof header &&
                packet->header.from == listener.root->peer.rank &&
                (packet->header.kind == PacketKind::Multicast ||
                 packet->header.kind == PacketKind::MulticastProbe);
  if (isFine) {
    std::memcpy(&header, packet->body.data(), sizeof header);
    isFine = takeFromRoot(*listener.root, packet->header.kind, header,
                          packet->body.subspan(sizeof header));
  }
  counts_.refused += !isFine;
}

// False: the packet is impossible.
bool DatagramMulticast::takeFromRoot(Flow &root, PacketKind kind, const MulticastHeader &header,
                                     std::span<const std::byte> rest) {
  if (header.root != root.peer.rank || root.peer.isLost)
    return false;
  ReceiveGroup *group = find(header.root, header.group);
  if (!group)
    return isListenedTo(header.root); // this rank is no member of all groups
  bool isPart = kind == PacketKind::Multicast;
  if (!(isPart ? group->receiver.take(header, rest)
               : rest.empty() && group->receiver.takeProbe(header.number)))
    return false;
  if (isPart)
    root.noteExpected(transport_.now_);
  deliver(*group);
  touch(*group);
  return true;
}

void DatagramMulticast::deliver(ReceiveGroup &group) {
  for (auto frame = group.receiver.front(); !frame.empty(); frame = group.receiver.front()) {
    handler_->onMulticast(group.root.peer, frame);
    group.receiver.dropFront();
  }
}

void DatagramMulticast::touch(ReceiveGroup &group) {
  if (!std::exchange(group.isTouched, true))
    touched_.push_back(&group);
}

// Called after all packets that came at once: many parts that seemed to be missing are here by
// then.
void DatagramMulticast::sendOwed() {
  for (ReceiveGroup *group : touched_) {
    group->isTouched = false;
    if (group->root.peer.isLost)
      continue;
    if (group->receiver.hasGap() &&
        group->receiver.mayNack(transport_.now_, group->root.pace.guard()))
      sendNack(*group);
    if (group->receiver.owesAck())
      acknowledge(*group);
  }
  touched_.clear();
  for (const auto &group : sendGroups_)
    resend(*group);
}

void DatagramMulticast::sendNack(ReceiveGroup &group) {
  std::array<MulticastGap, kMulticastChannels + 1> gaps;
  uint32_t count = group.receiver.gaps(gaps);
  iovec rest = {gaps.data(), count * sizeof(MulticastGap)};
  ++counts_.nacks;
  sendOne(group.root, PacketKind::MulticastNack,
          {.group = group.number, .root = group.root.peer.rank}, {&rest, 1});
}

void DatagramMulticast::sendNacks(Flow &root) {
  for (Listener &listener : listeners_)
    if (listener.root == &root)
      for (const auto &group : listener.groups)
        if (group && group->receiver.isListening())
          sendNack(*group);
}

void DatagramMulticast::acknowledge(ReceiveGroup &group) {
  const MulticastReceiver &receiver = group.receiver;
  Flow *above = flowTo(group.ranks[receiver.tree().above(receiver.place())]);
  if (!above)
    return;
  ++counts_.acks;
  sendOne(*above, PacketKind::MulticastAck,
          {.group = group.number, .root = group.root.peer.rank, .number = receiver.acked()});
  group.receiver.noteAck();
}

bool DatagramMulticast::takeAck(Flow &from, const MulticastHeader &header) {
  if (SendGroup *group = findSendGroup(header))
    return takeAckAtRoot(*group, from, header);
  ReceiveGroup *group = find(header.root, header.group);
  if (!group || !group->receiver.takeAck(placeOf(group->ranks, from.peer.rank), header.number))
    return false;
  touch(*group);
  return true;
}

// Takes a part that comes down the tree, and passes it on to those below.
bool DatagramMulticast::takeForward(Flow &from, std::span<const std::byte> bytes) {
  ForwardedPart forwarded;
  if (bytes.size() < sizeof forwarded)
    return false;
  std::memcpy(&forwarded, bytes.data(), sizeof forwarded);
  ReceiveGroup *group = find(forwarded.root, forwarded.header.group);
  if (!group || forwarded.header.root != forwarded.root ||
      placeOf(group->ranks, from.peer.rank) == kNoPlace)
    return false;
  sendBelow(group->receiver.tree(), group->receiver.place(), group->ranks, bytes);
  return takeFromRoot(group->root, PacketKind::Multicast, forwarded.header,
                      bytes.subspan(sizeof forwarded));
}

} // namespace colldsl::datagram
