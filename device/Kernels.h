/// Kernels that combine memory of one device, and copy many pieces of it at once.
///
/// Results are those of the host's functions (executor/Reduce.h), bit by bit, except for the bits
/// of NaNs. No element depends on the order of threads.
///
/// The driver compiles a kernel when it is prepared, which takes some milliseconds, and keeps what
/// it compiled for later processes. Thread safe.
#pragma once

#include "device/CudaDriver.h"
#include "device/KernelOperands.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace colldsl::device {

class Kernels {
public:
  /// False: the host combines these elements. The library was built without a compiler for devices,
  /// or elements of this type do not have this operator.
  static bool has(Reduction reduction, ElementType type);
  static bool hasCopies();

  /// The kernels of the context, which all of its plans share: made by the first caller, unloaded
  /// with the last one. The driver and the context outlive them.
  static std::shared_ptr<Kernels> of(const CudaDriver &driver, CuContext context);
  ~Kernels();
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  /// Loads the kernel, once. An error: there is none, or the driver does not take it, which later
  /// calls do not try again.
  Status prepare(Reduction reduction, ElementType type);
  Status prepareCopies();

  /// Launches target = first op source (After), or source op first (Before), for each source in
  /// turn, after the work of the stream. `bytes` is a whole number of elements, of any alignment.
  /// Any two ranges are equal or disjoint; a target that is also a source is read before it is
  /// written. Requires: 1 to kMaxSources sources, and a prepared kernel.
  Status combine(CuStream stream, Reduction reduction, ElementType type, Side side,
                 DeviceAddress target, DeviceAddress first, std::span<const DeviceAddress> sources,
                 uint64_t bytes) const;

  /// Launches copies of at most kMaxPieces pieces, after the work of the stream. No target overlaps
  /// another piece.
  Status copy(CuStream stream, std::span<const CopyPiece> pieces) const;

private:
  Kernels(const CudaDriver &driver, CuContext context) : driver_(driver), context_(context) {}
  struct Kernel {
    std::atomic<CuFunction> function = nullptr;
    Status failure; ///< of loading it
  };
  Status prepare(const std::string &name, Kernel &kernel);
  /// Loads the function of that name alone.
  Result<CuFunction> load(const std::string &name);
  Status launch(CuFunction function, uint64_t threads, unsigned rows, CuStream stream,
                void *operands) const;

  const CudaDriver &driver_;
  CuContext context_;
  std::mutex loading_; ///< of modules_, and of the kernels' changes
  std::vector<CuModule> modules_;
  std::array<Kernel, kReductions * kElementTypes> combine_; ///< by reduction and kernelType()
  Kernel copy_;
};

} // namespace colldsl::device
