/// The way in which a message is to travel: passes choose it, for the transport that moves the
/// message. It changes neither the bytes nor their order; a transport that lacks it takes its own
/// way.
#pragma once

#include "ir/Vocabulary.h"

#include <optional>

namespace colldsl {

struct Transfer {
  Protocol protocol = Protocol::Any;
  Mover mover = Mover::Either;
  bool canary = false;    ///< Static: the last bytes of the payload tell that it is complete
  bool announced = false; ///< Static: other ops tell the sender that the receiver is ready
  bool streamed = false;  ///< receives: the one op that reads the payload may do so as it arrives
  /// The messages of one rank that have the same id go to all their receivers at once.
  bool multicast = false;

  bool operator==(const Transfer &) const = default;

  /// True if both ends of a message agree; `streamed` concerns the receiver alone.
  bool agrees(const Transfer &other) const {
    return protocol == other.protocol && mover == other.mover && canary == other.canary &&
           announced == other.announced && multicast == other.multicast;
  }

  /// In one byte; 0 is the default.
  uint8_t packed() const {
    return static_cast<uint8_t>(static_cast<unsigned>(protocol) |
                                static_cast<unsigned>(mover) << 2 | unsigned{canary} << 4 |
                                unsigned{announced} << 5 | unsigned{streamed} << 6 |
                                unsigned{multicast} << 7);
  }
  /// Nothing: no transfer has this byte.
  static std::optional<Transfer> unpack(uint8_t byte) {
    if ((byte >> 2 & 3) >= kMovers)
      return std::nullopt;
    return Transfer{static_cast<Protocol>(byte & 3),
                    static_cast<Mover>(byte >> 2 & 3),
                    (byte >> 4 & 1) != 0,
                    (byte >> 5 & 1) != 0,
                    (byte >> 6 & 1) != 0,
                    (byte >> 7 & 1) != 0};
  }

  /// The rule that this transfer breaks on an op of this kind, in words; null: it breaks none.
  const char *wrongOn(OpKind kind) const {
    if (*this == Transfer())
      return nullptr;
    if (kind != OpKind::Send && kind != OpKind::Recv)
      return "only sends and receives have a way to travel";
    if ((canary || announced) && protocol != Protocol::Static)
      return "only static messages have a canary, or are announced";
    if (streamed && kind != OpKind::Recv)
      return "only receives are streamed";
    return nullptr;
  }
};

} // namespace colldsl
