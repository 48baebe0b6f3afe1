#include "tests/mpi/CollectiveFaults.h"

#include "tests/mpi/Reduction.h"
#include "tests/mpi/Version.h"

#include <algorithm>

namespace conformance {
namespace {

// Compares numbers without a sign as if they had one.
Pattern comparedWrongly() {
  if (openMpiVersion() >= 50000 || mpichVersion() >= 40200)
    return {};
  if (isOpenMpi())
    return {MPI_UNSIGNED_LONG};
  return {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
          MPI_UNSIGNED_LONG, MPI_UINT16_T,       MPI_UINT64_T};
}

bool comparesWrongly(const Operator &made) {
  static const Pattern wrong = comparedWrongly();
  return (made.op == MPI_MIN || made.op == MPI_MAX) &&
         std::count(wrong.begin(), wrong.end(), made.type.get()) > 0;
}

bool openMpiMovesWrongly(const Members &members, const Deal &deal) {
  Collective c = deal.form.collective;
  if (deal.inPlace)
    return openMpiVersion() < 50000 && deal.form.form != Form::Blocking &&
           (c == Collective::Alltoallv || c == Collective::Alltoallw);
  if (c == Collective::Allgatherv && deal.form.form == Form::Blocking && members.size > 2)
    return true;
  return c == Collective::Alltoallw && deal.form.form == Form::Blocking && members.size == 1;
}

bool mpichMovesWrongly(const Members &members, const Deal &deal) {
  if (mpichVersion() < 40300 && deal.form.form == Form::Persistent)
    return true;
  if (mpichVersion() >= 40200)
    return false;
  if (deal.form.collective == Collective::Allgatherv)
    return !deal.inPlace && members.size == 1;
  if (deal.form.collective == Collective::Scatter && deal.form.form != Form::Blocking)
    return deal.inPlace && members.size > 2;
  return deal.form.collective == Collective::Alltoallw && deal.inPlace;
}

bool mpichCombinesWrongly(const Members &members, const Deal &deal, const Operator &made) {
  Collective c = deal.form.collective;
  if (mpichVersion() < 40200 && deal.form.form == Form::Persistent)
    return true;
  if (mpichVersion() < 40200 && c == Collective::Reduce && deal.inPlace &&
      deal.rootOf(members) != 0 && deal.mostCount > 1000)
    return true;
  return (c == Collective::Reduce_scatter || c == Collective::Reduce_scatter_block) &&
         !made.commutes;
}

} // namespace

bool isKnownFault(const Members &members, const Deal &deal) {
  if (!isReduction(deal.form.collective))
    return isOpenMpi() ? openMpiMovesWrongly(members, deal) : mpichMovesWrongly(members, deal);
  std::unique_ptr<Operator> made = makeOperator(deal);
  return comparesWrongly(*made) || (!isOpenMpi() && mpichCombinesWrongly(members, deal, *made));
}

bool hasFaultOfPersistentFlight() { return !isOpenMpi(); }

// MPICH 5, as Debian builds it, looks at no arguments.
bool isKnownFault(const CollectiveForm &form, Mistake mistake) {
  if (isOpenMpi())
    return mistake == Mistake::NullCommunicator && form.collective == Collective::Allgather;
  if (mpichVersion() >= 50000)
    return true;
  Collective c = form.collective;
  bool isScattered = c == Collective::Reduce_scatter || c == Collective::Reduce_scatter_block;
  return mistake == Mistake::NegativeCount && isReduction(c) &&
         (form.form != Form::Blocking || !isScattered);
}

} // namespace conformance
