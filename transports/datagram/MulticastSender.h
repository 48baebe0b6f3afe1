/// The root's end of a group: the frames that it sent and that not all members have acknowledged,
/// and the parts that it has to send again. Knows no socket: the transport takes from it what to
/// send, and gives it what came.
///
/// A frame takes a channel, of which there are four sets: one is filled; of the one before,
/// acknowledgements are on their way up; they reach the root while the next one is filled, and are
/// overtaken by nothing that a member misses. So a set is free again before its turn comes, and
/// the root waits only for members that are behind by three sets.
///
/// Acknowledgements come up a tree, as numbers that only grow. A member that misses a part sends a
/// NACK to the root alone, which sends the part again: to one, or to all if several requested it. A
/// part that was sent again too often, so that loss alone cannot be the reason, ends multicast for
/// good: from then on the group forwards along a tree.
///
/// Not thread safe.
#pragma once

#include "transports/datagram/MulticastTree.h"
#include "transports/datagram/Pace.h"
#include "transports/datagram/Packet.h"
#include "transports/network/Multicast.h"

#include <array>
#include <memory>

namespace colldsl::datagram {

inline constexpr uint32_t kMulticastSets = 4;
inline constexpr uint32_t kChannelsPerSet = 4;
inline constexpr uint32_t kMulticastChannels = kMulticastSets * kChannelsPerSet;
/// The most parts of a frame: they are counted in 64 bits.
inline constexpr uint32_t kMaxCastParts = 64;
/// The first `parts` parts, as bits.
constexpr uint64_t maskOf(uint32_t parts) {
  return parts >= kMaxCastParts ? ~uint64_t{0} : (uint64_t{1} << parts) - 1;
}
/// The bytes of a message that a channel holds, and those of the head in front of it.
inline constexpr uint32_t kMulticastBodyBytes = 16 << 10;
inline constexpr uint32_t kMulticastHeadBytes = 64;

/// The longest frame in parts of so many bytes.
constexpr uint32_t multicastFrameBytes(uint32_t partBytes) {
  uint32_t most = kMaxCastParts * partBytes;
  return most < kMulticastBodyBytes + kMulticastHeadBytes
             ? most
             : kMulticastBodyBytes + kMulticastHeadBytes;
}

/// A frame on its way to the members.
struct MulticastChannel {
  uint64_t number = 0;
  std::array<std::byte, kMulticastHeadBytes> head;
  uint32_t headBytes = 0;
  std::span<const std::byte> body; ///< `own`, or the caller's
  std::vector<std::byte> own;
  bool wantsAck = false;
  TimeNs sentAt = 0;        ///< to all, the last time
  uint64_t wanted = 0;      ///< parts that members have requested since
  uint32_t requesters = 0;  ///< number of members that requested them
  uint32_t requester = 0;   ///< the place of one of them
  uint32_t timesResent = 0; ///< resends of its parts to all

  uint32_t bytes() const { return headBytes + static_cast<uint32_t>(body.size()); }
};

class MulticastSender {
public:
  /// `isGone`: returns true if the member at a place has left.
  MulticastSender(uint32_t places, uint32_t partBytes, std::function<bool(uint32_t)> isGone)
      : tree_(places, std::move(isGone)), partBytes_(partBytes), missedRows_(places),
        channels_(kMulticastChannels) {}

  /// True if all members have acknowledged that they receive the group's packets.
  bool isReady() const { return acked() >= 1; }
  bool hasMoved() const { return hasMoved_; }
  const MulticastTree &tree() const { return tree_; }
  uint32_t partBytes() const { return partBytes_; }

  // Sending.

  bool hasRoom();
  MulticastChannel &append(std::span<const std::byte> head, std::span<const std::byte> body,
                           const network::MulticastFlags &flags);
  uint32_t numParts(const MulticastChannel &channel) const {
    return (channel.bytes() + partBytes_ - 1) / partBytes_;
  }
  /// Part of a frame, in up to two pieces. Returns their number.
  uint32_t pieces(const MulticastChannel &channel, uint32_t part,
                  std::array<iovec, 2> &found) const;
  uint64_t next() const { return next_; }
  /// All members have every frame before this number.
  uint64_t acked() const { return std::min(tree_.ackedBelow(0), next_); }
  bool isIdle() const { return acked() == next_; }
  /// True if all members have this frame. Then nothing of it is kept.
  bool isAcknowledged(uint64_t number) {
    reclaim();
    return base_ > number;
  }
  /// The channel of a frame that not all have acknowledged.
  MulticastChannel &channel(uint64_t number) { return channels_[number % kMulticastChannels]; }
  uint64_t oldest() const { return base_; }
  void release();

  // Receiving. False: the packet is impossible, and nothing was changed.

  bool takeAck(uint32_t place, uint64_t number);
  /// True if a member acknowledged or requested anything new since the last call.
  bool hasProgress() { return std::exchange(hasProgress_, false); }
  /// Takes a gap of a member. Ignores a gap in a frame that was sent less than `guard` ago: its
  /// parts may be on their way.
  bool takeNack(uint32_t place, const MulticastGap &gap, TimeNs now, TimeNs guard);
  /// A channel of which parts are to be sent again; null: none. Counts the resend.
  MulticastChannel *takeWanted();

  // Probing: while not all members have acknowledged everything, and while not all have joined.

  bool isWaiting() const { return !isReady() || !isIdle(); }
  TimeNs probeAt() const { return probeAt_; }
  void noteSent(TimeNs now, TimeNs timeout);
  /// Notes a probe. Returns the number of probes in vain before it.
  uint32_t noteProbe(TimeNs now, TimeNs longestPause);

  void move() { hasMoved_ = true; }

  /// Bytes of memory for frames.
  uint64_t bytes() const;

private:
  /// The frames in a row of which a member missed every part.
  struct MissedRow {
    uint64_t number = 0;
    uint32_t row = 0;
  };
  bool isFull() const;
  bool isAwaited() const { return awaited_ >= acked() || isFull(); }
  void reclaim();

  MulticastTree tree_;
  uint32_t partBytes_;
  std::vector<MissedRow> missedRows_; ///< by place
  std::vector<MulticastChannel> channels_;
  uint64_t next_ = 1, base_ = 1;     ///< numbers; those between are kept
  uint64_t awaited_ = 0;             ///< the last number that a plan waits for
  uint64_t wantedFrom_ = UINT64_MAX; ///< no older one is wanted
  uint64_t flightBytes_ = 0;
  uint32_t bytesSinceAck_ = 0; ///< since one was wanted
  TimeNs pause_ = 0, probeAt_ = 0;
  uint32_t probes_ = 0;
  bool hasProgress_ = false;
  bool hasMoved_ = false;
};

} // namespace colldsl::datagram
