/// Frames that go to several peers at once, over transports that can multicast.
///
/// A group has a root, which sends, and members, which receive its frames once and in the order in
/// which they were sent. It can be used once it is ready: all members have joined. The loss of a
/// member is reported as that of any peer; one that has disconnected needs nothing any more.
///
/// Not thread safe. Errors: values.
#pragma once

#include "transports/network/ActiveMessages.h"

namespace colldsl::network {

/// Receives the frames of groups. May call everything of Multicast.
class MulticastHandler {
public:
  virtual ~MulticastHandler() = default;
  /// Receives a frame of a group whose root is this peer. It is valid during the call.
  virtual void onMulticast(Peer &root, std::span<const std::byte> frame) = 0;
  /// Sends bytes to a peer, once and in order, for its Multicast::onMessage(); at most as many
  /// bytes as a frame's body has.
  virtual void sendFor(Peer &to, std::span<const std::byte> bytes) = 0;
};

struct MulticastFlags {
  bool stays = false;     ///< the second part stays in place until all have it
  bool isAwaited = false; ///< a plan waits until all have it
};

class Multicast {
public:
  using Group = uint32_t;

  virtual ~Multicast() = default;

  /// Sets the handler, before all calls below. `handler` outlives this.
  virtual void setHandler(MulticastHandler &handler) = 0;

  /// The longest frame.
  virtual uint32_t frameBytes() const = 0;

  /// Makes a group of this rank and these members, none of them twice, and notifies the members.
  virtual Result<Group> found(std::span<Peer *const> members) = 0;
  virtual bool isReady(Group group) const = 0;

  /// True if the group takes a frame now. Only the network makes a root wait, never what members
  /// do.
  virtual bool hasRoom(Group group) const = 0;

  /// Sends a frame of two parts and returns its number; there is room. The first part is copied.
  virtual uint64_t send(Group group, std::span<const std::byte> head,
                        std::span<const std::byte> body, const MulticastFlags &flags) = 0;
  /// True if all members have this frame, and all before it.
  virtual bool isAcknowledged(Group group, uint64_t number) const = 0;
  /// Copies the parts that stay, because the caller wants its memory back.
  virtual void release(Group group) = 0;

  /// Takes a message of a peer's multicast to this rank.
  virtual void onMessage(Peer &from, std::span<const std::byte> bytes) = 0;

  /// True if all frames that were multicast were acknowledged.
  virtual bool isIdle() const = 0;
};

} // namespace colldsl::network
