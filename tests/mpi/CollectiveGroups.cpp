#include "tests/mpi/Beside.h"
#include "tests/mpi/CollectiveErrors.h"
#include "tests/mpi/CollectiveFaults.h"
#include "tests/mpi/Deal.h"
#include "tests/mpi/Groups.h"

#include <algorithm>

namespace conformance {
namespace {

using Collectives = std::vector<Collective>;

const Collectives kAll = {
    Collective::Barrier,   Collective::Bcast,          Collective::Reduce,
    Collective::Allreduce, Collective::Reduce_scatter, Collective::Reduce_scatter_block,
    Collective::Allgather, Collective::Allgatherv,     Collective::Alltoall,
    Collective::Alltoallv, Collective::Alltoallw,      Collective::Gather,
    Collective::Gatherv,   Collective::Scatter,        Collective::Scatterv,
    Collective::Scan,      Collective::Exscan};
const Collectives kMovements = {Collective::Bcast,    Collective::Allgather, Collective::Allgatherv,
                                Collective::Alltoall, Collective::Alltoallv, Collective::Alltoallw,
                                Collective::Gather,   Collective::Gatherv,   Collective::Scatter,
                                Collective::Scatterv};
const Collectives kReductions = {Collective::Reduce,         Collective::Allreduce,
                                 Collective::Reduce_scatter, Collective::Reduce_scatter_block,
                                 Collective::Scan,           Collective::Exscan};
constexpr int kElements[] = {1, 2, 3, 4, 6, 8, 12};

Deal drawDeal(const Collectives &from, Random &shared) {
  Deal deal;
  deal.form = {shared.oneOf(from), shared.oneIn(2) ? Form::Nonblocking : Form::Blocking};
  deal.elements = kElements[shared.below(std::size(kElements))];
  deal.mostCount = shared.oneIn(8) ? 700 : 8;
  deal.key = shared.next();
  deal.inPlace = shared.oneIn(3);
  deal.root = static_cast<uint32_t>(shared.next());
  deal.userOperator = shared.oneIn(6);
  return deal;
}

bool skip(const Case &c, const Members &members, const Deal &deal) {
  return c.skipKnownFaults && isKnownFault(members, deal);
}

bool runSingle(Case &c, const Deal &deal) {
  Members members = makeMembers(c.shared);
  if (skip(c, members, deal))
    return false;
  runOnce(*makeTrial(members, deal, Random({c.local.next()}), c.report), c.report);
  return true;
}

template <Collective... kFrom> bool runFamily(Case &c) {
  return runSingle(c, drawDeal({kFrom...}, c.shared));
}

bool runTypes(Case &c) {
  Deal deal = drawDeal(kMovements, c.shared);
  deal.anyShape = true;
  return runSingle(c, deal);
}

bool runBottom(Case &c) {
  Deal deal = drawDeal(kMovements, c.shared);
  deal.anyShape = c.shared.oneIn(2);
  deal.bottom = true;
  return runSingle(c, deal);
}

bool runUser(Case &c) {
  Deal deal = drawDeal(kReductions, c.shared);
  deal.userOperator = true;
  return runSingle(c, deal);
}

bool runBig(Case &c) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Deal deal = drawDeal(kAll, c.shared);
  deal.elements = 1;
  deal.mostCount = c.shared.oneIn(3) ? 400001 / ranks : 100001 / ranks;
  return runSingle(c, deal);
}

bool runLarge(Case &c) {
  Deal deal = drawDeal(kAll, c.shared);
  deal.form.large = true;
  deal.anyShape = c.shared.oneIn(2);
  return hasLargeCollectives() && runSingle(c, deal);
}

// Bytes, 2^27 of them in the largest buffer.
bool runHuge(Case &c) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Deal deal = drawDeal({Collective::Bcast, Collective::Allgather, Collective::Alltoall}, c.shared);
  deal.elements = 1;
  deal.mostCount = (1 << 27) / (deal.form.collective == Collective::Bcast ? 1 : ranks);
  deal.leastCount = deal.mostCount;
  while (patternOf(deal) != Pattern{MPI_BYTE})
    deal.key = c.shared.next();
  return runSingle(c, deal);
}

// What was given is changed on one rank alone, while what is sent stays the same; then the root,
// the sizes and all else on all.
bool runRepeat(Case &c) {
  Deal deal = drawDeal(kAll, c.shared);
  deal.anyShape = c.shared.oneIn(2);
  Members members = makeMembers(c.shared);
  std::unique_ptr<Trial> trial;
  for (int calls = c.shared.between(5, 20); calls > 0; --calls) {
    bool changes = c.shared.oneIn(4), all = !trial || c.shared.oneIn(8);
    int who = c.shared.between(0, members.size - 1);
    uint64_t key = c.shared.next();
    if (all) {
      deal.key = key;
      deal.root = static_cast<uint32_t>(key >> 32);
      if (skip(c, members, deal))
        return false;
      trial = makeTrial(members, deal, Random({c.local.next()}), c.report);
    } else if (changes && who == members.rank) {
      trial->moveBuffers();
    }
    runOnce(*trial, c.report);
  }
  return true;
}

