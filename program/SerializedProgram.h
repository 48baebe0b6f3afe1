/// The checked program as bytes: what a schedule library holds, so that schedules are
/// instantiated without the compiler. Little endian, deterministic. The layout is that
/// of the records in program/Program.h, field by field without padding; lists are a
/// u32 count and their items (docs/library.md).
#pragma once

#include "program/Program.h"

#include <cstddef>
#include <span>

namespace colldsl {

/// All but the code, which lower() makes again.
std::vector<std::byte> serializeProgram(const Program &program);

/// A program that is as sound as one that the compiler made: whatever the bytes, every
/// checkProgram() holds for it. Lowered. An error says what is wrong.
Result<Program> deserializeProgram(std::span<const std::byte> bytes);

/// Variant for bytes that serializeProgram() is known to have written: checkProgram() is not
/// called.
Result<Program> deserializeTrustedProgram(std::span<const std::byte> bytes);

} // namespace colldsl
