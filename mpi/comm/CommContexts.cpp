#include "mpi/comm/CommContexts.h"

#include <algorithm>

namespace colldsl::mpi {

void CommContexts::begin(Job::Context first, uint32_t number, bool mayKeepMore) {
  own_ = next_ = first;
  mayKeepMore_ = mayKeepMore;
  ++next_.number;
  left_ = number - 1;
}

void CommContexts::keep(MPI_Comm comm, uint32_t number) {
  if (!mayKeepMore_ || left_ >= number)
    return;
  Job::Offer offer{true, true, {}};
  uint32_t all = std::min(number, UINT32_MAX / kMaxTimes) * times_;
  next_ = job_.agree(comm, all, offer);
  left_ = offer.all ? all : 0;
  times_ = std::min(2 * times_, kMaxTimes);
}

CommContexts::Some CommContexts::takeShare() {
  uint32_t number = std::clamp(left_ / kPartOfShare, std::min(left_, 1u), kLargestShare);
  return {take(number), number};
}

Job::Context CommContexts::take(uint32_t number) {
  if (left_ < number || number == 0)
    return {};
  Job::Context first = next_;
  next_.number += number;
  left_ -= number;
  return first;
}

} // namespace colldsl::mpi
