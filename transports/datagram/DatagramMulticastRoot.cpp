// Groups of which this rank is the root.
#include "transports/datagram/DatagramTransport.h"
#include "transports/datagram/MulticastMessages.h"

#include <algorithm>
#include <cstring>

namespace colldsl::datagram {
namespace {

// The probes in vain after which a member may be dead.
constexpr uint32_t kProbesBeforeExpecting = 2;

} // namespace

bool DatagramMulticast::isReady(Group group) const {
  const SendGroup &found = *sendGroups_[group];
  return !found.isOff && found.sender.isReady();
}
bool DatagramMulticast::hasRoom(Group group) const { return sendGroups_[group]->sender.hasRoom(); }
bool DatagramMulticast::isAcknowledged(Group group, uint64_t number) const {
  return sendGroups_[group]->sender.isAcknowledged(number);
}
void DatagramMulticast::release(Group group) { sendGroups_[group]->sender.release(); }

bool DatagramMulticast::isIdle() const {
  return std::all_of(sendGroups_.begin(), sendGroups_.end(), [](const auto &group) {
    return group->sender.next() == 1 || group->sender.isIdle();
  });
}

uint64_t DatagramMulticast::send(Group number, std::span<const std::byte> head,
                                 std::span<const std::byte> body,
                                 const network::MulticastFlags &flags) {
  SendGroup &group = *sendGroups_[number];
  MulticastChannel &channel = group.sender.append(head, body, flags);
  if (group.sender.hasMoved())
    forwardChannel(group, channel);
  else
    counts_.packets += sendParts(group, channel, ~uint64_t{0}, kNoPlace);
  noteSent(group);
  return channel.number;
}

// The group's wait begins now, or when the clock is read.
void DatagramMulticast::noteSent(SendGroup &group) {
  group.isUntimed = !transport_.isNow();
  if (group.isUntimed)
    return;
  group.sender.noteSent(transport_.now_, timeoutOf(group));
  transport_.remindAt(group.sender.probeAt());
}

void DatagramMulticast::beginWaits() {
  for (const auto &group : sendGroups_)
    if (group->isUntimed)
      noteSent(*group);
}

// The timeout of the farthest member.
TimeNs DatagramMulticast::timeoutOf(const SendGroup &group) {
  TimeNs most = 0;
  for (size_t place = 1; place < group.ranks.size(); ++place)
    if (const Flow *flow = flowTo(group.ranks[place]))
      most = std::max(most, flow->pace.timeout());
  return most;
}

MulticastHeader DatagramMulticast::headerOf(const SendGroup &group, const MulticastChannel &channel,
                                            uint32_t part) const {
  return {.group = group.number,
          .root = transport_.self_,
          .number = channel.number,
          .bytes = channel.bytes(),
          .part = static_cast<uint16_t>(part),
          .wantsAck = channel.wantsAck};
}

/// Packets to all, or to one.
struct DatagramMulticast::Batch {
  static constexpr uint32_t kMax = 16;
  std::array<PacketHeader, kMax> headers;
  std::array<MulticastHeader, kMax> multicasts;
  std::array<std::array<iovec, 4>, kMax> pieces;
  std::array<mmsghdr, kMax> messages = {};
  uint32_t count = 0;

