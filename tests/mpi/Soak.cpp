// Operations of neighbours and all others at once, on communicators that come and go.
#include "tests/mpi/Beside.h"
#include "tests/mpi/CollectiveFaults.h"
#include "tests/mpi/Deal.h"
#include "tests/mpi/Exchange.h"
#include "tests/mpi/Groups.h"
#include "tests/mpi/KnownFaults.h"

namespace conformance {
namespace {

constexpr int kElements[] = {1, 2, 3, 4, 6, 8, 12};
constexpr int kBlockSizes[] = {8, 8, 8, 8, 200, 2000, 10000};

void drawData(Data &data, Random &shared) {
  data.elements = kElements[shared.below(std::size(kElements))];
  data.mostCount = kBlockSizes[shared.below(std::size(kBlockSizes))];
  data.anyShape = shared.oneIn(3);
  data.key = shared.next();
}

/// One operation in flight, or made again and again.
struct Passenger {
  std::unique_ptr<Trial> trial;
  Exchange *exchange = nullptr; ///< the trial, if it is of neighbours
  bool isPersistent = false, isBlocking = false;
};

/// What lives from the beginning of a case to its end.
struct Voyage {
  std::vector<Topology> topologies;
  std::vector<Members> members;
  std::vector<Passenger> passengers;
  bool avoidTestall = false;
};

void boardNeighbors(Case &c, Voyage &voyage) {
  const Topology &topology = voyage.topologies[c.shared.below(voyage.topologies.size())];
  Spec spec;
  spec.name = {static_cast<Operation>(c.shared.below(5)), static_cast<Form>(c.shared.below(3)),
               hasLargeCounts() && c.shared.oneIn(4)};
  drawData(spec, c.shared);
  uint64_t local = c.local.next();
  if (c.skipKnownFaults && isKnownFault(spec.name, topology.features))
    return;
  Passenger p;
  p.isPersistent = spec.name.form == Form::Persistent;
  p.isBlocking = spec.name.form == Form::Blocking;
  voyage.avoidTestall |=
      p.isPersistent && c.skipKnownFaults && isKnownFault(spec.name.operation, Habit::UsesTestall);
  if (topology.comm == MPI_COMM_NULL)
    return;
  auto exchange = std::make_unique<Exchange>(topology, spec, Random({local}), c.report);
  if (p.isPersistent)
    exchange->initialize();
  p.exchange = exchange.get();
  p.trial = std::move(exchange);
  voyage.passengers.push_back(std::move(p));
}

void boardMembers(Case &c, Voyage &voyage) {
  const Members &members = voyage.members[c.shared.below(voyage.members.size())];
  Deal deal;
  drawData(deal, c.shared);
  deal.form = {static_cast<Collective>(c.shared.below(static_cast<size_t>(Collective::Exscan) + 1)),
               static_cast<Form>(c.shared.below(3)), hasLargeCollectives() && c.shared.oneIn(4)};
  deal.inPlace = c.shared.oneIn(3);
  deal.bottom = !isReduction(deal.form.collective) && c.shared.oneIn(6);
  deal.userOperator = c.shared.oneIn(4);
  deal.root = static_cast<uint32_t>(c.shared.next());
  Random local({c.local.next()});
  if (c.skipKnownFaults && isKnownFault(members, deal))
    return;
  Passenger p;
  p.isBlocking = deal.form.form == Form::Blocking;
  p.isPersistent = deal.form.form == Form::Persistent;
  p.trial = makeTrial(members, deal, local, c.report);
  voyage.passengers.push_back(std::move(p));
}

void board(Case &c, Voyage &voyage) {
  if (c.shared.oneIn(2))
    boardNeighbors(c, voyage);
  else
    boardMembers(c, voyage);
}

// Communicators that live while others are at work, with a call of their own.
void churn(Case &c) {
  Voyage brief;
  brief.topologies.push_back(
      makeTopology(static_cast<TopologyKind>(c.shared.below(3)), c.shared.oneIn(2), c.shared));
  brief.members.push_back(makeMembers(c.shared));
  board(c, brief);
  for (Passenger &p : brief.passengers)
    runOnce(*p.trial, c.report);
}

// What is blocking runs between the others; what is persistent each rank starts in another order.
void depart(Case &c, Voyage &voyage, Flight &flight) {
  std::vector<Passenger *> persistent;
  auto start = [&](Passenger &p) {
    flight.add(p.trial->start(), p.isPersistent, [&p](const MPI_Status *) { p.trial->check(); });
  };
  for (Passenger &p : voyage.passengers) {
    if (p.isBlocking) {
      runOnce(*p.trial, c.report);
      continue;
    }
    p.trial->prepare();
    if (p.isPersistent)
      persistent.push_back(&p);
    else
      start(p);
  }
  c.local.shuffle(persistent);
  for (Passenger *p : persistent)
    start(*p);
}

void travel(Case &c, Voyage &voyage, int round) {
  Flight flight(Random({c.local.next()}), !voyage.avoidTestall, c.report);
  std::vector<std::unique_ptr<Message>> messages;
  depart(c, voyage, flight);
  if (c.shared.oneIn(3))
    churn(c);
  for (int tag = c.shared.between(1000, 1004); tag > 1000; --tag) {
    messages.push_back(std::make_unique<Message>(voyage.members[0].oracle, tag, c.shared.oneIn(2),
                                                 100 * tag + round));
    messages.back()->board(flight, c.report);
  }
  flight.finish();
}

// What one rank alone changes, others must not notice.
void changeSome(Case &c, Voyage &voyage) {
  for (Passenger &p : voyage.passengers)
    if (p.isPersistent || !c.local.oneIn(4))
      continue;
    else if (p.exchange && c.local.oneIn(2))
      p.exchange->redraw(c.local.oneIn(2), c.local.oneIn(2));
    else
      p.trial->moveBuffers();
}

bool runSoak(Case &c) {
  Voyage voyage;
  for (int n = c.shared.between(1, 3); n > 0; --n)
    voyage.topologies.push_back(
        makeTopology(static_cast<TopologyKind>(c.shared.below(3)), c.shared.oneIn(3), c.shared));
  for (int n = c.shared.between(1, 3); n > 0; --n)
    voyage.members.push_back(makeMembers(c.shared));
  for (int n = c.shared.between(2, 12); n > 0; --n)
    board(c, voyage);
  for (int round = c.shared.between(1, 5); round > 0; --round) {
    travel(c, voyage, round);
    changeSome(c, voyage);
  }
  return true;
}

} // namespace

const char kSubject[] = "operations of neighbours and all others, many at once, with single "
                        "messages and\nplain arithmetic, while communicators and datatypes come "
                        "and go";

const std::vector<Group> &groups() {
  static const std::vector<Group> all = {
      {"soak", "all forms in flight, on several communicators, beside messages", runSoak},
  };
  return all;
}

} // namespace conformance
