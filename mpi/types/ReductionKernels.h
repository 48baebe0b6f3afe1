/// MPI's operators on the elements that its datatypes stand for.
#pragma once

#include "executor/Reduce.h"

#include <optional>

namespace colldsl::mpi {

/// MPI's operators that combine: those of colldsl, then those on pairs.
enum class Operator : uint8_t {
#define COLLDSL_REDUCTION(Name, ...) Name,
#include "ir/Vocabulary.def"
  Minloc,
  Maxloc
};

/// The groups of datatypes that operators take: MPI-3.1, section 5.9.2, and the pairs of 5.9.4.
enum class Group : uint8_t {
  CInteger, ///< signed
  CUnsigned,
  FortranInteger,
  Address, ///< of several languages: signed, of 8 bytes
  Float,   ///< of 4 and 8 bytes as C has them; of 16 a long double
  Quad,    ///< Fortran's of 16 bytes
  Complex, ///< two of Float
  QuadComplex,
  Logical, ///< C, C++ or Fortran
  Byte,
  PairOfInt, ///< a value of C and the index, an int: by the value
  PairOfLong,
  PairOfShort,
  PairOfFloat,
  PairOfDouble,
  PairOfLongDouble,
  TwoFloats, ///< Fortran's pairs have two of the value's type
  TwoDoubles,
};

/// The elements of a datatype, as operators see them.
struct Meaning {
  Group group;
  std::optional<ElementType> type; ///< nothing: by the group and the size
};

/// The operator and type of colldsl that combine packed elements alike; none: colldsl has none.
std::optional<TypedReduction> findTyped(Operator op, const Meaning &meaning, uint64_t elementBytes);

/// A kernel for packed elements. Null: MPI has no such operation, or the group has no type of
/// `elementBytes`.
ReduceFunction findKernel(Operator op, const Meaning &meaning, uint64_t elementBytes, Side side);

} // namespace colldsl::mpi
