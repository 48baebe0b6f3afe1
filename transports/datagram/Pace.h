/// The round trip time of a packet, and the time to wait for one that should be here.
#pragma once

#include "transports/datagram/DatagramOptions.h"
#include "transports/datagram/SocketCalls.h"

#include <algorithm>

namespace colldsl::datagram {

/// The time after which a sender probes for data that no receiver is known to await, if it probes
/// after `timeout` for other data.
constexpr TimeNs lateTimeout(TimeNs timeout) { return 4 * timeout; }

// The smoothed time and deviation, and their sum, as in TCP (RFC 6298). The sum has bounds, because
// an answer may come late while its sender is busy.
class Pace {
public:
  explicit Pace(const Options &options)
      : least_(options.minTimeout.count()), most_(options.maxTimeout.count()) {}

  void note(TimeNs roundTrip) {
    roundTrip = std::clamp<TimeNs>(roundTrip, 0, most_);
    if (!isKnown_) {
      smoothed_ = roundTrip;
      deviation_ = roundTrip / 2;
      isKnown_ = true;
      return;
    }
    TimeNs off = roundTrip > smoothed_ ? roundTrip - smoothed_ : smoothed_ - roundTrip;
    deviation_ += (off - deviation_) / 4;
    smoothed_ += (roundTrip - smoothed_) / 8;
  }

  /// The time to wait. It is long before the first measurement, when the distance of the peer is
  /// unknown.
  TimeNs timeout() const {
    return isKnown_ ? std::clamp(smoothed_ + 4 * deviation_, least_, most_) : most_;
  }
  /// The time for which a packet that was sent may be on the way.
  TimeNs guard() const { return smoothed_ / 2; }
  TimeNs roundTrip() const { return smoothed_; }
  bool isKnown() const { return isKnown_; }

private:
  TimeNs least_, most_;
  TimeNs smoothed_ = 0, deviation_ = 0;
  bool isKnown_ = false;
};

} // namespace colldsl::datagram
