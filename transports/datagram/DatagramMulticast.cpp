// Makes groups, and implements what their roots and members have in common.
#include "transports/datagram/DatagramMulticast.h"

#include "transports/datagram/DatagramTransport.h"
#include "transports/datagram/Sockets.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

namespace colldsl::datagram {
namespace {

constexpr uint32_t kLeastPartBytes = 64;
// The addresses for a site, among those that are for administrators (RFC 2365), and ports that no
// service has for good.
constexpr uint32_t kScope = 0xefff0000, kScopeMask = 0xffff0000;
constexpr uint16_t kFirstPort = 49152, kPorts = 16384;

} // namespace

DatagramMulticast::DatagramMulticast(DatagramTransport &transport) : transport_(transport) {}
DatagramMulticast::~DatagramMulticast() { stop(); }

void DatagramMulticast::start(uint32_t maxSentBytes) {
  maxSentBytes_ = maxSentBytes;
  auto headers = static_cast<uint32_t>(sizeof(PacketHeader) + sizeof(MulticastHeader));
  partBytes_ = std::min(transport_.place_.packetBytes - headers,
                        maxSentBytes - static_cast<uint32_t>(sizeof(ForwardedPart)));
}

void DatagramMulticast::stop() {
  for (Listener &listener : listeners_)
    close(listener.file);
  listeners_.clear();
  if (waitFile_ >= 0)
    close(waitFile_);
  waitFile_ = -1;
}

std::function<bool(uint32_t)> DatagramMulticast::goneAt(const std::vector<Rank> &ranks) const {
  return [this, &ranks](uint32_t place) {
    auto known = transport_.flowByRank_.find(ranks[place]);
    return known != transport_.flowByRank_.end() &&
           (known->second->peer.hasDisconnected || known->second->peer.isLost);
  };
}

// The flow to a rank. Null: there is none, or it failed.
Flow *DatagramMulticast::flowTo(Rank rank) {
  network::Peer *peer =
      rank == transport_.self_ ? nullptr : transport_.handler_->onConnectRequest(rank);
  return peer && !peer->isLost ? transport_.flowOf(*peer) : nullptr;
}

// The multicast address of this rank. It is chosen at random; a stranger at it lacks the token.
Status DatagramMulticast::openPlace() {
  if (address_.sin_port != 0)
    return {};
  in_addr interface = {transport_.place_.address};
  uint32_t chance;
  if (Status s = sendToGroupsOn(transport_.socket_, interface); !s)
    return s;
  if (getrandom(&token_, sizeof token_, 0) != sizeof token_ ||
      getrandom(&chance, sizeof chance, 0) != sizeof chance)
    return Status::error("the kernel has no random numbers");
  address_.sin_family = AF_INET;
  address_.sin_addr.s_addr = htonl(kScope | (chance & ~kScopeMask));
  address_.sin_port = htons(static_cast<uint16_t>(kFirstPort + (chance >> 16) % kPorts));
  return {};
}

Result<network::Multicast::Group>
DatagramMulticast::found(std::span<network::Peer *const> members) {
  if (!transport_.options_.multicast)
    return Status::error("multicast is not wanted");
  if (partBytes_ < kLeastPartBytes)
    return Status::error("datagrams are too short for groups");
  uint64_t needed = sizeof(JoinRequest) + (members.size() + 1) * sizeof(Rank);
  if (sendGroups_.size() == kMaxGroups || members.empty() || needed > maxSentBytes_)
    return Status::error("too many groups, or members");
  if (Status s = openPlace(); !s)
    return s;
  std::vector<Rank> ranks{transport_.self_};
  for (const network::Peer *peer : members)
    ranks.push_back(peer->rank);
  auto number = static_cast<Group>(sendGroups_.size());
  sendGroups_.push_back(std::make_unique<SendGroup>(number, std::move(ranks), partBytes_, *this));
  SendGroup &group = *sendGroups_.back();
  requestJoin(group);
  group.sender.noteSent(transport_.now_, transport_.options_.minTimeout.count());
  transport_.remindAt(group.sender.probeAt());
  return number;
}

DatagramMulticast::SendGroup::SendGroup(Group number, std::vector<Rank> ranks, uint32_t partBytes,
                                        const DatagramMulticast &multicast)
    : number(number), ranks(std::move(ranks)),
      sender(static_cast<uint32_t>(this->ranks.size()), partBytes, multicast.goneAt(this->ranks)) {}

DatagramMulticast::ReceiveGroup::ReceiveGroup(Group number, Flow &root, std::vector<Rank> ranks,
                                              uint32_t place, uint32_t partBytes,
                                              const DatagramMulticast &multicast)
    : number(number), root(root), ranks(std::move(ranks)),
      receiver(static_cast<uint32_t>(this->ranks.size()), place, partBytes,
               multicast.goneAt(this->ranks)) {}

void DatagramMulticast::requestJoin(SendGroup &group) {
  std::vector<std::byte> bytes(sizeof(JoinRequest) + group.ranks.size() * sizeof(Rank));
  JoinRequest request = {.group = group.number,
                         .token = token_,
                         .address = address_.sin_addr.s_addr,
                         .port = address_.sin_port,
                         .partBytes = static_cast<uint16_t>(partBytes_)};
  std::memcpy(bytes.data(), &request, sizeof request);
  std::memcpy(bytes.data() + sizeof request, group.ranks.data(), group.ranks.size() * sizeof(Rank));
  for (size_t place = 1; place < group.ranks.size(); ++place)
    if (Flow *flow = flowTo(group.ranks[place]))
      handler_->sendFor(flow->peer, bytes);
}

void DatagramMulticast::onMessage(network::Peer &from, std::span<const std::byte> bytes) {
  Flow *flow = transport_.flowOf(from);
  MulticastMessage kind;
  std::memcpy(&kind, bytes.data(), std::min(bytes.size(), sizeof kind));
  bool isFine = false;
  if (flow && bytes.size() >= sizeof kind) {
    switch (kind) {
    case MulticastMessage::JoinRequest:
      isFine = takeJoinRequest(*flow, bytes);
      break;
    case MulticastMessage::JoinRefusal:
      isFine = takeJoinRefusal(*flow, bytes);
      break;
    case MulticastMessage::Forward:
      isFine = takeForward(*flow, bytes);
      break;
    }
  }
  counts_.refused += !isFine;
}

// The sender is a rank of the job, but the content may be anything.
bool DatagramMulticast::takeJoinRequest(Flow &from, std::span<const std::byte> bytes) {
  JoinRequest request;
  size_t count = bytes.size() < sizeof request ? 0 : (bytes.size() - sizeof request) / sizeof(Rank);
  if (count < 2 || bytes.size() != sizeof request + count * sizeof(Rank))
    return false;
  std::memcpy(&request, bytes.data(), sizeof request);
  std::vector<Rank> ranks(count);
  std::memcpy(ranks.data(), bytes.data() + sizeof request, count * sizeof(Rank));
  if (join(from, request, std::move(ranks)))
    return true;
  JoinRefusal refusal = {.group = request.group};
  handler_->sendFor(from.peer, std::as_bytes(std::span(&refusal, 1)));
  return true;
}

Status DatagramMulticast::join(Flow &root, const JoinRequest &request, std::vector<Rank> ranks) {
  auto self = std::find(ranks.begin(), ranks.end(), transport_.self_);
  bool isFine = ranks[0] == root.peer.rank && self != ranks.end() && request.group < kMaxGroups &&
                request.partBytes >= kLeastPartBytes && request.partBytes <= kMaxPacketBytes &&
                (ntohl(request.address) & kScopeMask) == kScope && request.port != 0;
  if (!isFine || !transport_.options_.multicast)
    return Status::error("it cannot join");
  Result<Listener *> listener = listenTo(root, request);
  if (!listener)
    return listener.status();
  auto place = static_cast<uint32_t>(self - ranks.begin());
  std::unique_ptr<ReceiveGroup> &group = (*listener)->groups[request.group];
  if (group)
    return Status::error("there is such a group");
  group = std::make_unique<ReceiveGroup>(request.group, root, std::move(ranks), place,
                                         request.partBytes, *this);
  return {};
}

Result<DatagramMulticast::Listener *> DatagramMulticast::listenTo(Flow &root,
                                                                  const JoinRequest &request) {
  for (Listener &known : listeners_)
    if (known.root == &root)
      return &known;
  if (listeners_.size() == kMaxListeners)
    return Status::error("too many roots");
  sockaddr_in group = {};
  group.sin_family = AF_INET;
  group.sin_addr.s_addr = request.address;
  group.sin_port = request.port;
  Result<int> file = openListener(group, {transport_.place_.address});
  if (!file)
    return file.status();
  listeners_.push_back({*file, request.token, &root, {}});
  listeners_.back().groups.resize(kMaxGroups);
  if (waitFile_ >= 0)
    addToWait(*file);
  return &listeners_.back();
}

void DatagramMulticast::addToWait(int file) {
  epoll_event event = {};
  event.events = EPOLLIN;
  (void)epoll_ctl(waitFile_, EPOLL_CTL_ADD, file, &event);
}

int DatagramMulticast::waitFile(int other) {
  if (listeners_.empty())
    return other;
  if (waitFile_ < 0) {
    waitFile_ = epoll_create1(EPOLL_CLOEXEC);
    addToWait(other);
    for (const Listener &listener : listeners_)
      addToWait(listener.file);
  }
  return waitFile_;
}

DatagramMulticast::ReceiveGroup *DatagramMulticast::find(Rank root, Group number) {
  for (Listener &listener : listeners_)
    if (listener.root->peer.rank == root)
      return number < listener.groups.size() ? listener.groups[number].get() : nullptr;
  return nullptr;
}

bool DatagramMulticast::isListenedTo(Rank root) const {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [&](const Listener &listener) { return listener.root->peer.rank == root; });
}

