/// Blocks of small floating-point numbers as f32 and back, with vectors of the machine. The bits
/// are those of ir/SmallFloat.h on every machine.
#pragma once

#include "ir/Vocabulary.h"

#include <cstddef>
#include <cstdint>

namespace colldsl {

constexpr uint64_t kBlockElements = 256;

/// From and to numbers of any alignment.
struct BlockConversions {
  void (*widen)(float *to, const std::byte *from, uint64_t count) = nullptr;
  void (*narrow)(std::byte *to, const float *from, uint64_t count) = nullptr;
};

/// Null functions, unless the arithmetic of the type is SmallReal.
BlockConversions findConversions(ElementType type);

} // namespace colldsl
