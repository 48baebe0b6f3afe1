/// Memory that messages name from run to run, as the transport knows it. It belongs to the owner
/// of the requests.
#pragma once

#include "transports/network/ActiveMessages.h"

namespace colldsl::network {

struct RegisteredMemory {
  static constexpr uint32_t kNoRtr = 0xffffffffu;

  Region region;
  iovec of = {};
  Access access = Access::Send;
  uint32_t rtr = kNoRtr;    ///< its place in the worker's RtrTable
  bool isStatic = false;    ///< the buffer stays the same: it is registered once
  bool mayStay = false;     ///< static: its RTR may be for all runs
  bool isAnnounced = false; ///< mayStay: other messages tell the sender of each run
  bool hasCanary = false;   ///< mayStay: the schedule has one
  bool stays = false;       ///< the RTR is for all runs
  bool mayBePut = false;    ///< received: a peer may put in this run
  /// Received: a message found its receive posted, and was long. Sent: the receiver has sent an
  /// early RTR before.
  bool usesEarlyRtr = false;
};

/// An allocation of device memory that the transport knows. The plans that have messages there
/// share it.
struct DeviceRegistration {
  Region region; ///< empty: nothing is read or written there any more
  iovec of = {};
  uint64_t id = 0; ///< DeviceMemory::id
};

/// The memory of a payload that reads and writes name.
struct RmaMemory {
  const iovec *pieces;
  const Region &region;
  void *begin; ///< of the registered memory
};
/// Device memory if the payload has some, else its own pieces.
RmaMemory rmaMemoryOf(const RequestPayload &payload);

/// Deregisters the memory of a payload, so that nothing is read or written there any more; device
/// memory for all plans that have messages there.
void revoke(const RequestPayload &payload);

/// Registers the memory of a payload with the transport. Mostly does nothing, because the next run
/// has the same buffer, or the payload has device memory. False: the memory could not be
/// registered, or the payload has no RegisteredMemory.
bool registerMemory(Transport &transport, const RequestPayload &payload, Access access);

/// True if the transport knows the payload's memory as it is now.
bool isRegistered(const RequestPayload &payload, Access access);

/// This end of a read or a write of a payload. `bytes`: at most those of the payload.
RmaSpec makeRmaSpec(const RequestPayload &payload, uint64_t bytes);

} // namespace colldsl::network
