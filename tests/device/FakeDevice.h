/// A device for tests, behind the table of CUDA's driver: its memory is memory of the host.
///
/// Copies are asynchronous. Nothing runs until an event is queried: then the device makes a seeded
/// number of steps, each on the oldest piece of work of a seeded stream. Until a copy has run, its
/// target holds bytes of no meaning, so that a reader that does not wait for the event is found.
#pragma once

#include "device/CudaDriver.h"

#include <cstdint>
#include <string>

namespace colldsl::test {

/// Faults and order of the device; all counts begin at 1, and 0 means never.
struct FakeDeviceOptions {
  uint64_t seed = 1;
  uint64_t failCopyAt = 0;   ///< this call of a copy returns an error
  uint64_t failStreamAt = 0; ///< this copy fails as it runs, and its stream with it
  uint64_t stallAt = 0;      ///< this copy never ends, nor does its stream
};

/// The one device of this process. Thread safe.
class FakeDevice {
public:
  /// Forgets all streams, events and memory, and begins anew.
  static void reset(const FakeDeviceOptions &options);

  /// Every function is there.
  static const device::CudaDriver &driver();

  /// Memory of the device, of its `context`-th context. It stays until reset().
  static void *allocate(uint64_t bytes, uint32_t context = 0);

  /// Empty, or a misuse of the driver by the program: a copy that touches memory that is neither
  /// of the device nor page-locked, a call without a current context.
  static std::string misuse();

  /// Copies that have been begun.
  static uint64_t copies();
  /// Bytes that were copied to the host, to the device, and within the device.
  static uint64_t bytesToHost();
  static uint64_t bytesToDevice();
  static uint64_t bytesWithin();
  /// Streams, events and page-locked ranges that were made and are still there.
  static uint64_t left();
};

} // namespace colldsl::test
