#include "mpi/comm/FirstCalls.h"

#include "mpi/Settings.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// A ServedComm and a plan for a call cost 20 to 27 us to make: the time of some 50 short calls of
// the MPI below.
constexpr uint32_t kUsual = 48;
constexpr uint32_t kInTimeSlices = 4;
// An exchange with neighbors costs 2 us to make.
constexpr uint32_t kOfNeighbors = 4;

} // namespace

void FirstCalls::begin(bool takeTimeSlices) {
  limit_ = Settings::all().firstCalls().value_or(takeTimeSlices ? kInTimeSlices : kUsual);
  neighborLimit_ = std::min(limit_, kOfNeighbors);
}

} // namespace colldsl::mpi
