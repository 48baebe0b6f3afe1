/// Cross memory attach: reading another process's memory, one copy
/// (process_vm_readv, Linux).
#pragma once

#include "transports/Transport.h"

#include <sys/types.h>

namespace colldsl::cma {

enum class ReadOutcome : uint8_t {
  Read,
  Forbidden, ///< the kernel does not let us, or cannot; no later try will work
  ProcessGone,
  BadAddress, ///< the other side's memory is not what it said
};

/// Where the bytes of a message lie in another process: if pieces == 1 at
/// `address`, else in as many pieces, whose list (iovec) lies at `address`.
struct RemotePayload {
  pid_t process = 0;
  uint64_t address = 0;
  uint32_t pieces = 0;
  uint64_t bytes = 0;
};

/// Reads the whole message into `to`, which has room for it. Any number of pieces
/// on either side.
ReadOutcome read(const RemotePayload &from, const Payload &to);

/// Where Yama restricts tracing to descendants: lets every process of this user
/// read this one's memory.
void allowReaders();

} // namespace colldsl::cma
