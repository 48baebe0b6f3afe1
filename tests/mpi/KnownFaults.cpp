#include "tests/mpi/KnownFaults.h"

#include "mpi/Mpi.h"

namespace conformance {
namespace {

bool isAlltoall(Operation operation) {
  return operation == Operation::Alltoall || operation == Operation::Alltoallv ||
         operation == Operation::Alltoallw;
}

} // namespace

#ifdef OPEN_MPI
bool isKnownFault(const CallName &call, const Features &features) {
  return COLLDSL_OPEN_MPI < 60000 && call.form != Form::Blocking && isAlltoall(call.operation) &&
         features.kind == TopologyKind::Cartesian && features.parallelEdges;
}

// When an alltoallw is complete, its types are looked up in the communicator and in the arrays.
bool isKnownFault(Operation operation, Habit habit) {
  bool isFault = habit == Habit::FreesCommunicator && COLLDSL_OPEN_MPI < 50000;
  return operation == Operation::Alltoallw && (isFault || habit == Habit::SpoilsArrays);
}
#else
bool isKnownFault(const CallName &call, const Features &features) {
  if (isAlltoall(call.operation) && features.parallelEdges)
    return COLLDSL_MPICH < 50000;
  return COLLDSL_MPICH < 40200 && call.operation == Operation::Alltoallw && features.unevenDegrees;
}

bool isKnownFault(Operation, Habit habit) {
  return habit == Habit::UsesTestall || (habit == Habit::TestsUnstarted && COLLDSL_MPICH < 40200);
}
#endif

} // namespace conformance
