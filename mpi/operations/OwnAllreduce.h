/// A reduction of numbers of this library over the ranks of a communicator, by a run like those of
/// the program's calls.
#pragma once

#include "mpi/operations/Operation.h"

namespace colldsl::mpi {

class ServedComm;

/// Under a Guard.
class OwnAllreduce {
public:
  /// Combines `count` numbers at `mine` into those at `all`; both outlive it.
  OwnAllreduce(MPI_Op op, MPI_Datatype type, int count, void *mine, void *all);

  /// Makes the operation, once, for a run of this number. False, on all ranks: such a call is not
  /// served. An error: memory is short.
  Result<bool> prepare(ServedComm &comm, uint32_t number);
  /// Runs what was prepared.
  Status run(uint32_t number) { return operation_->run(number); }
  void clear() { operation_.reset(); }

private:
  Call call_;
  std::shared_ptr<Operation> operation_;
};

} // namespace colldsl::mpi
