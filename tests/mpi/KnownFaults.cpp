#include "tests/mpi/KnownFaults.h"

#include "tests/mpi/Version.h"

namespace conformance {
namespace {

bool isAlltoall(Operation operation) {
  return operation == Operation::Alltoall || operation == Operation::Alltoallv ||
         operation == Operation::Alltoallw;
}

} // namespace

bool isKnownFault(const CallName &call, const Features &features) {
  if (isOpenMpi())
    return openMpiVersion() < 60000 && call.form != Form::Blocking && isAlltoall(call.operation) &&
           features.kind == TopologyKind::Cartesian && features.parallelEdges;
  if (isAlltoall(call.operation) && features.parallelEdges)
    return mpichVersion() < 50000;
  return mpichVersion() < 40200 && call.operation == Operation::Alltoallw && features.unevenDegrees;
}

// When an alltoallw of Open MPI is complete, its types are looked up in the communicator and in the
// arrays.
bool isKnownFault(Operation operation, Habit habit) {
  if (!isOpenMpi())
    return habit == Habit::UsesTestall ||
           (habit == Habit::TestsUnstarted && mpichVersion() < 40200);
  bool isFault = habit == Habit::FreesCommunicator && openMpiVersion() < 50000;
  return operation == Operation::Alltoallw && (isFault || habit == Habit::SpoilsArrays);
}

} // namespace conformance