void DatagramMulticast::sendOne(Flow &to, PacketKind kind, const MulticastHeader &header,
                                std::span<const iovec> rest) {
  std::array<iovec, 3> body = {{{const_cast<MulticastHeader *>(&header), sizeof header}}};
  std::copy(rest.begin(), rest.end(), body.begin() + 1);
  transport_.sendOne(to, kind, 0, std::span(body).first(1 + rest.size()));
}

// Takes a packet to this rank alone: to the root from a member, or a retransmission of the root.
void DatagramMulticast::take(Flow &from, PacketKind kind, std::span<const std::byte> body) {
  MulticastHeader header;
  if (body.size() < sizeof header) {
    ++counts_.refused;
    return;
  }
  std::memcpy(&header, body.data(), sizeof header);
  std::span<const std::byte> rest = body.subspan(sizeof header);
  bool isFine = kind == PacketKind::MulticastAck    ? takeAck(from, header)
                : kind == PacketKind::MulticastNack ? takeNack(from, header, rest)
                                                    : takeFromRoot(from, kind, header, rest);
  counts_.refused += !isFine;
}

uint64_t DatagramMulticast::bytes() const {
  uint64_t sum = 0;
  for (const auto &group : sendGroups_)
    sum += group->sender.bytes();
  for (const Listener &listener : listeners_)
    for (const auto &group : listener.groups)
      sum += group ? group->receiver.bytes() : 0;
  return sum;
}

} // namespace colldsl::datagram
