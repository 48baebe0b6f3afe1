#include "tests/mpi/Meeting.h"
#include "tests/mpi/Movement.h"
#include "tests/mpi/Reduction.h"

namespace conformance {

bool isReduction(Collective c) {
  return c == Collective::Reduce || c == Collective::Allreduce || c == Collective::Scan ||
         c == Collective::Exscan || c == Collective::Reduce_scatter ||
         c == Collective::Reduce_scatter_block;
}

bool hasRoot(Collective c) {
  return c == Collective::Bcast || c == Collective::Reduce || c == Collective::Gather ||
         c == Collective::Gatherv || c == Collective::Scatter || c == Collective::Scatterv;
}

bool hasInPlace(Collective c) { return c != Collective::Barrier && c != Collective::Bcast; }

std::string describe(const Members &members, const Deal &deal) {
  std::string text = spell(deal.form) + " on " + members.name;
  if (hasRoot(deal.form.collective))
    text += ", root " + std::to_string(deal.rootOf(members));
  if (deal.inPlace && hasInPlace(deal.form.collective))
    text += ", in place";
  return text + (deal.bottom ? ", MPI_BOTTOM" : "");
}

std::unique_ptr<Trial> makeTrial(const Members &members, const Deal &deal, Random local,
                                 Report &report, Reused *reused) {
  if (deal.form.collective == Collective::Barrier)
    return std::make_unique<Meeting>(members, deal, local, report);
  if (isReduction(deal.form.collective))
    return std::make_unique<Reduction>(members, deal, local, report, reused);
  return std::make_unique<Movement>(members, deal, local, report, reused);
}

} // namespace conformance
