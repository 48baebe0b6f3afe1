/// The instructions of the PTX interpreter.
#pragma once

#include "tests/device/PtxInterpreter.h"

namespace colldsl::test {

/// The state of one thread of a kernel. Each register has 64 bits; a value of fewer bits has the
/// lower ones.
struct PtxThread {
  uint64_t *registers;
  std::span<const std::byte> parameter;
  PtxMemory *memory;
  std::string fault; ///< set by an instruction that fails
};

/// Operands are numbers of registers; constants are registers, too.
struct PtxInstruction {
  /// False: it failed.
  using Run = bool (*)(PtxThread &thread, const PtxInstruction &instruction);
  static constexpr unsigned kMostOperands = 5;

  Run run = nullptr;
  uint32_t to[kMostOperands] = {}, from[kMostOperands] = {};
  uint8_t toCount = 0, fromCount = 0;
  int64_t offset = 0; ///< of the address, which is the first operand of loads and stores
};

/// The function of an instruction that computes or moves data, such as "add.rn.f32"; null: it is
/// unknown.
PtxInstruction::Run findPtxInstruction(std::string_view name);

} // namespace colldsl::test
