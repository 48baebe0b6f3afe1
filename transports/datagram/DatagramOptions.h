/// Options of the transport over datagrams.
#pragma once

#include "transports/network/NetworkOptions.h"

namespace colldsl::datagram {

/// `silence`: a peer that sends nothing for so long in spite of probes is dead.
struct Options : network::Options {
  /// Messages that a schedule sends to several ranks at once travel by IP multicast, if the network
  /// has it.
  bool multicast = true;
  /// The longest datagram, header included; 0: the longest that its interface takes whole.
  uint32_t packetBytes = 0;
  /// Bytes that may be on the way to a peer; never more than kWindow packets.
  uint32_t flightBytes = 64 << 10;
  /// A receiver that misses a packet probes after the round trip time, as measured, and
  /// four times its deviation, in these bounds ...
  std::chrono::nanoseconds minTimeout = std::chrono::microseconds(200);
  std::chrono::nanoseconds maxTimeout = std::chrono::milliseconds(20);
  /// ... then after twice as long, and so on, up to this.
  std::chrono::nanoseconds longestPause = std::chrono::milliseconds(50);
};

} // namespace colldsl::datagram
