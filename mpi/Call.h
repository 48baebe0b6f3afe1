/// The arguments of a neighbourhood collective, whichever of the many it is.
#pragma once

#include "mpi/Datatype.h"

#include <cstddef>
#include <cstdint>

namespace colldsl::mpi {

/// What one side sends or receives. Slots are places in the lists of neighbours.
struct Side {
  void *buffer = nullptr;
  MPI_Count count = 0;                   ///< without `counts`
  MPI_Datatype type = MPI_DATATYPE_NULL; ///< without `types`
  bool isSame = false;                   ///< all slots are the one block at `buffer`
  bool isLarge = false;                  ///< lists of MPI_Count and MPI_Aint, not of int
  bool inBytes = false;                  ///< displs are MPI_Aint, in bytes; else in elements
  const void *counts = nullptr;
  const void *displs = nullptr;
  const MPI_Datatype *types = nullptr;

  MPI_Count countOf(int slot) const {
    if (!counts)
      return count;
    return isLarge ? static_cast<const MPI_Count *>(counts)[slot]
                   : static_cast<const int *>(counts)[slot];
  }
  MPI_Datatype typeOf(int slot) const { return types ? types[slot] : type; }
  MPI_Aint displOf(int slot) const {
    return isLarge || inBytes ? static_cast<const MPI_Aint *>(displs)[slot]
                              : static_cast<const int *>(displs)[slot];
  }

  /// Where the block of a slot begins.
  std::byte *addressOf(int slot, const TypeLayout &layout) const {
    auto *begin = static_cast<std::byte *>(buffer);
    if (isSame)
      return begin;
    if (!displs)
      return begin + slot * count * layout.extent;
    return begin + (inBytes ? displOf(slot) : displOf(slot) * layout.extent);
  }
};

enum class CallKind : uint8_t { Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw };
inline constexpr size_t kCallKinds = 5;

/// A kind in all its forms: blocking, nonblocking, persistent; int and MPI_Count.
inline constexpr const char *kCallNames[kCallKinds] = {"neighbor_allgather", "neighbor_allgatherv",
                                                       "neighbor_alltoall", "neighbor_alltoallv",
                                                       "neighbor_alltoallw"};

struct Call {
  CallKind kind;
  Side send, recv;

  bool hasLists() const { return send.counts || recv.counts; }

  /// Word for word, where neither has lists.
  bool isSameAs(const Call &other) const {
    return send.buffer == other.send.buffer && recv.buffer == other.recv.buffer &&
           send.count == other.send.count && recv.count == other.recv.count &&
           send.type == other.send.type && recv.type == other.recv.type && kind == other.kind;
  }
};

} // namespace colldsl::mpi
