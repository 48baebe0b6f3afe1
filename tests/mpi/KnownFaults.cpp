#include "tests/mpi/KnownFaults.h"

namespace conformance {
namespace {

bool isAlltoall(Operation operation) {
  return operation == Operation::Alltoall || operation == Operation::Alltoallv ||
         operation == Operation::Alltoallw;
}

} // namespace

#ifdef OPEN_MPI
bool isKnownFault(const CallName &call, const Features &features) {
  return call.form != Form::Blocking && isAlltoall(call.operation) &&
         features.kind == TopologyKind::Cartesian && features.parallelEdges;
}

// When an alltoallw is complete, its types are looked up in the communicator and in the arrays.
bool isKnownFault(Operation operation, Habit habit) {
  return operation == Operation::Alltoallw &&
         (habit == Habit::FreesCommunicator || habit == Habit::SpoilsArrays);
}
#else
bool isKnownFault(const CallName &call, const Features &features) {
  return (isAlltoall(call.operation) && features.parallelEdges) ||
         (call.operation == Operation::Alltoallw && features.unevenDegrees);
}

bool isKnownFault(Operation, Habit habit) {
  return habit == Habit::UsesTestall || habit == Habit::TestsUnstarted;
}
#endif

} // namespace conformance
