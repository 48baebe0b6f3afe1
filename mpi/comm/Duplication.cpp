#include "mpi/comm/Duplication.h"

namespace colldsl::mpi {

Duplication::Duplication(MPI_Comm original, bool mayWait)
    : original_(original), outer_(std::exchange(current_, this)) {
  CommRecord *record = KnownComms::recordOf(original);
  facts_ = record ? record->facts(original) : nullptr;
  if (!facts_)
    return;
  Job::current()->freeDeferred();
  if (mayWait)
    record->keepContexts(original, CommContexts::kLargestShare);
  contexts_ = record->contexts().takeShare();
}

std::unique_ptr<CommRecord> Duplication::duplicate(MPI_Comm comm) {
  if (!current_ || current_->original_ != comm || current_->contexts_.first.number == 0)
    return nullptr;
  auto made = std::make_unique<CommRecord>(current_->facts_, current_->contexts_);
  current_->made_ = made.get();
  return made;
}

} // namespace colldsl::mpi
