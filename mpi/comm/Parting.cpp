#include "mpi/comm/Parting.h"

#include "mpi/comm/KnownComms.h"

namespace colldsl::mpi {

// The ranks of a grid over several nodes agree on whether they gather its edges.
Parting::Parting(MPI_Comm comm, Parts parts) {
  CommRecord *record = KnownComms::recordOf(comm);
  std::shared_ptr<const CommFacts> whole = record ? record->facts(comm) : nullptr;
  bool areGrids = parts != Parts::Any;
  if (!whole || !whole->servesAll || (areGrids && whole->ranks.areSpread()))
    return;
  Job::current()->freeDeferred();
  bool isOne = parts == Parts::Grid;
  uint32_t all = static_cast<uint32_t>(whole->ranks.count()) * CommContexts::kOfEach;
  record->keepContexts(comm, isOne ? CommContexts::kLargestShare : all);
  CommContexts &contexts = record->contexts();
  CommContexts::Some taken =
      isOne ? contexts.takeShare() : CommContexts::Some{contexts.take(all), CommContexts::kOfEach};
  if (taken.first.number != 0)
    reserved_ = {std::move(whole), taken.first, taken.number, isOne, areGrids};
}

bool Parting::keep(MPI_Comm part) const {
  if (reserved_.whole && part != MPI_COMM_NULL)
    KnownComms::add(part, std::make_unique<CommRecord>(reserved_));
  return reserved_.whole != nullptr;
}

} // namespace colldsl::mpi
