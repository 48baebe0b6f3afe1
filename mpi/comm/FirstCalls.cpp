#include "mpi/comm/FirstCalls.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"

namespace colldsl::mpi {
namespace {

// A ServedComm and a plan for a call cost 20 to 27 us to make: the time of some 50 short calls of
// the MPI below.
constexpr uint32_t kUsual = 48;
constexpr uint32_t kInTimeSlices = 4;
// An exchange with neighbors costs 2 us to make.
constexpr uint32_t kOfNeighbors = 4;
// The MPIs move so many bytes in the time of some short calls.
constexpr MPI_Count kShortBytes = 16 << 10;

} // namespace

void FirstCalls::begin(bool takeTimeSlices) {
  limit_ = Settings::all().firstCalls().value_or(takeTimeSlices ? kInTimeSlices : kUsual);
  neighborLimit_ = std::min(limit_, kOfNeighbors);
}

uint32_t FirstCalls::inShortCalls(const Call &call) {
  if (call.kind == CallKind::Barrier || !mayPassOn(call) || call.recv.count <= 0 ||
      call.recv.type == MPI_DATATYPE_NULL)
    return 1;
  const TypeLayout *layout = knownLayoutOf(call.recv.type);
  MPI_Count size = layout ? static_cast<MPI_Count>(layout->size) : 0;
  if (!layout && real::Type_size_x(call.recv.type, &size) != MPI_SUCCESS)
    return 1;
  if (size <= 0)
    return 1;
  // A longer block counts no more, and its bytes might be too many for the product.
  MPI_Count longest = MPI_Count{limit_} * kShortBytes / size + 1;
  return static_cast<uint32_t>(1 + std::min(call.recv.count, longest) * size / kShortBytes);
}

} // namespace colldsl::mpi
