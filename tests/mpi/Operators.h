/// What reductions combine: elements of a datatype and an operator, MPI's or the program's own, and
/// the same operation once more, for the oracle.
#pragma once

#include "tests/mpi/Datatypes.h"

#include <memory>
#include <string>

namespace conformance {

/// The oracle's elements are `elementBytes` each, side by side.
class Operator {
public:
  virtual ~Operator() = default;

  virtual void draw(std::byte *elements, int count, Random &random) const = 0;
  /// right[i] = left[i] op right[i].
  virtual void fold(const std::byte *left, std::byte *right, int count) const = 0;
  /// From the oracle's elements to those of `type` at `memory`, and back.
  virtual void put(const std::byte *elements, int count, std::byte *memory) const = 0;
  /// The bytes of an element's extent that may be anything: what fills up pairs.
  virtual bool isPadding(size_t offset) const = 0;
  /// That the program's operator was given what it must be given; always so for MPI's.
  virtual bool isContent() const { return true; }

  std::string name;
  MPI_Op op = MPI_OP_NULL;
  Datatype type{MPI_DATATYPE_NULL};
  size_t elementBytes = 0;
  bool commutes = true;
};

/// A predefined operator on a predefined type.
std::unique_ptr<Operator> makePredefined(Random &shared);
/// An operator that is a function: commutative or not, on a derived datatype or a predefined one.
std::unique_ptr<Operator> makeUser(Random &shared);

} // namespace conformance
