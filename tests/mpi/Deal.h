/// What the ranks of a communicator agree on about one collective.
#pragma once

#include "tests/mpi/Collectives.h"
#include "tests/mpi/Members.h"
#include "tests/mpi/Trial.h"

#include <memory>

namespace conformance {

struct Deal : Data {
  CollectiveForm form;
  /// MPI_IN_PLACE wherever the collective has it.
  bool inPlace = false;
  /// MPI_BOTTOM and absolute addresses, where data is moved.
  bool bottom = false;
  /// Operators that are functions of the program, on derived datatypes.
  bool userOperator = false;
  /// Any number; the root is the remainder by the number of ranks.
  uint32_t root = 0;

  int rootOf(const Members &members) const {
    return static_cast<int>(root % static_cast<uint32_t>(members.size));
  }
};

bool isReduction(Collective collective);
bool hasRoot(Collective collective);
bool hasInPlace(Collective collective);

/// `local` differs from rank to rank.
std::unique_ptr<Trial> makeTrial(const Members &members, const Deal &deal, Random local,
                                 Report &report);

/// For messages.
std::string describe(const Members &members, const Deal &deal);

} // namespace conformance
