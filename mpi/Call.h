/// The arguments of any collective that the backend serves.
#pragma once

#include "mpi/Collectives.h"
#include "mpi/types/Datatype.h"

namespace colldsl::mpi {

/// The send arguments or the receive arguments of a call. A slot is a place in the lists of
/// neighbours, or a rank.
struct BlockSide {
  void *buffer = nullptr;
  MPI_Count count = 0;                   ///< without `counts`
  MPI_Datatype type = MPI_DATATYPE_NULL; ///< without `types`
  bool isSame = false;                   ///< all slots are the one block at `buffer`
  bool hasLongCounts = false;            ///< counts are of type MPI_Count, not int
  bool hasLongDispls = false;            ///< displs are of type MPI_Aint, not int
  bool inBytes = false;                  ///< displs are in bytes, else in elements
  bool isSent = false;                   ///< lies in the send buffer; for operations
  bool isListed = false;                 ///< must have `counts`
  bool isPlaced = false;                 ///< must have `displs`; with `inBytes` also `types`
  const void *counts = nullptr;
  const void *displs = nullptr;
  const MPI_Datatype *types = nullptr;

  bool isInPlace() const { return buffer == MPI_IN_PLACE; }

  MPI_Count countOf(int slot) const {
    if (!counts)
      return count;
    return hasLongCounts ? static_cast<const MPI_Count *>(counts)[slot]
                         : static_cast<const int *>(counts)[slot];
  }
  /// The sum of the counts, of those that are not negative.
  MPI_Count sumOfCounts(int slots) const {
    MPI_Count sum = 0;
    for (int slot = 0; slot < slots; ++slot)
      sum += countOf(slot) > 0 ? countOf(slot) : 0;
    return sum;
  }
  MPI_Datatype typeOf(int slot) const { return types ? types[slot] : type; }
  MPI_Aint displOf(int slot) const {
    return hasLongDispls ? static_cast<const MPI_Aint *>(displs)[slot]
                         : static_cast<const int *>(displs)[slot];
  }

  bool hasSameLists(const BlockSide &other) const {
    return counts == other.counts && displs == other.displs && types == other.types &&
           hasLongCounts == other.hasLongCounts;
  }

  /// The address at which the block of a slot begins.
  std::byte *addressOf(int slot, const TypeLayout &layout) const {
    if (isSame)
      return static_cast<std::byte *>(buffer);
    if (!displs)
      return moved(buffer, slot * count * layout.extent);
    return moved(buffer, inBytes ? displOf(slot) : displOf(slot) * layout.extent);
  }
};

struct Call {
  CallKind kind;
  BlockSide send, recv; ///< a broadcast, and a side with MPI_IN_PLACE, uses `recv` alone
  int root = 0;
  MPI_Op op = MPI_OP_NULL;
  bool lacksRequest = false; ///< there is no place for the handle of a nonblocking call

  /// The datatype that a reduction combines.
  MPI_Datatype reducedType() const { return input().type; }

  /// The side that has the data of this rank.
  const BlockSide &input() const { return send.isInPlace() ? recv : send; }

  /// The side whose count is significant on this rank and is the length of a block on all ranks.
  /// Null: blocks have lengths of their own, or the call has no blocks.
  const BlockSide *blockSide(bool isRoot) const {
    switch (factsOf(kind).length) {
    case BlockLength::None:
    case BlockLength::Listed:
    case BlockLength::Counted:
      return nullptr;
    case BlockLength::OfRecv:
      return &recv;
    case BlockLength::OfInput:
      return &input();
    case BlockLength::Gathered:
      return isRoot ? &recv : &send;
    case BlockLength::Scattered:
      return isRoot ? &send : &recv;
    }
    __builtin_unreachable();
  }

  bool hasLists() const { return send.counts || recv.counts; }

  bool hasBuffersOf(const Call &other) const {
    return send.buffer == other.send.buffer && recv.buffer == other.recv.buffer;
  }

  /// True if all words of both calls are equal. Lists are compared by their addresses alone.
  bool isSameAs(const Call &other) const {
    return (!other.hasLists() ||
            (send.hasSameLists(other.send) && recv.hasSameLists(other.recv))) &&
           hasBuffersOf(other) && send.count == other.send.count &&
           recv.count == other.recv.count && send.type == other.send.type &&
           recv.type == other.recv.type && kind == other.kind && root == other.root &&
           op == other.op;
  }
};

} // namespace colldsl::mpi
