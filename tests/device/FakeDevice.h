/// A device for tests, behind the table of CUDA's driver: its memory is memory of the host, which
/// other processes can open.
///
/// Its work is asynchronous. Nothing runs until an event is queried: then the device makes a seeded
/// number of steps, each on the oldest piece of work of a seeded stream. Until a copy has run, its
/// target holds bytes of no meaning, unless older work reads them, so that a reader that does not
/// wait for the event is found. Sources are read when the copy runs. Kernels behave as copies do,
/// and the interpreter runs them.
///
/// A dma-buf is the file of its memory, whose position is where the exported range begins.
///
/// A child of fork() has a device of its own without memory, streams and events, with the options
/// of its parent.
#pragma once

#include "device/CudaDriver.h"
#include "tests/device/FakeMemory.h"

#include <cstdint>
#include <functional>
#include <string>

namespace colldsl::test {

inline constexpr device::CuResult kCudaOutOfMemory = 2;
inline constexpr device::CuResult kCudaInvalidContext = 201;
inline constexpr device::CuResult kCudaPeerAccessUnsupported = 217;
inline constexpr device::CuResult kCudaInvalidPtx = 218;
inline constexpr device::CuResult kCudaInvalidHandle = 400;
inline constexpr device::CuResult kCudaNotFound = 500;
inline constexpr device::CuResult kCudaIllegalAddress = 700;
inline constexpr int kMeaningless = 0xA5;

/// Faults and order of the device; all counts begin at 1, and 0 means never.
struct FakeDeviceOptions {
  uint64_t seed = 1;
  uint64_t failCopyAt = 0;   ///< this call of a copy returns an error
  uint64_t failStreamAt = 0; ///< this copy fails as it runs, and its stream with it
  uint64_t stallAt = 0;      ///< this copy never ends, nor does its stream
  const char *failCall = ""; ///< symbol of a call,
  uint64_t failCallAt = 0;   ///< which fails this time that it is called
  bool reachesPeers = true;  ///< a context can open memory of other contexts
  bool exportsDmaBufs = true;
  bool ordersRemoteWrites = true; ///< else they show once they are flushed
  bool flushesRemoteWrites = true;
};

/// The one device of this process. Thread safe.
class FakeDevice {
public:
  /// Forgets all streams, events and memory, and begins anew.
  static void reset(const FakeDeviceOptions &options);

  /// Every function is there.
  static const device::CudaDriver &driver();

  /// Memory of the device, of its `context`-th context. It stays until reset(), or until it is
  /// freed.
  static void *allocate(uint64_t bytes, uint32_t context = 0,
                        FakeMemoryKind kind = FakeMemoryKind::Plain);
  static device::CuContext context(uint32_t number);

  /// Runs work until the stream has none. False: its work cannot go on, unless something else
  /// happens.
  static bool synchronize(device::CuStream stream);

  /// Keeps all work from now on until release(), which does what there is to do.
  static void hold();
  static void release();

  /// Called by a network device that writes to memory of the device: does so at once or, if the
  /// device does not order such writes, once they are flushed.
  static void writeRemotely(std::function<void()> write);

  /// Called by the library of a network as it registers device memory, and as it ends that.
  static void noteRegistration();
  /// Called by a network device that reads or writes memory of the device, at its address.
  static void noteTransfer(const void *memory);

  /// Empty, or the first misuse of the driver by the program: a copy that touches memory that is
  /// neither of the device nor page-locked, or that was freed or closed meanwhile; memory that is
  /// freed, closed or unlocked under work; a call that waits for the device, whose work waits for
  /// the caller; a call or a registration without a current context; memory that a network moves
  /// without CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; PTX that the interpreter does not know.
  static std::string misuse();

  /// Calls of this function of the driver, by its symbol.
  static uint64_t calls(const char *symbol);
  /// Copies that have been begun.
  static uint64_t copies();
  /// Kernels that have been launched.
  static uint64_t kernels();
  /// Loads and stores that their threads did, each of which moves several numbers at most.
  static uint64_t kernelAccesses();
  /// Kernels of the modules that are loaded.
  static uint64_t loadedKernels();
  /// Bytes that were copied to the host, to the device, and within the device.
  static uint64_t bytesToHost();
  static uint64_t bytesToDevice();
  static uint64_t bytesWithin();
  /// Calls that flush what network devices write.
  static uint64_t flushes();
  /// Streams, events, modules, page-locked ranges, allocations of cuMemAlloc and opened memory of
  /// other processes that are still there.
  static uint64_t left();
};

} // namespace colldsl::test
