/// The kinds of collectives that are served. A kind has all its forms: blocking, nonblocking and
/// persistent, of int and of MPI_Count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace colldsl::mpi {

/// Kinds along a topology come first.
enum class CallKind : uint8_t {
#define COLLDSL_COLLECTIVE(Kind, ...) Kind,
#include "mpi/Collectives.def"
};
inline constexpr size_t kTopologyKinds = 5;

/// The argument that has the length of a block, of a collective of all ranks.
enum class BlockLength : uint8_t {
  None,      ///< there are no blocks
  Listed,    ///< blocks have lengths of their own, which only their two ends know
  Counted,   ///< blocks have lengths of their own, which all ranks know
  OfRecv,    ///< the count of the receive side
  OfInput,   ///< that of the send side, or of the receive side if it is combined in place
  Gathered,  ///< that of the receive side at the root, of the send side elsewhere
  Scattered, ///< that of the send side at the root, of the receive side elsewhere
};

/// The side that may be MPI_IN_PLACE.
enum class InPlace : uint8_t { Nowhere, Send, RootSend, RootRecv };

struct CallFacts {
  const char *name;    ///< "neighbor_alltoallv"
  const char *mpiName; ///< "MPI_Neighbor_alltoallv"
  BlockLength length;
  InPlace inPlace;
};
inline constexpr CallFacts kCallFacts[] = {
#define COLLDSL_COLLECTIVE(Kind, Name, name, shape, length, inPlace, ...)                          \
  {#name, "MPI_" #Name, BlockLength::length, InPlace::inPlace},
#include "mpi/Collectives.def"
};
inline constexpr size_t kCallKinds = std::size(kCallFacts);

constexpr const CallFacts &factsOf(CallKind kind) { return kCallFacts[static_cast<size_t>(kind)]; }

constexpr bool isAlongTopology(CallKind kind) { return kind <= CallKind::NeighborAlltoallw; }

constexpr bool hasRoot(CallKind kind) {
  return kind == CallKind::Bcast || kind == CallKind::Reduce ||
         (kind >= CallKind::Gather && kind <= CallKind::Scatterv);
}

constexpr bool reduces(CallKind kind) { return kind >= CallKind::Reduce; }

} // namespace colldsl::mpi
