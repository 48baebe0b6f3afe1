/// Scattered bytes as the MPI below takes them.
#pragma once

#include "mpi/Mpi.h"
#include "transports/Payload.h"

namespace colldsl::mpi {

/// The first `bytes` bytes of a payload: `count` elements of `type` at `address`. May be destroyed
/// as soon as the call that takes them has begun.
class Elements {
public:
  Elements(const Payload &payload, uint64_t bytes);
  ~Elements();
  Elements(const Elements &) = delete;
  Elements &operator=(const Elements &) = delete;

  void *address = MPI_BOTTOM;
  int count = 1;
  MPI_Datatype type = MPI_BYTE;
};

} // namespace colldsl::mpi
