/// Collectives that are right for any number of ranks, in random variants, each with its contract.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

enum class Pattern : uint8_t {
  Bcast,
  Reduce,
  Scan,
  Allgather,
  Alltoall,
  Allreduce,
  Barrier,
  Rotate,
  Relay,
  Halves
};
inline constexpr int kPatterns = 10;

/// Adds one to the program's collectives, with the trees that it needs.
void addPattern(Program &program, Random &random, Pattern pattern);

/// The same along the edges of a random graph of the program's ranks: irregular degrees, parallel
/// edges, edges to oneself, ranks without any.
void addNeighborExchange(Program &program, Random &random);

} // namespace colldsl::generated