  void add(const PacketHeader &header, const MulticastHeader &multicast, sockaddr_in &to,
           std::span<const iovec> body) {
    headers[count] = header;
    multicasts[count] = multicast;
    auto &own = pieces[count];
    own[0] = {&headers[count], sizeof header};
    own[1] = {&multicasts[count], sizeof multicast};
    std::copy(body.begin(), body.end(), own.begin() + 2);
    sealPieces(headers[count], std::span(own).subspan(1, 1 + body.size()));
    msghdr &message = messages[count++].msg_hdr;
    message.msg_name = &to;
    message.msg_namelen = sizeof to;
    message.msg_iov = own.data();
    message.msg_iovlen = 2 + body.size();
  }
};

// A packet that the kernel does not take now is lost: members that miss it send a NACK.
void DatagramMulticast::send(Batch &batch) {
  if (batch.count != 0)
    (void)transport_.sendAll({batch.messages.data(), std::exchange(batch.count, 0)});
}

PacketHeader DatagramMulticast::multicastHeader(PacketKind kind) const {
  PacketHeader header;
  header.kind = kind;
  header.from = transport_.self_;
  header.token = token_;
  return header;
}

// Sends parts to all, or to the member at `place`. Returns their number.
uint32_t DatagramMulticast::sendParts(SendGroup &group, MulticastChannel &channel, uint64_t parts,
                                      uint32_t place) {
  Flow *one = place == kNoPlace ? nullptr : flowTo(group.ranks[place]);
  if (place != kNoPlace && !one)
    return 0;
  Batch batch;
  uint32_t sent = 0;
  for (uint32_t part = 0; part < group.sender.numParts(channel); ++part) {
    if ((parts >> part & 1) == 0)
      continue;
    PacketHeader header = multicastHeader(PacketKind::Multicast);
    if (one)
      one->describe(header, transport_.now_, transport_.isNow());
    std::array<iovec, 2> pieces;
    uint32_t count = group.sender.pieces(channel, part, pieces);
    batch.add(header, headerOf(group, channel, part), one ? one->address : address_,
              std::span(pieces).first(count));
    ++sent;
    if (batch.count == Batch::kMax)
      send(batch);
  }
  send(batch);
  if (!one)
    channel.sentAt = transport_.now_;
  return sent;
}

// Sends again the parts that members have requested since the last poll.
void DatagramMulticast::resend(SendGroup &group) {
  while (MulticastChannel *channel = group.sender.takeWanted()) {
    uint64_t parts = std::exchange(channel->wanted, 0);
    uint32_t requesters = std::exchange(channel->requesters, 0);
    if (!group.sender.hasMoved())
      counts_.resent +=
          sendParts(group, *channel, parts, requesters == 1 ? channel->requester : kNoPlace);
  }
  if (group.sender.hasMoved() && !std::exchange(group.isForwarding, true))
    forwardAll(group);
}

// Forwards all frames that are kept; members drop those that they have.
void DatagramMulticast::forwardAll(SendGroup &group) {
  for (uint64_t number = group.sender.oldest(); number < group.sender.next(); ++number)
    forwardChannel(group, group.sender.channel(number));
}

void DatagramMulticast::forwardChannel(SendGroup &group, MulticastChannel &channel) {
  std::vector<std::byte> bytes;
  for (uint32_t part = 0; part < group.sender.numParts(channel); ++part) {
    ForwardedPart forwarded = {.root = transport_.self_, .header = headerOf(group, channel, part)};
    bytes.resize(sizeof forwarded);
    std::memcpy(bytes.data(), &forwarded, sizeof forwarded);
    std::array<iovec, 2> pieces;
    for (uint32_t i = 0, count = group.sender.pieces(channel, part, pieces); i < count; ++i) {
      auto *begin = static_cast<const std::byte *>(pieces[i].iov_base);
      bytes.insert(bytes.end(), begin, begin + pieces[i].iov_len);
    }
    sendBelow(group.sender.tree(), 0, group.ranks, bytes);
  }
}

// Sends bytes to those below a place, once and in order.
void DatagramMulticast::sendBelow(const MulticastTree &tree, uint32_t place,
                                  const std::vector<Rank> &ranks,
                                  std::span<const std::byte> bytes) {
  std::vector<uint32_t> below;
  tree.below(place, below);
  for (uint32_t child : below)
    if (Flow *flow = flowTo(ranks[child])) {
      handler_->sendFor(flow->peer, bytes);
      ++counts_.forwarded;
    }
}

TimeNs DatagramMulticast::sendProbes() {
  TimeNs next = transport_.now_ + transport_.options_.longestPause.count();
  for (const auto &group : sendGroups_) {
    if (!group->sender.isWaiting())
      setExpecting(*group, false);
    if (group->isOff || !group->sender.isWaiting() || group->isUntimed)
      continue;
    if (group->sender.probeAt() <= transport_.now_)
      probe(*group);
    next = std::min(next, group->sender.probeAt());
  }
  return next;
}

// A multicast probe goes to all at once. If it is in vain, or multicast does not work any more, the
// root probes each member, too: a member that misses a part answers with a NACK. Silence is no
// proof that multicast fails; the flow to a dead member finds its death.
void DatagramMulticast::probe(SendGroup &group) {
  MulticastSender &sender = group.sender;
  MulticastHeader header = {
      .group = group.number, .root = transport_.self_, .number = sender.next()};
  ++counts_.probes;
  if (!sender.hasMoved()) {
    Batch batch;
    batch.add(multicastHeader(PacketKind::MulticastProbe), header, address_, {});
    send(batch);
  }
  if (sender.hasMoved() || group.isExpecting)
    for (size_t place = 1; place < group.ranks.size(); ++place)
      if (Flow *flow = flowTo(group.ranks[place]))
        sendOne(*flow, PacketKind::MulticastProbe, header);
  uint32_t inVain = sender.noteProbe(transport_.now_, transport_.options_.longestPause.count());
  if (sender.isReady() && inVain >= kProbesBeforeExpecting)
    setExpecting(group, true);
}

void DatagramMulticast::setExpecting(SendGroup &group, bool isExpecting) {
  if (std::exchange(group.isExpecting, isExpecting) == isExpecting)
    return;
  for (size_t place = 1; place < group.ranks.size(); ++place)
    if (Flow *flow = flowTo(group.ranks[place]))
      isExpecting ? transport_.expect(flow->peer) : transport_.expectLess(flow->peer);
}

DatagramMulticast::SendGroup *DatagramMulticast::findSendGroup(const MulticastHeader &header) {
  bool isOurs = header.root == transport_.self_ && header.group < sendGroups_.size();
  return isOurs ? sendGroups_[header.group].get() : nullptr;
}

uint32_t DatagramMulticast::placeOf(const std::vector<Rank> &ranks, Rank rank) {
  auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() ? kNoPlace : static_cast<uint32_t>(found - ranks.begin());
}

// Ends the wait for members that may be dead, because one answers: its NACKs come in time.
void DatagramMulticast::noteProgress(SendGroup &group) {
  if (!group.sender.hasProgress())
    return;
  setExpecting(group, false);
  noteSent(group);
}

// False: the acknowledgement is impossible.
bool DatagramMulticast::takeAckAtRoot(SendGroup &group, Flow &from, const MulticastHeader &header) {
  bool isFine = group.sender.takeAck(placeOf(group.ranks, from.peer.rank), header.number);
  noteProgress(group);
  return isFine;
}

bool DatagramMulticast::takeNack(Flow &from, const MulticastHeader &header,
                                 std::span<const std::byte> rest) {
  SendGroup *group = findSendGroup(header);
  if (!group || rest.empty() || rest.size() % sizeof(MulticastGap) != 0)
    return false;
  uint32_t place = placeOf(group->ranks, from.peer.rank);
  bool isFine = true;
  for (size_t at = 0; at < rest.size(); at += sizeof(MulticastGap)) {
    MulticastGap gap;
    std::memcpy(&gap, rest.data() + at, sizeof gap);
    isFine &= group->sender.takeNack(place, gap, transport_.now_, from.pace.guard());
  }
  noteProgress(*group);
  return isFine;
}

bool DatagramMulticast::takeJoinRefusal(Flow &from, std::span<const std::byte> bytes) {
  JoinRefusal refusal;
  if (bytes.size() != sizeof refusal)
    return false;
  std::memcpy(&refusal, bytes.data(), sizeof refusal);
  SendGroup *group = findSendGroup({.group = refusal.group, .root = transport_.self_});
  if (!group || placeOf(group->ranks, from.peer.rank) == kNoPlace || group->sender.isReady())
    return false;
  group->isOff = true;
  return true;
}

} // namespace colldsl::datagram
