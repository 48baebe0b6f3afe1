/// Integers in memory of the fake device, and bindings of plans to them.
#pragma once

#include "executor/Memory.h"
#include "tests/device/FakeDevice.h"

#include <vector>

namespace colldsl::test {

/// The test reads and writes them between runs only. They stay until FakeDevice::reset().
struct DeviceInts {
  explicit DeviceInts(size_t count, uint32_t context = 0)
      : size(count),
        data(static_cast<int32_t *>(FakeDevice::allocate(count * sizeof(int32_t), context))) {}
  int32_t &operator[](size_t i) { return data[i]; }
  BoundBuffer bound() const { return {data, size * sizeof(int32_t), false, &FakeDevice::driver()}; }
  size_t size;
  int32_t *data;
};

inline Binding bindingOf(uint64_t n, std::vector<BoundBuffer> buffers, uint64_t segmentBytes = 8) {
  Binding binding;
  binding.elements = n;
  binding.buffers = std::move(buffers);
  binding.segmentBytes = segmentBytes;
  return binding;
}

/// Variant of bindingOf() for plans whose messages all go from device to device.
inline Binding deviceOnlyBindingOf(uint64_t n, std::vector<BoundBuffer> buffers) {
  Binding binding = bindingOf(n, std::move(buffers));
  binding.deviceOnly = true;
  binding.deviceMessagesFrom = 1;
  return binding;
}

} // namespace colldsl::test
