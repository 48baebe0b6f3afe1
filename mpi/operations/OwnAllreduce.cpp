#include "mpi/operations/OwnAllreduce.h"

#include "mpi/comm/ServedComm.h"
#include "mpi/operations/CollectiveOperation.h"

namespace colldsl::mpi {

OwnAllreduce::OwnAllreduce(MPI_Op op, MPI_Datatype type, int count, void *mine, void *all)
    : call_{CallKind::Allreduce, {}, {}, 0, op} {
  for (BlockSide *side : {&call_.send, &call_.recv}) {
    side->count = count;
    side->type = type;
  }
  call_.send.buffer = mine;
  call_.recv.buffer = all;
}

Result<bool> OwnAllreduce::prepare(ServedComm &comm, uint32_t number) {
  if (operation_)
    return true;
  const std::shared_ptr<PlanGroup> &plans = comm.runs().plans();
  plans->numberNextRun(number);
  MadeOperation made = CollectiveOperation::make(comm, plans, call_, {});
  if (!made)
    return made.status();
  operation_ = made.take();
  return operation_ != nullptr;
}

} // namespace colldsl::mpi
