/// A page of 32-bit words of the host, page-locked, which streams of a device wait for and write.
#pragma once

#include "device/CudaDriver.h"

#include <memory>

namespace colldsl::device {

class LockedWords {
public:
  /// All words are zero. The driver and the context outlive them.
  static Result<std::unique_ptr<LockedWords>> open(const CudaDriver &driver, CuContext context);
  /// Requires that no stream has to do with them.
  ~LockedWords();
  LockedWords(const LockedWords &) = delete;
  LockedWords &operator=(const LockedWords &) = delete;

  /// Acquires what was written before the word.
  uint32_t load(size_t i) const;
  /// Stores of this thread, and of others that it has seen, come before the word.
  void store(size_t i, uint32_t value);
  DeviceAddress addressOf(size_t i) const { return there_ + i * sizeof(uint32_t); }

  /// Never unlocks the page: streams may yet have to do with it.
  void abandon() { page_ = nullptr; }

private:
  LockedWords(const CudaDriver &driver, CuContext context) : driver_(driver), context_(context) {}

  const CudaDriver &driver_;
  CuContext context_;
  uint32_t *page_ = nullptr;
  DeviceAddress there_ = 0; ///< its address on the device
};

} // namespace colldsl::device
