#include "mpi/comm/CommHints.h"

#include "mpi/Real.h"

namespace colldsl::mpi {

InfoHints CommHints::agree(MPI_Comm comm, MPI_Info info) {
  wanted_ = wanted_.changedBy(info);
  uint32_t mine = wanted_.bits(), all = 0;
  allreduce(&mine, &all, 1, MPI_UINT32_T, MPI_BAND, comm);
  return InfoHints(all);
}

void CommHints::set(InfoHints agreed) {
  query_.reset();
  agreed_ = agreed;
  *hasStaticBuffers_ = agreed.has(InfoHint::StaticBuffers);
}

void CommHints::setLater(InfoHints wanted, std::shared_ptr<HintsQuery> query) {
  wanted_ = wanted;
  query_ = std::move(query);
}

std::optional<InfoHints> CommHints::takeAnswer() {
  if (!query_ || !query_->isAnswered())
    return std::nullopt;
  return std::exchange(query_, nullptr)->answer();
}

} // namespace colldsl::mpi
