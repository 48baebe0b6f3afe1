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

/// The buffers, counts and displacements of trials that run one after the other.
struct Reused : Arenas {
  CollectiveCall call;
};

/// `local` differs from rank to rank. `reused`: outlives the trial; null: it has memory of its own.
std::unique_ptr<Trial> makeTrial(const Members &members, const Deal &deal, Random local,
                                 Report &report, Reused *reused = nullptr);

/// For messages.
std::string describe(const Members &members, const Deal &deal);

} // namespace conformance
