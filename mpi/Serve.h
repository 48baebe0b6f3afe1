/// Serves a collective, or leaves it to the MPI below, alike on all ranks of the communicator.
#pragma once

#include "mpi/CallSummary.h"
#include "mpi/EntryPoints.h"
#include "mpi/Settings.h"

namespace colldsl::mpi {

/// Runs the operation of the last call of this kind; false: a run of it is under way.
bool runAgain(MPI_Comm comm, ServedComm &served, CallKind kind, int &code);

/// Serves a blocking call that equals the last one of its kind; false: it does not. Inlined, so
/// that arguments are compared in registers and no Call is made in memory.
[[gnu::always_inline]] inline bool serveAgain(MPI_Comm comm, const Call &call, int &code) {
  ServedComm *served = KnownComms::cached(comm);
  return served && served->operations().isSameAsLast(call) &&
         runAgain(comm, *served, call.kind, code);
}

/// True if a blocking call is for the MPI below, as one of the first on a communicator on which
/// this thread made the last one, too; false: serve() says. Inlined like serveAgain().
[[gnu::always_inline]] inline bool passesOnAgain(MPI_Comm comm, const Call &call) {
  CommRecord *record = KnownComms::cachedRecord(comm);
  if (!record || !FirstCalls::mayPassOn(call) || Settings::all().isOff(call.kind) ||
      !record->firstCalls().count(call))
    return false;
  Summary::all().passedOn(call.kind, Reason::Other);
  return true;
}

/// Variant of runAgain() for a nonblocking call.
bool startAgain(MPI_Comm comm, ServedComm &served, CallKind kind, MPI_Request *request);

[[gnu::always_inline]] inline bool startAgain(MPI_Comm comm, const Call &call,
                                              MPI_Request *request) {
  ServedComm *served = KnownComms::cached(comm);
  return served && served->operations().isSameAsLast(call) &&
         startAgain(comm, *served, call.kind, request);
}

/// Serves a blocking call and puts its result into `code`; false: the MPI below must serve it.
bool serve(MPI_Comm comm, const Call &call, int &code);

/// Starts a nonblocking call, or makes a persistent one. The start waits for no other rank, so all
/// ranks leave calls on an unknown communicator to the MPI below.
bool serve(MPI_Comm comm, const Call &call, bool isPersistent, MPI_Request *request, int &code);

// Sides of calls: the same elements in each slot, the same block for all slots, lists.

// These two are inlined for serveAgain().

[[gnu::always_inline]] inline BlockSide uniform(const void *buffer, MPI_Count count,
                                                MPI_Datatype type) {
  BlockSide side;
  side.buffer = const_cast<void *>(buffer);
  side.count = count;
  side.type = type;
  return side;
}

[[gnu::always_inline]] inline BlockSide same(const void *buffer, MPI_Count count,
                                             MPI_Datatype type) {
  BlockSide side = uniform(buffer, count, type);
  side.isSame = true;
  return side;
}

template <typename Count, typename Displ>
BlockSide listed(const void *buffer, const Count *counts, const Displ *displs, MPI_Datatype type) {
  BlockSide side = uniform(buffer, 0, type);
  side.counts = counts;
  side.displs = displs;
  side.hasLongCounts = sizeof(Count) > sizeof(int);
  side.hasLongDispls = sizeof(Displ) > sizeof(int);
  side.isListed = side.isPlaced = true;
  return side;
}

/// One block right after the other.
template <typename Count>
BlockSide inOrder(const void *buffer, const Count *counts, MPI_Datatype type) {
  BlockSide side = listed(buffer, counts, static_cast<const int *>(nullptr), type);
  side.isPlaced = false;
  return side;
}

/// A type for each slot, and places in bytes.
template <typename Count, typename Displ>
BlockSide typed(const void *buffer, const Count *counts, const Displ *displs,
                const MPI_Datatype *types) {
  BlockSide side = listed(buffer, counts, displs, MPI_DATATYPE_NULL);
  side.types = types;
  side.inBytes = true;
  return side;
}

} // namespace colldsl::mpi
