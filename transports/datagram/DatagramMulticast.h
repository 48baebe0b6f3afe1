/// Groups over IP multicast: their sockets, packets and timers. A rank that sends to groups has
/// one address of multicast for all of them, and each member one socket for it. Internal to
/// DatagramTransport.
///
/// The root sends a join request to each member. A member joins, and acknowledges up the tree once
/// it has received from the root there; one that cannot join refuses, and the group is never ready.
/// Lost parts are sent again by multicast or to one member, and, once a group has moved, along the
/// tree, from member to member, over the flows between them.
#pragma once

#include "transports/datagram/Flow.h"
#include "transports/datagram/MulticastMessages.h"
#include "transports/datagram/MulticastReceiver.h"

#include <unordered_map>

namespace colldsl::datagram {

class DatagramTransport;

/// Counters of groups, since the start.
struct MulticastCounts {
  uint64_t packets = 0;   ///< sent to all, for the first time
  uint64_t resent = 0;    ///< sent again, to all or to one
  uint64_t forwarded = 0; ///< parts that went along the tree
  uint64_t acks = 0;      ///< sent
  uint64_t nacks = 0;     ///< sent
  uint64_t probes = 0;    ///< sent to all
  uint64_t refused = 0;   ///< came from a stranger, or broken
};

class DatagramMulticast : public network::Multicast {
public:
  /// A group of which this rank is a member.
  struct ReceiveGroup {
    ReceiveGroup(Group number, Flow &root, std::vector<Rank> ranks, uint32_t place,
                 uint32_t partBytes, const DatagramMulticast &multicast);
    Group number;
    Flow &root;
    std::vector<Rank> ranks; ///< by place
    MulticastReceiver receiver;
    bool isTouched = false;
  };
  /// The groups of one root of which this rank is a member.
  struct Listener {
    int file = -1;
    uint64_t token = 0;
    Flow *root = nullptr;
    std::vector<std::unique_ptr<ReceiveGroup>> groups;
  };

  explicit DatagramMulticast(DatagramTransport &transport);
  ~DatagramMulticast() override;

  void setHandler(network::MulticastHandler &handler) override { handler_ = &handler; }
  uint32_t frameBytes() const override { return multicastFrameBytes(partBytes_); }
  Result<Group> found(std::span<network::Peer *const> members) override;
  bool isReady(Group group) const override;
  bool hasRoom(Group group) const override;
  uint64_t send(Group group, std::span<const std::byte> head, std::span<const std::byte> body,
                const network::MulticastFlags &flags) override;
  bool isAcknowledged(Group group, uint64_t number) const override;
  void release(Group group) override;
  void onMessage(network::Peer &from, std::span<const std::byte> bytes) override;
  bool isIdle() const override;

  /// `maxSentBytes`: the longest frame that the handler can send.
  void start(uint32_t maxSentBytes);
  const std::vector<Listener> &listeners() const { return listeners_; }
  /// Takes a datagram that came to a listener.
  void takeMulticast(const Listener &listener, std::span<const std::byte> datagram);
  /// Takes a packet of a group that came to this rank alone.
  void take(Flow &from, PacketKind kind, std::span<const std::byte> body);
  /// Sends the acknowledgements and NACKs that are due, after all packets that came at once.
  void sendOwed();
  /// Sends the root of groups a NACK of their missing parts, as nothing comes.
  void sendNacks(Flow &root);
  /// Probes the groups whose time has come. Returns the time of the next probe.
  TimeNs sendProbes();
  /// Begins the waits of groups, after the clock was read.
  void beginWaits();
  /// A file that is readable when something came to any socket; `other` is one of them.
  int waitFile(int other);
  void stop();

  const MulticastCounts &counts() const { return counts_; }
  uint64_t bytes() const;

private:
  static constexpr uint32_t kMaxGroups = 16;    ///< of one root
  static constexpr uint32_t kMaxListeners = 16; ///< roots
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  /// A group of which this rank is the root.
  struct SendGroup {
    SendGroup(Group number, std::vector<Rank> ranks, uint32_t partBytes,
              const DatagramMulticast &multicast);
    Group number;
    std::vector<Rank> ranks; ///< by place; this one first
    MulticastSender sender;
    bool isOff = false;        ///< a member cannot join
    bool isExpecting = false;  ///< an answer of all members is expected
    bool isUntimed = false;    ///< its wait begins when the clock is read
    bool isForwarding = false; ///< it has moved, and so have the frames that were on their way
  };
  struct Batch;

  std::function<bool(uint32_t)> goneAt(const std::vector<Rank> &ranks) const;
  Flow *flowTo(Rank rank);
  static uint32_t placeOf(const std::vector<Rank> &ranks, Rank rank);
  void sendOne(Flow &to, PacketKind kind, const MulticastHeader &header,
               std::span<const iovec> rest = {});
  void sendBelow(const MulticastTree &tree, uint32_t place, const std::vector<Rank> &ranks,
                 std::span<const std::byte> bytes);

  // Making groups. False, here and below: the packet or message is impossible.
  Status openPlace();
  void requestJoin(SendGroup &group);
  bool takeJoinRequest(Flow &from, std::span<const std::byte> bytes);
  bool takeJoinRefusal(Flow &from, std::span<const std::byte> bytes);
  Status join(Flow &root, const JoinRequest &request, std::vector<Rank> ranks);
  Result<Listener *> listenTo(Flow &root, const JoinRequest &request);
  void addToWait(int file);

  // The root.
  SendGroup *findSendGroup(const MulticastHeader &header);
  TimeNs timeoutOf(const SendGroup &group);
  MulticastHeader headerOf(const SendGroup &group, const MulticastChannel &channel,
                           uint32_t part) const;
  PacketHeader multicastHeader(PacketKind kind) const;
  uint32_t sendParts(SendGroup &group, MulticastChannel &channel, uint64_t parts, uint32_t place);
  void send(Batch &batch);
  void resend(SendGroup &group);
  void forwardAll(SendGroup &group);
  void forwardChannel(SendGroup &group, MulticastChannel &channel);
  void noteSent(SendGroup &group);
  void noteProgress(SendGroup &group);
  void probe(SendGroup &group);
  void setExpecting(SendGroup &group, bool isExpecting);
  bool takeAckAtRoot(SendGroup &group, Flow &from, const MulticastHeader &header);
  bool takeNack(Flow &from, const MulticastHeader &header, std::span<const std::byte> rest);

  // Members.
  ReceiveGroup *find(Rank root, Group number);
  bool isListenedTo(Rank root) const;
  bool takeFromRoot(Flow &root, PacketKind kind, const MulticastHeader &header,
                    std::span<const std::byte> rest);
  bool takeForward(Flow &from, std::span<const std::byte> bytes);
  bool takeAck(Flow &from, const MulticastHeader &header);
  void deliver(ReceiveGroup &group);
  void touch(ReceiveGroup &group);
  void sendNack(ReceiveGroup &group);
  void acknowledge(ReceiveGroup &group);

  DatagramTransport &transport_;
  network::MulticastHandler *handler_ = nullptr;
  uint32_t partBytes_ = 0;
  uint32_t maxSentBytes_ = 0;
  uint64_t token_ = 0;       ///< of this rank's groups
  sockaddr_in address_ = {}; ///< of the same; no port: there is none yet
  std::vector<std::unique_ptr<SendGroup>> sendGroups_;
  std::vector<Listener> listeners_;
  std::vector<ReceiveGroup *> touched_; ///< something came
  int waitFile_ = -1;
  MulticastCounts counts_;
};

} // namespace colldsl::datagram
