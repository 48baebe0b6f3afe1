/// How long a packet takes there and back, and how long to wait for one that should be here.
#pragma once

#include "transports/datagram/DatagramOptions.h"
#include "transports/datagram/SocketCalls.h"

#include <algorithm>

namespace colldsl::datagram {

// Smoothed time and deviation, and their sum, as TCP has them (RFC 6298). As an answer may come
// late because its sender had other things to do, the time has bounds.
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

  /// Long before the first measurement: the distance of the peer is not known then.
  TimeNs timeout() const {
    return isKnown_ ? std::clamp(smoothed_ + 4 * deviation_, least_, most_) : most_;
  }
  /// A packet that was sent so shortly ago may be on the way.
  TimeNs guard() const { return smoothed_ / 2; }
  TimeNs roundTrip() const { return smoothed_; }
  bool isKnown() const { return isKnown_; }

private:
  TimeNs least_, most_;
  TimeNs smoothed_ = 0, deviation_ = 0;
  bool isKnown_ = false;
};

} // namespace colldsl::datagram