/// Trials in one memory, the last few of which run again.
class Series {
public:
  explicit Series(Random &local) : local_(local) { reused_.areShared = local.oneIn(2); }

  Reused &reused() { return reused_; }
  void moveBuffers() {
    reused_.send.move(local_);
    reused_.recv.move(local_);
  }
  /// Makes one, or takes one that was made before.
  Trial &next(const Case &c, const Members &members, const Deal &deal, bool again, uint64_t which) {
    if (again && !made_.empty())
      return *made_[which % made_.size()];
    auto trial = makeTrial(members, deal, Random({local_.next()}), c.report, &reused_);
    if (made_.size() < kKept)
      return *made_.emplace_back(std::move(trial));
    return *(made_[which % kKept] = std::move(trial));
  }

private:
  static constexpr size_t kKept = 8;

  Random &local_;
  Reused reused_;
  std::vector<std::unique_ptr<Trial>> made_;
};

// Long blocks of structs are left out: MPICH 4.0.2 delivers them wrongly.
int drawMostCount(const Members &members, const Deal &deal, Random &shared) {
  constexpr int kMost[] = {0, 1, 8, 8, 50, 300, 700, 700};
  int most = kMost[shared.below(std::size(kMost))];
  if (shared.oneIn(24))
    most = 20000 / members.size;
  bool hasStructs = deal.form.collective == Collective::Alltoallw || patternOf(deal).size() > 1;
  return hasStructs ? std::min(most, 50) : most;
}

void runBoth(Trial &first, Trial &second, bool swaps, Report &report) {
  first.prepare();
  second.prepare();
  MPI_Request requests[] = {first.start(), second.start()};
  for (int i : {swaps ? 1 : 0, swaps ? 0 : 1})
    report.expectSuccess(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), "MPI_Wait of " + first.label());
  first.check();
  second.check();
}

// A call that a prepared one may be taken for.
Deal vary(Deal deal, Random &shared) {
  uint64_t number = shared.next();
  switch (shared.below(3)) {
  case 0:
    deal.root = static_cast<uint32_t>(number);
    break;
  case 1:
    deal.inPlace = !deal.inPlace;
    break;
  default:
    deal.key = number;
    deal.mostCount = 8;
  }
  return deal;
}

// Calls of one form, in the same memory, whose sizes and places change, among others of its kind
// and of other kinds.
bool runRepeated(Case &c) {
  Deal deal = drawDeal(kAll, c.shared);
  deal.elements = c.shared.oneIn(8) ? deal.elements : 1;
  deal.anyShape = c.shared.oneIn(8);
  while (patternOf(deal).size() > 1 && !c.shared.oneIn(4))
    deal.key = c.shared.next();
  Members members = makeMembers(c.shared);
  Series series(c.local), beside(c.local);
  bool ran = false;
  for (int calls = c.shared.between(20, 100); calls > 0; --calls) {
    Deal next = deal;
    next.form.large = hasLargeCollectives() && c.shared.oneIn(4);
    next.turn = c.shared.below(40);
    next.mostCount = drawMostCount(members, deal, c.shared);
    Deal like = vary(next, c.shared), other = drawDeal(kAll, c.shared);
    other.mostCount = 8;
    other.form.form = c.shared.oneIn(6) ? Form::Persistent : other.form.form;
    if (c.shared.oneIn(2))
      other = like;
    uint32_t what = c.shared.below(16);
    uint64_t which = c.shared.next();
    bool again = c.shared.oneIn(4);
    if (c.local.oneIn(16))
      series.moveBuffers();
    if (what < 3 && !skip(c, members, other))
      runOnce(*makeTrial(members, other, Random({c.local.next()}), c.report, &series.reused()),
              c.report);
    if (skip(c, members, next))
      continue;
    ran = true;
    Trial &trial = series.next(c, members, next, again, which);
    if (what == 3)
      runBoth(trial, beside.next(c, members, next, false, which), which % 3 == 0, c.report);
    else
      runOnce(trial, c.report);
  }
  return ran;
}

