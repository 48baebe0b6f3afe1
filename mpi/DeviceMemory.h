/// Memory that the driver of an accelerator manages: the CPU may be unable to read and write it.
/// Knows no MPI.
#pragma once

#include <atomic>
#include <cstdint>

namespace colldsl::mpi {

enum class MemoryKind : uint8_t {
  Host,    ///< of the process, page-locked or not
  Managed, ///< moves between the CPU and the device, as either uses it
  Device
};

/// The drivers of CUDA and HIP, as far as this process has loaded them. Any thread.
class Accelerators {
public:
  /// Whether a driver was there at the last look.
  static bool arePresent() { return arePresent_.load(std::memory_order_relaxed); }

  /// Looks for drivers among the libraries of the process; loads none. If no library was loaded
  /// since the last look this takes some ten nanoseconds. Whether there is one: for ever, then.
  static bool look();

  /// What the drivers that look() found report of this address, in less than a microsecond. No
  /// driver, or one that is not initialized, or an address that no driver knows: Host.
  static MemoryKind kindOf(const void *address);

private:
  static inline constinit std::atomic<bool> arePresent_{false};
};

} // namespace colldsl::mpi
