#include "mpi/comm/InfoHints.h"

#include "mpi/Real.h"

#include <string_view>

namespace colldsl::mpi {

InfoHints InfoHints::changedBy(MPI_Info info) const {
  InfoHints changed = *this;
  for (uint32_t p = 0; p < kInfoHints && info != MPI_INFO_NULL; ++p) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int isThere = 0;
    real::Info_get(info, kInfoHintKeys[p], MPI_MAX_INFO_VAL, value, &isThere);
    if (isThere && std::string_view(value) == "true")
      changed.bits_ |= 1u << p;
    else if (isThere && std::string_view(value) == "false")
      changed.bits_ &= ~(1u << p);
  }
  return changed;
}

void InfoHints::putInto(MPI_Info info) const {
  for (uint32_t p = 0; p < kInfoHints; ++p)
    real::Info_set(info, kInfoHintKeys[p], bits_ >> p & 1 ? "true" : "false");
}

std::string InfoHints::text() const {
  std::string text;
  for (uint32_t p = 0; p < kInfoHints; ++p)
    if (bits_ >> p & 1)
      text += (text.empty() ? "" : ", ") + std::string(kInfoHintKeys[p]);
  return text;
}

std::shared_ptr<HintsQuery> HintsQuery::start(MPI_Comm comm, InfoHints mine) {
  std::shared_ptr<HintsQuery> query(new HintsQuery(mine));
  real::Iallreduce(&query->mine_, &query->all_, 1, MPI_UINT32_T, MPI_BAND, comm, &query->request_);
  return query;
}

bool HintsQuery::isAnswered() {
  int isDone = 0;
  real::Test(&request_, &isDone, MPI_STATUS_IGNORE);
  return isDone != 0;
}

void HintsQuery::wait() { real::Wait(&request_, MPI_STATUS_IGNORE); }

} // namespace colldsl::mpi
