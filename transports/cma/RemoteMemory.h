/// Cross memory attach: reading and writing another process's memory, one copy
/// (process_vm_readv, process_vm_writev, Linux).
#pragma once

#include "transports/Payload.h"

#include <sys/types.h>

namespace colldsl::cma {

enum class Outcome : uint8_t {
  Copied,
  Forbidden, ///< the kernel does not let us, or cannot; no later try will work
  ProcessGone,
  BadAddress, ///< the other side's memory is not at the address it sent
};

/// The bytes of a message in another process: if pieces == 1 at `address`, else in as many pieces,
/// whose list (iovec) lies at `address`.
struct RemotePayload {
  pid_t process = 0;
  uint64_t address = 0;
  uint32_t pieces = 0;
  uint64_t bytes = 0;
};

/// Reads the whole message into `to`, which has room for it. Any number of pieces
/// on either side.
Outcome read(const RemotePayload &from, const Payload &to);

/// Writes `to.bytes` bytes of `from`, which has as many. After another outcome than Copied a part
/// may be written.
Outcome write(const RemotePayload &to, const Payload &from);

/// Lets every process of this user reach this one's memory, if Yama restricts tracing to
/// descendants.
void allowPeers();

} // namespace colldsl::cma
