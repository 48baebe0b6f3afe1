#include "mpi/JobBegin.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"

namespace colldsl::mpi {

void JobBegin::expect(int threadLevel) {
  isExpected_ = true;
  threadLevel_ = threadLevel;
  if (threadLevel == MPI_THREAD_MULTIPLE)
    begin();
}

void JobBegin::begin() {
  isExpected_ = false;
  Settings::agree();
  if (!Settings::all().isAllOff())
    Job::begin(threadLevel_);
  if (!Job::current())
    return;
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    ServedComm::adopt(*Job::current(), comm)->firstCalls().skip();
  FirstCalls::begin(Job::current()->takesTimeSlices());
}

bool JobBegin::end() { return !std::exchange(isExpected_, false); }

} // namespace colldsl::mpi
