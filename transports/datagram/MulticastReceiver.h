/// A member's end of a group: the frames that came, and the parts that are missing. Knows no
/// socket.
///
/// Not thread safe.
#pragma once

#include "transports/datagram/MulticastSender.h"

namespace colldsl::datagram {

class MulticastReceiver {
public:
  /// `place`: of this rank. `isGone`: returns true if the member at a place has left.
  MulticastReceiver(uint32_t places, uint32_t place, uint32_t partBytes,
                    std::function<bool(uint32_t)> isGone)
      : tree_(places, std::move(isGone)), place_(place), partBytes_(partBytes),
        slots_(kMulticastChannels) {}

  const MulticastTree &tree() const { return tree_; }
  uint32_t place() const { return place_; }

  /// Takes part of a frame. False: the header is impossible, and nothing was changed.
  bool take(const MulticastHeader &header, std::span<const std::byte> part);
  /// The next frame, if all of it is here. Valid until dropFront().
  std::span<const std::byte> front() const;
  void dropFront();

  /// Takes the root's notification that it has sent everything before this number, and requests
  /// acknowledgements. False: the number is impossible.
  bool takeProbe(uint64_t next);
  /// True if something came after a missing part.
  bool hasGap() const { return next_ < newest_ || missingOfNewest() != 0; }
  /// Finds the missing parts, as far as is known, or, if none is, the next frame. Returns the
  /// number of gaps.
  uint32_t gaps(std::span<MulticastGap> found) const;
  /// True: a gap is to be reported now, once in half a round trip. Notes the report.
  bool mayNack(TimeNs now, TimeNs guard);

  /// True if anything came from the root.
  bool isListening() const { return wanted_ != 0; }

  // Acknowledgements.

  bool takeAck(uint32_t from, uint64_t number);
  /// The number before which this rank and all below it have every frame.
  uint64_t acked() const { return std::min(next_, tree_.ackedBelow(place_)); }
  /// True if an acknowledgement that the root requested is due.
  bool owesAck() const;
  void noteAck() {
    reported_ = acked();
    isProbed_ = false;
  }

  /// Bytes of memory for frames.
  uint64_t bytes() const;

private:
  struct Slot {
    uint32_t bytes = 0;
    uint64_t parts = 0; ///< bit i: this one is here
    std::vector<std::byte> memory;
  };
  uint32_t partsOf(uint32_t bytes) const { return (bytes + partBytes_ - 1) / partBytes_; }
  bool isWhole(const Slot &slot) const;
  uint64_t missingOf(uint64_t number) const;
  uint64_t missingOfNewest() const;

  MulticastTree tree_;
  uint32_t place_;
  uint32_t partBytes_;
  std::vector<Slot> slots_;  ///< by number modulo their count
  uint64_t next_ = 1;        ///< frame
  uint64_t newest_ = 1;      ///< the newest that the root is known to have sent a part of
  uint32_t newestParts_ = 0; ///< number of its parts that are known to be sent
  uint64_t wanted_ = 0;      ///< acknowledgement of all before
  uint64_t reported_ = 0;
  bool isProbed_ = false; ///< an acknowledgement is due at once
  TimeNs nackedAt_ = 0;
};

} // namespace colldsl::datagram
