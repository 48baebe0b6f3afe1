/// The operands of the kernels, as host and device see them, and which kernel serves an operator.
///
/// Kernels.cu includes it, so that there is one form of it.
#pragma once

#include "ir/Operators.h"

#include <cstdint>

namespace colldsl::device {

inline constexpr unsigned kMaxSources = 8;
inline constexpr unsigned kMaxPieces = 64;
inline constexpr unsigned kThreadsPerBlock = 256;
inline constexpr uint64_t kVectorBytes = 16; ///< a load of one thread

/// target = first op source, for each source in turn. Elements before and after the vectors are
/// combined one by one.
struct CombineOperands {
  uint64_t target, first;
  uint64_t sources[kMaxSources];
  uint64_t elements; ///< in all
  uint64_t head;     ///< elements before the vectors
  uint64_t vectors;
  uint32_t sourceCount;
  bool isBefore;  ///< the sources are the left operands
  bool isAligned; ///< all addresses are multiples of the size of an element, or of its parts
};

struct CopyPiece {
  uint64_t to, from, bytes;
};

/// The greatest unit that is at a border in both ranges together.
constexpr uint64_t unitBytes(const CopyPiece &piece) {
  const uint64_t apart = piece.to - piece.from;
  return apart % kVectorBytes == 0 ? kVectorBytes : apart % 4 == 0 ? 4 : 1;
}

/// A row of blocks per piece.
struct CopyOperands {
  CopyPiece pieces[kMaxPieces];
};

/// The type whose kernel serves elements of that type, for an operator that they have: most
/// operators do not know signs, and a sum of complex numbers is one of their parts.
constexpr ElementType kernelType(Reduction reduction, ElementType type) {
  auto unsignedOf = [](uint64_t bytes) {
    return bytes == 1   ? ElementType::U8
           : bytes == 2 ? ElementType::U16
           : bytes == 4 ? ElementType::U32
                        : ElementType::U64;
  };
  auto of = [&](Arithmetic arithmetic, uint64_t bytes) {
    switch (arithmetic) {
    case Arithmetic::Signed:
      return reduction == Reduction::Min || reduction == Reduction::Max ? type : unsignedOf(bytes);
    case Arithmetic::Complex:
      return reduction != Reduction::Sum ? type : bytes == 8 ? ElementType::F32 : ElementType::F64;
    case Arithmetic::Unsigned:
    case Arithmetic::Real:
    case Arithmetic::SmallReal:
      return type;
    }
    return type;
  };
  if (operandTypes(reduction) == OperandTypes::FourBytes)
    return ElementType::U32;
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, ...)                                     \
  case ElementType::Name:                                                                          \
    return of(Arithmetic::arithmetic, sizeof(CppType));
#include "ir/Vocabulary.def"
  }
  return type;
}

} // namespace colldsl::device
