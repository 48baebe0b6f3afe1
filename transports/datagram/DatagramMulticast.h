/// Groups over IP multicast: their sockets, packets and timers. A rank that speaks to groups has
/// one address of multicast for all of them, and each rank that hears it one socket. Internal to
/// DatagramCarrier.
///
/// A group is made by an invitation to each member, which joins and answers up the tree once it has
/// heard the root there; one that cannot join declines, and the group is never ready. What was said
/// and not heard goes again by multicast or to one member, and, once a group has moved, along the
/// tree, from member to member, over the flows between them.
#pragma once

#include "transports/datagram/Flow.h"
#include "transports/datagram/MulticastMessages.h"
#include "transports/datagram/MulticastReceiver.h"

#include <unordered_map>

namespace colldsl::datagram {

class DatagramCarrier;

/// Of groups, what happened, ever.
struct MulticastCounts {
  uint64_t packets = 0;   ///< sent to all, for the first time
  uint64_t again = 0;     ///< sent again, to all or to one
  uint64_t forwarded = 0; ///< parts that went along the tree
  uint64_t acks = 0;      ///< sent
  uint64_t nacks = 0;     ///< sent
  uint64_t asked = 0;     ///< sent to all
  uint64_t refused = 0;   ///< came from a stranger, or broken
};

class DatagramMulticast : public network::Multicast {
public:
  /// A group that this rank hears.
  struct Heard {
    Heard(Group number, Flow &root, std::vector<Rank> ranks, uint32_t place, uint32_t partBytes,
          const DatagramMulticast &multicast);
    Group number;
    Flow &root;
    std::vector<Rank> ranks; ///< by place
    MulticastReceiver receiver;
    bool isTouched = false;
  };
  /// What this rank hears of one root.
  struct Listener {
    int file = -1;
    uint64_t token = 0;
    Flow *root = nullptr;
    std::vector<std::unique_ptr<Heard>> groups;
  };

  explicit DatagramMulticast(DatagramCarrier &carrier);
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

  /// Frames of at most so many bytes can be said for us.
  void start(uint32_t mostSaidBytes);
  const std::vector<Listener> &listeners() const { return listeners_; }
  /// What came to one.
  void takeMulticast(const Listener &listener, std::span<const std::byte> datagram);
  /// A packet of a group that came to this rank alone.
  void take(Flow &from, PacketKind kind, std::span<const std::byte> body);
  /// After all that came at once: says what is owed.
  void sayOwed();
  /// Tells the root of groups what is missing of them, as nothing comes.
  void complainTo(Flow &root);
  /// Asks whose turn it is. When to do so again.
  TimeNs askAround();
  /// The clock was read.
  void beginWaits();
  /// Readable: something came to any socket; `other` is one of them.
  int waitFile(int other);
  void stop();

  const MulticastCounts &counts() const { return counts_; }
  uint64_t bytes() const;

private:
  static constexpr uint32_t kMaxGroups = 16;    ///< of one root
  static constexpr uint32_t kMaxListeners = 16; ///< roots
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  /// A group that this rank speaks to.
  struct Spoken {
    Spoken(Group number, std::vector<Rank> ranks, uint32_t partBytes,
           const DatagramMulticast &multicast);
    Group number;
    std::vector<Rank> ranks; ///< by place; this one first
    MulticastSender sender;
    bool isOff = false;        ///< somebody cannot join
    bool isWorried = false;    ///< all are expected to say something
    bool isUntimed = false;    ///< its wait begins when the clock is read
    bool isForwarding = false; ///< it has moved, and so has what was on its way
  };
  struct Batch;

  std::function<bool(uint32_t)> goneAt(const std::vector<Rank> &ranks) const;
  Flow *flowTo(Rank rank);
  static uint32_t placeOf(const std::vector<Rank> &ranks, Rank rank);
  void say(Flow &to, PacketKind kind, const MulticastHeader &header,
           std::span<const iovec> rest = {});
  void sayBelow(const MulticastTree &tree, uint32_t place, const std::vector<Rank> &ranks,
                std::span<const std::byte> bytes);

  // Making groups. False, here and below: it cannot be true.
  Status openPlace();
  void requestJoin(Spoken &group);
  bool takeJoinRequest(Flow &from, std::span<const std::byte> bytes);
  bool takeJoinRefusal(Flow &from, std::span<const std::byte> bytes);
  Status join(Flow &root, const JoinRequest &request, std::vector<Rank> ranks);
  Result<Listener *> listenTo(Flow &root, const JoinRequest &request);
  void addToWait(int file);

  // The root.
  Spoken *findSpoken(const MulticastHeader &header);
  TimeNs patienceWith(const Spoken &group);
  MulticastHeader headerOf(const Spoken &group, const MulticastChannel &channel,
                           uint32_t part) const;
  PacketHeader multicastHeader(PacketKind kind) const;
  uint32_t sayParts(Spoken &group, MulticastChannel &channel, uint64_t parts, uint32_t place);
  void send(Batch &batch);
  void sayAgain(Spoken &group);
  void forwardAll(Spoken &group);
  void forwardChannel(Spoken &group, MulticastChannel &channel);
  void noteSaid(Spoken &group);
  void noteNews(Spoken &group);
  void ask(Spoken &group);
  void worry(Spoken &group, bool isWorried);
  bool takeAckAtRoot(Spoken &group, Flow &from, const MulticastHeader &header);
  bool takeNack(Flow &from, const MulticastHeader &header, std::span<const std::byte> rest);

  // Members.
  Heard *find(Rank root, Group number);
  bool isListenedTo(Rank root) const;
  bool takeFromRoot(Flow &root, PacketKind kind, const MulticastHeader &header,
                    std::span<const std::byte> rest);
  bool takeForward(Flow &from, std::span<const std::byte> bytes);
  bool takeAck(Flow &from, const MulticastHeader &header);
  void deliver(Heard &group);
  void touch(Heard &group);
  void complain(Heard &group);
  void acknowledge(Heard &group);

  DatagramCarrier &carrier_;
  network::MulticastHandler *handler_ = nullptr;
  uint32_t partBytes_ = 0;
  uint32_t mostSaidBytes_ = 0;
  uint64_t token_ = 0;       ///< of this rank's groups
  sockaddr_in address_ = {}; ///< of the same; no port: there is none yet
  std::vector<std::unique_ptr<Spoken>> spoken_;
  std::vector<Listener> listeners_;
  std::vector<Heard *> touched_; ///< something came
  int waitFile_ = -1;
  MulticastCounts counts_;
};

} // namespace colldsl::datagram
