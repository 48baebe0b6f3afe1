/// The memory of a plan that has a place on the host and one on the device.
///
///   area               on the host                  on the device
///   a device buffer    its stage, of the plan       memory of the caller
///   the temporaries    memory of the plan           memory of the plan, if mirrored
///
/// The steps of a plan have addresses of the host. All of that memory is page-locked. Not thread
/// safe.
#pragma once

#include "device/AsyncWork.h"
#include "executor/Memory.h"
#include "protocol/Endpoint.h"

namespace colldsl {

/// Memory of the host on pages of its own, which can be page-locked. It is ordinary memory, so
/// other ranks of the machine and network devices reach it as any other.
class LockedMemory {
public:
  LockedMemory(const device::CudaDriver &driver, device::CuContext context)
      : driver_(driver), context_(context) {}
  ~LockedMemory() { free(); }
  LockedMemory(const LockedMemory &) = delete;
  LockedMemory &operator=(const LockedMemory &) = delete;

  /// Has at least so many bytes, which are zero if they are new. To no more bytes than before, it
  /// keeps them.
  Status reserve(uint64_t bytes);
  /// Locks the pages, once, so that the device may copy.
  Status lock();
  std::byte *data() const { return data_; }

  /// Never frees the memory that it has: the device may yet write to it.
  void abandon();

private:
  void free();

  const device::CudaDriver &driver_;
  const device::CuContext context_;
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0;
  bool isLocked_ = false;
};

/// Memory of the device that a plan has.
class DeviceBlock {
public:
  DeviceBlock() = default;
  ~DeviceBlock() { free(); }
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;

  /// Has at least so many bytes of that context. To no more bytes than before, it keeps them.
  /// False: there are none.
  bool reserve(const device::CudaDriver &driver, device::CuContext context, uint64_t bytes);
  device::DeviceAddress address() const { return address_; } ///< 0: none
  uint64_t bytes() const { return bytes_; }
  void free();
  /// Never frees the memory.
  void abandon() { address_ = bytes_ = 0; }

private:
  const device::CudaDriver *driver_ = nullptr;
  device::CuContext context_ = nullptr;
  device::DeviceAddress address_ = 0;
  uint64_t bytes_ = 0;
};

class DeviceAreas : TemporaryMemory {
public:
  DeviceAreas() = default;
  DeviceAreas(const DeviceAreas &) = delete;
  DeviceAreas &operator=(const DeviceAreas &) = delete;

  /// True if some buffer lies in device memory.
  static bool areNeeded(const Binding &binding);

  /// Makes stages for the buffers in device memory. Refuses memory of several contexts.
  Status bind(const Binding &binding);

  /// The last binding, with stages in place of device memory.
  const Binding &binding() const { return binding_; }
  const device::CudaDriver &driver() const { return *driver_; }
  device::CuContext context() const { return context_; }

  struct Area {
    std::byte *host;
    uint64_t bytes;
    device::DeviceAddress device; ///< 0: none, the area is of temporaries that are not mirrored
    uint32_t buffer;              ///< of a device buffer
    bool isCallers;               ///< device memory of the caller, which has the result at the end

    device::DeviceAddress deviceAddressOf(const std::byte *address) const {
      return device + static_cast<uint64_t>(address - host);
    }
  };
  /// Sorted by their addresses on the host. No two are adjacent.
  std::span<const Area> areas() const { return areas_; }
  /// The area in which these bytes lie; null: none.
  const Area *areaOf(const std::byte *address) const;

  /// Called once ops are known to need bytes on the host: locks them.
  Status lock();

  /// Gives the temporaries memory on the device. False: there is none.
  bool mirrorTemporaries();

  /// Registers the memory on the device with the transport, until the next binding has registered
  /// its own. Null: the transport cannot reach it. The endpoint outlives it.
  network::DeviceRegistration *registerArea(Endpoint &endpoint, const Area &area);
  /// Null: the area is not registered.
  network::DeviceRegistration *registrationOf(const Area &area) const;
  /// Ends the registrations of bindings before this one.
  void endOldRegistrations() { oldRegistrations_.clear(); }
  /// Ends all registrations, of a plan that has no messages under way any more.
  void endRegistrations();

  /// An address in device memory of the caller.
  device::DeviceAddress callersAddress() const;

  /// "'x'", "buffer 1", "the temporaries".
  std::string inWords(const Area &area) const;

  /// Never frees its memory: the device may yet use it.
  void abandon();
  /// Never frees the temporaries on the device: other ranks may yet copy from them.
  void abandonMirror() { mirror_.abandon(); }

private:
  std::byte *reserve(uint64_t bytes) override;
  Status findContext(const Binding &binding);
  Status placeStages(const Binding &binding);
  void freeMirror();
  using Registration = std::shared_ptr<network::DeviceRegistration>;
  Registration makeRegistration(Endpoint &endpoint, const Area &area);

  Binding binding_;
  const device::CudaDriver *driver_ = nullptr;
  device::CuContext context_ = nullptr;
  std::unique_ptr<LockedMemory> stages_, temporaries_;
  DeviceBlock mirror_;                                         ///< of the temporaries
  Registration mirrorRegistration_;                            ///< ends before the mirror does
  std::vector<Registration> registrations_, oldRegistrations_; ///< of memory of the caller
  std::vector<Area> areas_;
};

} // namespace colldsl
