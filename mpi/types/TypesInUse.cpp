#include "mpi/types/TypesInUse.h"

#include "mpi/Real.h"

#include <algorithm>

namespace colldsl::mpi {

void TypesInUse::begin(MPI_Datatype type) {
  std::lock_guard lock(mutex_);
  used_.push_back(type);
}

void TypesInUse::end(MPI_Datatype type) {
  std::lock_guard lock(mutex_);
  used_.erase(std::find(used_.begin(), used_.end(), type));
}

bool TypesInUse::isUsed(MPI_Datatype type) const {
  return std::find(used_.begin(), used_.end(), type) != used_.end();
}

// Types are freed outside the lock: freeing may call functions of the program.
bool TypesInUse::take(MPI_Datatype type) {
  std::vector<MPI_Datatype> unused;
  bool isTaken = false;
  {
    std::lock_guard lock(mutex_);
    auto end =
        std::partition(kept_.begin(), kept_.end(), [&](MPI_Datatype kept) { return isUsed(kept); });
    unused.assign(end, kept_.end());
    kept_.erase(end, kept_.end());
    isTaken = isUsed(type);
    if (isTaken)
      kept_.push_back(type);
  }
  for (MPI_Datatype gone : unused)
    real::Type_free(&gone);
  return isTaken;
}

void TypesInUse::freeAll() {
  for (MPI_Datatype type : kept_)
    real::Type_free(&type);
  kept_.clear();
}

} // namespace colldsl::mpi
