/// The lengths that decide in which way messages between two ranks travel. Bytes.
#pragma once

#include <cstdint>

namespace colldsl::protocol {

/// The limits that are measured between ranks of a machine: see CopyCosts.h.
struct CopyLimits {
  uint64_t singleCopyMinBytes;
  uint32_t rendezvousThresholdBytes; ///< the longest message that is eager unless ranks exchange
};

struct Limits {
  /// Longer messages begin with a request to send. Those up to the wire's longest eager message do
  /// so only if the receiver posts in time, or gets the payload by a single copy. Where ranks
  /// exchange, shorter ones do so, too, if a single copy is worth its call.
  uint32_t rendezvousThresholdBytes = 32 << 10;
  /// The most bytes of one fragment of a payload.
  uint32_t fragmentBytes = 8 << 10;
  /// From here on one end reads or writes the other's memory, unless both share it: see
  /// CopyCosts.h.
  uint64_t singleCopyMinBytes = 16 << 10;
  /// From here on both ends copy, if each has a core of its own: see CooperativeCopy.h.
  uint64_t cooperativeMinBytes = 64 << 10;
  /// As cooperativeMinBytes, for a message that the receiver combines as it arrives: bytes that the
  /// sender puts are fetched from the sender's cache once more.
  uint64_t cooperativeCombineMinBytes = 512 << 10;
  /// With so many bytes in its unexpected queue the receiver throttles the sender.
  uint64_t unexpectedBytes = 256 << 10;

  /// True if both ends are to copy a message. `senderKiB`: all that its sender copies for its
  /// operation. A sender that copies other bytes, too, joins late.
  bool isWorthCooperation(uint64_t bytes, uint32_t senderKiB, bool isCombined) const {
    bool copiesMore = uint64_t{senderKiB} << 10 > bytes;
    return bytes >= (copiesMore ? 4 : 1) * cooperativeMinBytes &&
           (!isCombined || bytes >= cooperativeCombineMinBytes);
  }

  /// True if a single copy is worth its system call, for bytes in so many pieces in the other
  /// process. Each piece but the first takes nearly half as long as the call.
  bool isWorthSingleCopy(uint64_t bytes, uint32_t pieces) const {
    return 2 * bytes >= singleCopyMinBytes * (uint64_t{pieces} + 1);
  }
};

} // namespace colldsl::protocol
