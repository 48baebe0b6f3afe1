/// Memory that the driver of an accelerator manages: the CPU may be unable to read and write it.
/// This header includes no MPI.
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
  /// True if the last look() found a driver. Relaxed: a thread that relies on the answer looks.
  static bool arePresent() { return arePresent_.load(std::memory_order_relaxed); }

  /// Looks for drivers among the libraries of the process; loads none. Takes some ten nanoseconds
  /// if no library was loaded since the last look. Returns true if there is a driver; then it stays
  /// true.
  static bool look();

  /// True if look() found CUDA's.
  static bool hasCuda();

  /// Asks the drivers that look() found about this address, in less than a microsecond. Host if
  /// there is no driver, if the driver is not initialized, or if no driver knows the address.
  static MemoryKind kindOf(const void *address);

private:
  static inline constinit std::atomic<bool> arePresent_{false};
};

} // namespace colldsl::mpi
