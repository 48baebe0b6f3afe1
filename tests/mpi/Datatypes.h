/// Derived datatypes of all shapes with a given signature.
#pragma once

#include "tests/mpi/Random.h"

#include <mpi.h>

namespace conformance {

/// The basic types of one element, in order.
using Pattern = std::vector<MPI_Datatype>;

/// All patterns that cases choose from.
const std::vector<Pattern> &patterns();

/// A committed datatype: freed with its owner, unless it is a predefined one.
class Datatype {
public:
  explicit Datatype(MPI_Datatype predefined) : handle_(predefined) {}
  /// Takes the ownership of a derived type.
  static Datatype own(MPI_Datatype derived);
  Datatype(Datatype &&other) noexcept;
  Datatype &operator=(Datatype &&other) noexcept;
  ~Datatype() { release(); }

  MPI_Datatype get() const { return handle_; }
  Datatype duplicate() const;
  void release();

private:
  MPI_Datatype handle_;
  bool owned_ = false;
};

struct Bounds {
  MPI_Aint lowerBound, extent, trueLowerBound, trueExtent;
};
Bounds boundsOf(MPI_Datatype type);

/// The plainest type of `elements` elements of the pattern.
Datatype makePlain(const Pattern &pattern, int elements);

/// A random type of `elements` elements, at least one. Consecutive ones never overlap as long as
/// there are at most `reach` of them; its displacements are multiples of 8 wherever it is not made
/// of bytes alone, and it may have a negative lower bound.
Datatype makeDatatype(const Pattern &pattern, int elements, int reach, Random &random);

} // namespace conformance
