/// Runs kernels in PTX on the host, thread by thread: those that the library has for devices, with
/// the instructions that a compiler made of them, and no others.
///
/// After the PTX ISA 8.5, chapters 7 and 9: loads and stores need aligned addresses, shifts are
/// bounded by the width, and an operation on floats gives the canonical NaN instead of one of its
/// operands. A register that was not written holds bits of no meaning.
#pragma once

#include "ir/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>

namespace colldsl::test {

/// The memory that kernels may touch.
class PtxMemory {
public:
  virtual ~PtxMemory() = default;
  /// The bytes at this address of the device; null: some of them are not memory of the device.
  virtual std::byte *find(uint64_t address, uint64_t bytes, bool isStore) = 0;
};

/// One kernel.
class PtxFunction {
public:
  struct Code;
  PtxFunction(std::shared_ptr<const Code> code) : code_(std::move(code)) {}

  /// The size of the parameter; all kernels have one.
  uint64_t parameterBytes() const;

  struct Grid {
    uint32_t blocksX = 1, blocksY = 1, threadsPerBlock = 1;
  };
  /// Runs all threads, one after the other. An error: an address that is not in the memory or not
  /// aligned, more threads per block than the kernel allows, a thread that does not end.
  Status run(const Grid &grid, std::span<const std::byte> parameter, PtxMemory &memory) const;
  /// Runs the threads of one block of the grid.
  Status runBlock(const Grid &grid, uint32_t x, uint32_t y, std::span<const std::byte> parameter,
                  PtxMemory &memory) const;

private:
  std::shared_ptr<const Code> code_;
};

/// Text of PTX with functions that are kernels.
class PtxModule {
public:
  /// An error that names the line: an instruction, a directive or an operand that this interpreter
  /// does not know.
  static Result<PtxModule> parse(std::string_view text);
  using Functions = std::map<std::string, PtxFunction, std::less<>>;
  const Functions &functions() const { return functions_; } ///< by name

private:
  Functions functions_;
};

} // namespace colldsl::test
