#include "tests/mpi/Groups.h"

#include "tests/mpi/Beside.h"
#include "tests/mpi/Exchange.h"
#include "tests/mpi/KnownFaults.h"

#include <memory>

namespace conformance {
namespace {

constexpr Operation kOperations[] = {Operation::Allgather, Operation::Allgatherv,
                                     Operation::Alltoall, Operation::Alltoallv,
                                     Operation::Alltoallw};
constexpr int kElements[] = {1, 2, 3, 4, 6, 8, 12};

TopologyKind drawKind(Random &shared) { return static_cast<TopologyKind>(shared.below(3)); }
Form drawForm(Random &shared) { return static_cast<Form>(shared.below(3)); }

Spec drawSpec(Form form, Random &shared) {
  Spec spec;
  spec.name = {kOperations[shared.below(std::size(kOperations))], form};
  spec.elements = kElements[shared.below(std::size(kElements))];
  spec.mostCount = shared.oneIn(8) ? 1500 : 8;
  spec.key = shared.next();
  return spec;
}

// Makes the exchange and returns it, unless it is left out; null also on ranks without a part.
std::unique_ptr<Exchange> board(Case &c, const Topology &topology, const Spec &spec, bool &skip) {
  skip = c.skipKnownFaults && isKnownFault(spec.name, topology.features);
  if (skip || topology.comm == MPI_COMM_NULL)
    return nullptr;
  return std::make_unique<Exchange>(topology, spec, Random({c.local.next()}), c.report);
}

bool avoid(const Case &c, const Spec &spec, Habit habit) {
  return c.skipKnownFaults && isKnownFault(spec.name.operation, habit);
}

bool runSimple(Case &c, TopologyKind kind, bool derived, Spec spec) {
  Topology topology = makeTopology(kind, derived, c.shared);
  bool skip;
  if (auto exchange = board(c, topology, spec, skip)) {
    if (spec.name.form == Form::Persistent)
      exchange->initialize();
    runOnce(*exchange, c.report);
  }
  return !skip;
}

bool runCartesian(Case &c) {
  Spec spec = drawSpec(Form::Blocking, c.shared);
  return runSimple(c, TopologyKind::Cartesian, false, spec);
}

bool runGraph(Case &c) {
  Spec spec = drawSpec(Form::Blocking, c.shared);
  return runSimple(c, TopologyKind::Graph, false, spec);
}

bool runDistGraph(Case &c) {
  Spec spec = drawSpec(Form::Blocking, c.shared);
  return runSimple(c, TopologyKind::DistGraph, false, spec);
}

bool runDerived(Case &c) {
  Spec spec = drawSpec(drawForm(c.shared), c.shared);
  return runSimple(c, drawKind(c.shared), true, spec);
}

bool runTypes(Case &c) {
  Spec spec = drawSpec(drawForm(c.shared), c.shared);
  spec.anyShape = true;
  return runSimple(c, drawKind(c.shared), false, spec);
}

bool runNonblocking(Case &c) {
  Spec spec = drawSpec(Form::Nonblocking, c.shared);
  return runSimple(c, drawKind(c.shared), false, spec);
}

bool runLarge(Case &c) {
  if (!hasLargeCounts())
    return false;
  Spec spec = drawSpec(drawForm(c.shared), c.shared);
  spec.anyShape = c.shared.oneIn(2);
  spec.name.large = true;
  return runSimple(c, drawKind(c.shared), false, spec);
}

void expectEmpty(Case &c, MPI_Request request) {
  MPI_Status status;
  int flag = 0, count = -1;
  c.report.expectSuccess(MPI_Test(&request, &flag, &status), "MPI_Test of an inactive request");
  MPI_Get_count(&status, MPI_BYTE, &count);
  c.report.expect(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG &&
                      count == 0,
                  "MPI_Test of an inactive request", "its status is not empty");
}

bool runPersistent(Case &c) {
  Spec spec = drawSpec(Form::Persistent, c.shared);
  spec.anyShape = c.shared.oneIn(2);
  Topology topology = makeTopology(drawKind(c.shared), false, c.shared);
  bool skip;
  auto exchange = board(c, topology, spec, skip);
  if (!exchange)
    return !skip;
  exchange->initialize();
  exchange->freeTypes();
  if (!avoid(c, spec, Habit::TestsUnstarted))
    expectEmpty(c, exchange->persistentRequest());
  for (int starts = c.shared.between(1, 12); starts > 0; --starts)
    runOnce(*exchange, c.report);
  expectEmpty(c, exchange->persistentRequest());
  return true;
}

// What was given is changed on one rank alone, while what is sent stays the same; then all change.
bool runRepeat(Case &c) {
  Spec spec = drawSpec(c.shared.oneIn(2) ? Form::Blocking : Form::Nonblocking, c.shared);
  spec.anyShape = c.shared.oneIn(2);
  Topology topology = makeTopology(drawKind(c.shared), false, c.shared);
  bool skip;
  auto exchange = board(c, topology, spec, skip);
  if (!exchange)
    return !skip;
  int rank, size;
  MPI_Comm_rank(topology.comm, &rank);
  MPI_Comm_size(topology.comm, &size);
  for (int calls = c.shared.between(5, 20); calls > 0; --calls) {
    bool changes = c.shared.oneIn(4), mine = c.shared.between(0, size - 1) == rank;
    uint32_t what = c.shared.below(4);
    if (changes && mine && what < 3)
      exchange->redraw(what != 0, what != 1);
    else if (changes && mine)
      exchange->moveBuffers();
    if (c.shared.oneIn(10)) {
      spec.key = c.shared.next();
      exchange = std::make_unique<Exchange>(topology, spec, Random({c.local.next()}), c.report);
    }
    runOnce(*exchange, c.report);
  }
  return true;
}

// Sizes and places change on all ranks, while the memory stays; calls come again.
bool runRepeated(Case &c) {
  constexpr size_t kKept = 8;
  constexpr int kMostCounts[] = {0, 1, 2, 8, 8, 8, 50, 700};
  Spec spec = drawSpec(c.shared.oneIn(2) ? Form::Blocking : Form::Nonblocking, c.shared);
  spec.name.large = hasLargeCounts() && c.shared.oneIn(4);
  spec.elements = c.shared.oneIn(4) ? spec.elements : 1;
  spec.anyShape = c.shared.oneIn(8);
  Topology topology = makeTopology(drawKind(c.shared), false, c.shared);
  if (c.skipKnownFaults && isKnownFault(spec.name, topology.features))
    return false;
  Arenas arenas;
  std::vector<std::unique_ptr<Exchange>> made(kKept);
  for (int calls = c.shared.between(20, 60); calls > 0 && topology.comm != MPI_COMM_NULL; --calls) {
    spec.turn = c.shared.below(40);
    spec.mostCount = kMostCounts[c.shared.below(std::size(kMostCounts))];
    std::unique_ptr<Exchange> &exchange = made[c.shared.below(kKept)];
    bool again = c.shared.oneIn(4);
    if (c.local.oneIn(16))
      arenas.recv.move(c.local);
    if (!again || !exchange)
      exchange =
          std::make_unique<Exchange>(topology, spec, Random({c.local.next()}), c.report, &arenas);
    runOnce(*exchange, c.report);
  }
  return true;
}

using Exchanges = std::vector<std::unique_ptr<Exchange>>;

void startRound(Case &c, const std::vector<Form> &forms, Exchanges &exchanges, Flight &flight) {
  std::vector<size_t> order;
  for (size_t i = 0; i < exchanges.size(); ++i)
    exchanges[i]->prepare();
  auto start = [&](size_t i) {
    Exchange &e = *exchanges[i];
    flight.add(e.start(), forms[i] == Form::Persistent, [&e](const MPI_Status *) { e.check(); });
  };
  for (size_t i = 0; i < exchanges.size(); ++i)
    if (forms[i] == Form::Persistent)
      order.push_back(i);
    else
      start(i);
  // Persistent operations match by the order in which they were made.
  c.local.shuffle(order);
  for (size_t i : order)
    start(i);
}

bool runFlight(Case &c) {
  Topology topology = makeTopology(drawKind(c.shared), false, c.shared);
  Exchanges exchanges;
  std::vector<Form> forms;
  bool avoidTestall = false;
  for (int n = c.shared.between(2, 6); n > 0; --n) {
    Form form = c.shared.oneIn(3) ? Form::Persistent : Form::Nonblocking;
    Spec spec = drawSpec(form, c.shared);
    avoidTestall |= avoid(c, spec, Habit::UsesTestall);
    spec.anyShape = c.shared.oneIn(3);
    bool skip;
    if (auto exchange = board(c, topology, spec, skip)) {
      if (form == Form::Persistent)
        exchange->initialize();
      exchanges.push_back(std::move(exchange));
      forms.push_back(form);
    }
    if (skip)
      return false;
  }
  if (exchanges.empty())
    return true;
  for (int rounds = c.shared.between(1, 3); rounds > 0; --rounds) {
    Flight flight(Random({c.local.next()}), !avoidTestall, c.report);
    std::vector<std::unique_ptr<Message>> messages;
    startRound(c, forms, exchanges, flight);
    for (int tag = c.shared.between(1000, 1003); tag > 1000; --tag) {
      messages.push_back(
          std::make_unique<Message>(topology.oracle, tag, c.shared.oneIn(2), 100 * tag + rounds));
      messages.back()->board(flight, c.report);
    }
    flight.finish();
  }
  return true;
}

// Starts one operation on a communicator; what then happens to what it was given is `after`.
template <typename After> bool startOne(Case &c, Spec spec, After after) {
  Topology topology = makeTopology(drawKind(c.shared), false, c.shared);
  bool skip;
  auto exchange = board(c, topology, spec, skip);
  if (!exchange)
    return !skip;
  exchange->prepare();
  MPI_Request request = exchange->start();
  after(topology, *exchange);
  c.report.expectSuccess(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  exchange->check();
  return true;
}

bool runFree(Case &c) {
  Spec spec = drawSpec(Form::Nonblocking, c.shared);
  spec.anyShape = true;
  bool freeComm = c.shared.oneIn(2);
  if (freeComm && avoid(c, spec, Habit::FreesCommunicator))
    return false;
  return startOne(c, spec, [&](Topology &topology, Exchange &exchange) {
    exchange.freeTypes();
    if (freeComm)
      MPI_Comm_free(&topology.comm);
  });
}

bool runArrays(Case &c) {
  Spec spec = drawSpec(c.shared.oneIn(2) ? Form::Nonblocking : Form::Persistent, c.shared);
  spec.spoilArrays = true;
  if (avoid(c, spec, Habit::SpoilsArrays))
    return false;
  return runSimple(c, drawKind(c.shared), false, spec);
}

bool runProgress(Case &c) {
  Spec spec = drawSpec(Form::Nonblocking, c.shared);
  spec.mostCount = c.shared.oneIn(2) ? 8 : 5000;
  int method = c.shared.between(0, kInsideMethods - 1);
  Topology topology = makeTopology(drawKind(c.shared), false, c.shared);
  bool skip;
  auto exchange = board(c, topology, spec, skip);
  if (!exchange)
    return !skip;
  int size;
  MPI_Comm_size(topology.comm, &size);
  runInside(*exchange, topology.oracle, method, c.shared.between(0, size - 1), c.report);
  return true;
}

} // namespace

const char kSubject[] =
    "MPI_Neighbor_* in all forms with single messages, one per edge, on random topologies";

const std::vector<Group> &groups() {
  static const std::vector<Group> all = {
      {"cart", "blocking, on grids of 1 to 4 dimensions", runCartesian},
      {"graph", "blocking, on graphs", runGraph},
      {"dist-graph", "blocking, on distributed graphs, adjacent and general", runDistGraph},
      {"derived", "every form, on duplicates of communicators and parts of grids", runDerived},
      {"types", "every form, derived datatypes of all shapes, different ones at both ends",
       runTypes},
      {"nonblocking", "one nonblocking call", runNonblocking},
      {"persistent", "started many times, its datatypes freed before", runPersistent},
      {"repeat", "equal calls, until one rank alone changes buffer, counts or datatype", runRepeat},
      {"flight", "several at once beside messages, completed in random order", runFlight},
      {"free", "datatypes and communicator freed while a call is in flight", runFree},
      {"arrays", "arrays of counts and types spoiled after the call: beyond the standard",
       runArrays},
      {"progress", "a call advances while its rank is inside other blocking calls", runProgress},
      {"large", "every form with counts of type MPI_Count, where the MPI has them", runLarge},
      {"repeated", "calls in the same memory that differ in sizes and places", runRepeated},
  };
  return all;
}

} // namespace conformance
