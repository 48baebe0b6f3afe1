/// Combines of device memory, compared with those of the host's functions, bit by bit; NaNs are
/// equal whatever their bits.
#pragma once

#include "device/Kernels.h"

#include <random>
#include <string>

namespace colldsl::test {

/// A stream and memory of a device.
class KernelDevice {
public:
  virtual ~KernelDevice() = default;
  virtual device::Kernels &kernels() = 0;
  virtual device::CuStream stream() = 0;
  /// The `number`-th range of memory of the device, of so many bytes at least. It begins at a
  /// multiple of 16, and may move when more bytes are asked for.
  virtual device::DeviceAddress memory(size_t number, uint64_t bytes) = 0;
  /// After all work of the stream.
  virtual Status write(device::DeviceAddress to, std::span<const std::byte> bytes) = 0;
  virtual Status read(device::DeviceAddress from, std::span<std::byte> bytes) = 0;
};

struct CombineCase {
  Reduction reduction;
  ElementType type;
  Side side = Side::After;
  uint64_t elements = 1;
  uint32_t sources = 1;
  /// Distances of the target, the first operand and the sources from multiples of 16, in turn.
  std::vector<uint64_t> misalignments = {0};
  enum class InPlace : uint8_t { No, First, LastSource } inPlace = InPlace::No;

  std::string describe() const;
};

/// All operators with the types that have them.
std::vector<std::pair<Reduction, ElementType>> allDefined();

/// Each of them with both sides, all numbers of sources, and all kinds of alignment.
std::vector<CombineCase> combineCases(uint64_t seed);

/// Elements of the type: any ones, or many at the borders of the type, infinities, NaNs and zeros
/// of both signs.
std::vector<std::byte> anyElements(ElementType type, uint64_t count, std::mt19937_64 &random);

/// The index of the first element that differs, or -1. MatMul's elements are not numbers.
int64_t findDifference(Reduction reduction, ElementType type, const std::byte *a,
                       const std::byte *b, uint64_t count);

/// Runs the case on both. Empty, or how they differ. `given`: the operands, else any ones.
std::string compareWithHost(const CombineCase &c, KernelDevice &device, std::mt19937_64 &random,
                            const std::vector<std::vector<std::byte>> *given = nullptr);

/// Pairs of small numbers: all of 8 bits, and each of 16 bits with some other one. The arithmetic
/// of the type is SmallReal.
std::vector<std::vector<std::byte>> smallPairs(ElementType type, std::mt19937_64 &random);

} // namespace colldsl::test