// Several at once, on one communicator and on another, beside messages.
bool runFlight(Case &c) {
  std::vector<Members> members;
  members.push_back(makeMembers(c.shared));
  members.push_back(makeMembers(c.shared));
  struct Started {
    std::unique_ptr<Trial> trial;
    bool isPersistent;
  };
  std::vector<Started> all;
  for (int n = c.shared.between(2, 8); n > 0; --n) {
    Deal deal = drawDeal(kAll, c.shared);
    bool isPersistent = c.shared.oneIn(3) && !(c.skipKnownFaults && hasFaultOfPersistentFlight());
    deal.form.form = isPersistent ? Form::Persistent : Form::Nonblocking;
    deal.anyShape = c.shared.oneIn(3);
    const Members &on = members[c.shared.below(2)];
    if (!skip(c, on, deal))
      all.push_back({makeTrial(on, deal, Random({c.local.next()}), c.report), isPersistent});
  }
  for (int round = c.shared.between(1, 3); round > 0; --round) {
    Flight flight(Random({c.local.next()}), true, c.report);
    std::vector<std::unique_ptr<Message>> messages;
    for (const Started &each : all)
      each.trial->prepare();
    for (const Started &each : all)
      flight.add(each.trial->start(), each.isPersistent,
                 [&each](const MPI_Status *) { each.trial->check(); });
    for (int tag = c.shared.between(1000, 1003); tag > 1000; --tag) {
      messages.push_back(
          std::make_unique<Message>(members[0].oracle, tag, c.shared.oneIn(2), 100 * tag + round));
      messages.back()->board(flight, c.report);
    }
    flight.finish();
  }
  return true;
}

// Made once, started many times; others are made and end in between.
bool runPersistent(Case &c) {
  Deal deal = drawDeal(kAll, c.shared);
  deal.form.form = Form::Persistent;
  deal.anyShape = c.shared.oneIn(3);
  Members members = makeMembers(c.shared);
  if (skip(c, members, deal))
    return false;
  auto trial = makeTrial(members, deal, Random({c.local.next()}), c.report);
  Deal other = drawDeal(kAll, c.shared);
  other.form.form = c.shared.oneIn(2) ? Form::Persistent : Form::Blocking;
  bool skipsOther = skip(c, members, other);
  for (int starts = c.shared.between(1, 12); starts > 0; --starts) {
    runOnce(*trial, c.report);
    if (c.shared.oneIn(4) && !skipsOther)
      runOnce(*makeTrial(members, other, Random({c.local.next()}), c.report), c.report);
  }
  return true;
}

bool runProgress(Case &c) {
  Deal deal = drawDeal(kAll, c.shared);
  deal.form.form = Form::Nonblocking;
  deal.mostCount = c.shared.oneIn(2) ? 8 : 5000;
  int method = c.shared.between(0, kInsideMethods - 1);
  uint32_t caller = static_cast<uint32_t>(c.shared.next());
  Members members = makeMembers(c.shared);
  if (skip(c, members, deal))
    return false;
  auto trial = makeTrial(members, deal, Random({c.local.next()}), c.report);
  runInside(*trial, members.oracle, method,
            static_cast<int>(caller % static_cast<uint32_t>(members.size)), c.report);
  return true;
}

} // namespace

const char kSubject[] = "the collectives that are not of neighbours with single messages and "
                        "with\nplain arithmetic, on communicators of several kinds";

const std::vector<Group> &groups() {
  using enum Collective;
  static const std::vector<Group> all = {
      {"barrier", "no rank leaves before all have come", runFamily<Barrier>},
      {"bcast", "every root", runFamily<Bcast>},
      {"gather", "every root, also with counts and displacements", runFamily<Gather, Gatherv>},
      {"scatter", "every root, also with counts and displacements", runFamily<Scatter, Scatterv>},
      {"allgather", "also with counts and displacements", runFamily<Allgather, Allgatherv>},
      {"alltoall", "also with counts and displacements, and with types",
       runFamily<Alltoall, Alltoallv, Alltoallw>},
      {"reduce", "every root; all operators of MPI, all types of C", runFamily<Reduce>},
      {"allreduce", "all operators of MPI, all types of C", runFamily<Allreduce>},
      {"reduce-scatter", "with a count for each rank or one for all",
       runFamily<Reduce_scatter, Reduce_scatter_block>},
      {"scan", "with and without the own contribution", runFamily<Scan, Exscan>},
      {"types", "derived datatypes of all shapes, different ones at both ends", runTypes},
      {"bottom", "MPI_BOTTOM and types of absolute addresses", runBottom},
      {"user", "operators that are functions, on derived datatypes; most do not commute", runUser},
      {"big", "hundreds of thousands of elements", runBig},
      {"large", "counts of type MPI_Count, where the MPI has them", runLarge},
      {"repeat", "equal calls, until one rank alone changes buffers or all change all", runRepeat},
      {"repeated", "calls in the same memory that differ in sizes and places, among others",
       runRepeated},
      {"persistent", "made once, started many times", runPersistent},
      {"flight", "several at once on two communicators beside messages, completed in any order",
       runFlight},
      {"progress", "a call advances while its rank is inside other blocking calls", runProgress},
      {"errors", "the class of an error, by both ways of being told", runErrors},
      {"huge", "128 MiB", runHuge, true},
  };
  return all;
}

} // namespace conformance
