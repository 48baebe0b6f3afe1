#include "mpi/comm/FreedComms.h"

#include "mpi/Real.h"
#include "mpi/operations/Requests.h"

#include <algorithm>

namespace colldsl::mpi {

FreedComms *const FreedComms::all_ = new FreedComms;

void FreedComms::note(MPI_Comm comm) {
  uint64_t when = count_.fetch_add(1, std::memory_order_relaxed);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (!Requests::anyRunning() || real::Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
    return;
  std::lock_guard lock(mutex_);
  freed_.push_back({when, comm, handler});
  if (freed_.size() <= kMax)
    return;
  real::Errhandler_free(&freed_.front().handler);
  freed_.pop_front();
}

std::optional<MPI_Errhandler> FreedComms::handlerOf(MPI_Comm comm, uint64_t since) {
  std::lock_guard lock(mutex_);
  auto found = std::find_if(freed_.begin(), freed_.end(), [&](const Freed &freed) {
    return freed.comm == comm && freed.when >= since;
  });
  return found == freed_.end() ? std::nullopt : std::optional(found->handler);
}

} // namespace colldsl::mpi
