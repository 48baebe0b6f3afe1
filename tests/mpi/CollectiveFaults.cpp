#include "tests/mpi/CollectiveFaults.h"

#include "mpi/Mpi.h"
#include "tests/mpi/Reduction.h"

#include <algorithm>

namespace conformance {
namespace {

// Compares numbers without a sign as if they had one.
#if COLLDSL_OPEN_MPI >= 50000 || COLLDSL_MPICH >= 40200
const Pattern kComparedWrongly = {};
#elif defined(OPEN_MPI)
const Pattern kComparedWrongly = {MPI_UNSIGNED_LONG};
#else
const Pattern kComparedWrongly = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
                                  MPI_UNSIGNED_LONG, MPI_UINT16_T,       MPI_UINT64_T};
#endif

bool comparesWrongly(const Operator &made) {
  return (made.op == MPI_MIN || made.op == MPI_MAX) &&
         std::count(kComparedWrongly.begin(), kComparedWrongly.end(), made.type.get()) > 0;
}

#ifdef OPEN_MPI
bool movesWrongly(const Members &members, const Deal &deal) {
  Collective c = deal.form.collective;
  if (deal.inPlace)
    return COLLDSL_OPEN_MPI < 50000 && deal.form.form != Form::Blocking &&
           (c == Collective::Alltoallv || c == Collective::Alltoallw);
  if (c == Collective::Allgatherv && deal.form.form == Form::Blocking && members.size > 2)
    return true;
  return c == Collective::Alltoallw && deal.form.form == Form::Blocking && members.size == 1;
}

bool combinesWrongly(const Members &, const Deal &, const Operator &) { return false; }
#else
bool movesWrongly(const Members &members, const Deal &deal) {
  if (COLLDSL_MPICH < 40300 && deal.form.form == Form::Persistent)
    return true;
  if (COLLDSL_MPICH >= 40200)
    return false;
  if (deal.form.collective == Collective::Allgatherv)
    return !deal.inPlace && members.size == 1;
  if (deal.form.collective == Collective::Scatter && deal.form.form != Form::Blocking)
    return deal.inPlace && members.size > 2;
  return deal.form.collective == Collective::Alltoallw && deal.inPlace;
}

bool combinesWrongly(const Members &members, const Deal &deal, const Operator &made) {
  Collective c = deal.form.collective;
  if (COLLDSL_MPICH < 40200 && deal.form.form == Form::Persistent)
    return true;
  if (COLLDSL_MPICH < 40200 && c == Collective::Reduce && deal.inPlace &&
      deal.rootOf(members) != 0 && deal.mostCount > 1000)
    return true;
  return (c == Collective::Reduce_scatter || c == Collective::Reduce_scatter_block) &&
         !made.commutes;
}
#endif

} // namespace

bool isKnownFault(const Members &members, const Deal &deal) {
  if (!isReduction(deal.form.collective))
    return movesWrongly(members, deal);
  std::unique_ptr<Operator> made = makeOperator(deal);
  return comparesWrongly(*made) || combinesWrongly(members, deal, *made);
}

#ifdef OPEN_MPI
bool hasFaultOfPersistentFlight() { return false; }

bool isKnownFault(const CollectiveForm &form, Mistake mistake) {
  return mistake == Mistake::NullCommunicator && form.collective == Collective::Allgather;
}
#else
bool hasFaultOfPersistentFlight() { return true; }

// MPICH 5, as Debian builds it, looks at no arguments.
bool isKnownFault(const CollectiveForm &form, Mistake mistake) {
  if (COLLDSL_MPICH >= 50000)
    return true;
  Collective c = form.collective;
  bool isScattered = c == Collective::Reduce_scatter || c == Collective::Reduce_scatter_block;
  return mistake == Mistake::NegativeCount && isReduction(c) &&
         (form.form != Form::Blocking || !isScattered);
}
#endif

} // namespace conformance
