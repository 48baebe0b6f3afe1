#include "mpi/comm/Parting.h"

#include <algorithm>

namespace colldsl::mpi {

// Takes some contexts for each rank, so that disjoint parts have different ones: a part uses those
// of its first rank.
Parting::Parting(MPI_Comm comm) : whole_(KnownComms::of(comm)) {
  if (!whole_)
    return;
  uint32_t all = static_cast<uint32_t>(whole_->ranks().count()) * CommContexts::kOfEach;
  whole_->contexts().keep(comm, all);
  first_ = whole_->contexts().take(all);
}

bool Parting::adopt(MPI_Comm part) const {
  if (first_.number == 0 || part == MPI_COMM_NULL)
    return first_.number != 0;
  CommRanks ranks(whole_->job(), part);
  const std::vector<Rank> &all = *whole_->ranks().members();
  auto leader = std::find(all.begin(), all.end(), ranks.members()->front());
  auto place = static_cast<uint32_t>(leader - all.begin());
  auto made = std::make_shared<ServedComm>(std::move(ranks), CommTopology());
  made->devices().setMayUseDevices(whole_->devices().mayUseDevices());
  made->contexts().begin({first_.owner, first_.number + place * CommContexts::kOfEach},
                         CommContexts::kOfEach);
  made->reportUse("a part");
  KnownComms::add(part, std::move(made));
  return true;
}

} // namespace colldsl::mpi
