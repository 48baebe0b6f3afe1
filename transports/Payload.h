/// The bytes of a message as a wire moves them.
///
/// Ownership: a payload's pieces and the bytes that they name belong to the caller and stay as they
/// are until the message is done. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/uio.h>

namespace colldsl {

namespace network {
struct DeviceMemory;
struct DeviceRegistration;
struct RegisteredMemory;
} // namespace network
namespace shm {
struct StaticEnd;
}

/// The bytes of one message at one of its ends: `count` pieces, `bytes` in total.
struct Payload {
  const iovec *pieces = nullptr;
  uint32_t count = 0;
  bool always = false; ///< travels even without bytes; alike on both ends
  bool upTo = false;   ///< receive: a shorter message is no error
  uint64_t bytes = 0;
};

/// The pieces of a payload a second time, in device memory that the network has registered. The
/// network alone touches them, by reads and writes; bytes that the processor copies are in the
/// payload's own pieces. Belongs to the caller, and stays until the message is done.
struct DevicePayload {
  const iovec *pieces = nullptr; ///< at addresses of the device; as many and as long as the others
  network::DeviceRegistration *registration = nullptr; ///< of all of them
  bool isUsed = false; ///< a receive that is done: the bytes are here; else in the other pieces
};

/// A payload as wires see it.
struct RequestPayload : Payload {
  RequestPayload() = default;
  RequestPayload(const Payload &payload) : Payload(payload) {}
  /// Takes the pieces and keeps the rest.
  RequestPayload &operator=(const Payload &payload) {
    static_cast<Payload &>(*this) = payload;
    return *this;
  }

  /// The network's registration of the pieces, kept from run to run; null: the payload has none.
  network::RegisteredMemory *registered = nullptr;
  /// The bytes are in device memory, too; null: they are not.
  DevicePayload *device = nullptr;
  /// This end of a static message between ranks of a machine; null: the message is not static.
  shm::StaticEnd *fixed = nullptr;
};

/// Called once a read or a write has brought all bytes of a payload.
inline void noteWritten(const RequestPayload &payload) {
  if (payload.device)
    payload.device->isUsed = true;
}

/// The result of a get that a wire begins.
enum class GetResult : uint8_t {
  Done,
  Started, ///< the wire reports when it is done
  Refused, ///< the memory cannot be read
};

/// Combines the bytes that a receive gets with those in its buffer, as they arrive. The caller that
/// posts the receive owns the target, which stays in place until the receive is done.
class CombiningTarget {
public:
  virtual ~CombiningTarget() = default;

  /// Combines bytes of the message from `offset` on: whole elements, in ascending order, without
  /// gaps. The thread that moves messages calls it, any one of this rank. It waits for nothing.
  virtual void combine(uint64_t offset, const std::byte *from, uint64_t bytes) = 0;

  uint64_t elementBytes = 1;
  /// Room for the whole message, which the transport may store there before it is combined; null:
  /// there is none.
  std::byte *room = nullptr;
  uint64_t combinedBytes = 0; ///< by the transport; not 0 once it is done: nothing was stored
};

} // namespace colldsl
