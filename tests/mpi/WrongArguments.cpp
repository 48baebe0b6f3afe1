// Calls with wrong arguments, one after the other: the error class that each returns on each rank.
// Knows nothing of colldsl: wrong_arguments.py compares what it prints with colldsl and without.
#include "mpi/Mpi.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

// The call that is under way is given up after so long.
constexpr unsigned kSeconds = 5;

int rankOfWorld = 0, ranksOfWorld = 1;

enum class Form { Blocking, Nonblocking, Persistent };

/// The arguments of any collective; at first nothing is wrong with them: an int for each rank.
struct Arguments {
  std::vector<int> sent, got, ones, places;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> typesOut, typesIn;
  MPI_Request made = MPI_REQUEST_NULL;

  void *sbuf, *rbuf;
  int scount = 1, rcount = 1;
  MPI_Datatype stype = MPI_INT, rtype = MPI_INT;
  int *scounts, *rcounts, *sdispls, *rdispls;
  MPI_Aint *sbytes, *rbytes;
  MPI_Datatype *stypes, *rtypes;
  int root = 0;
  MPI_Op op = MPI_SUM;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request *request = &made;

  explicit Arguments(int slots)
      : sent(static_cast<size_t>(slots), 1), got(sent.size()), ones(sent.size(), 1),
        typesOut(sent.size(), MPI_INT), typesIn(typesOut), sbuf(sent.data()), rbuf(got.data()) {
    for (int slot = 0; slot < slots; ++slot) {
      places.push_back(slot);
      bytes.push_back(slot * static_cast<MPI_Aint>(sizeof(int)));
    }
    scounts = rcounts = ones.data();
    sdispls = rdispls = places.data();
    sbytes = rbytes = bytes.data();
    stypes = typesOut.data();
    rtypes = typesIn.data();
  }
};

#define COLLECTIVE(name, lower, ...)                                                               \
#name, [](Form form, Arguments &a) {                                                             \
    if (form == Form::Blocking)                                                                    \
      return MPI_##name(__VA_ARGS__);                                                              \
    return form == Form::Nonblocking                                                               \
               ? MPI_I##lower(__VA_ARGS__, a.request)                                              \
               : COLLDSL_MPI_PERSISTENT(name##_init)(__VA_ARGS__, MPI_INFO_NULL, a.request);       \
  }

// Of the arguments that it takes, as the faults name them.
struct Collective {
  const char *name;
  int (*make)(Form form, Arguments &a);
  std::string_view takes;
  bool isAlongTopology() const { return std::strncmp(name, "Neighbor", 8) == 0; }
  bool has(std::string_view argument) const {
    std::string word = " " + std::string(argument) + " ";
    return (" " + std::string(takes) + " ").find(word) != std::string::npos;
  }
};

#define ONE_EACH a.sbuf, a.scount, a.stype, a.rbuf, a.rcount, a.rtype
#define LISTED a.sbuf, a.scounts, a.sdispls, a.stype, a.rbuf, a.rcounts, a.rdispls, a.rtype, a.comm
#define COMBINED a.sbuf, a.rbuf, a.scount, a.stype, a.op

const Collective kCollectives[] = {
    {COLLECTIVE(Barrier, barrier, a.comm), ""},
    {COLLECTIVE(Bcast, bcast, a.rbuf, a.rcount, a.rtype, a.root, a.comm), "rbuf rcount rtype root"},
    {COLLECTIVE(Gather, gather, ONE_EACH, a.root, a.comm),
     "sbuf scount stype rbuf rcount rtype root alias"},
    {COLLECTIVE(Scatter, scatter, ONE_EACH, a.root, a.comm),
     "sbuf scount stype rbuf rcount rtype root alias"},
    {COLLECTIVE(Gatherv, gatherv, a.sbuf, a.scount, a.stype, a.rbuf, a.rcounts, a.rdispls, a.rtype,
                a.root, a.comm),
     "sbuf scount stype rbuf rcounts rdispls rtype root alias"},
    {COLLECTIVE(Scatterv, scatterv, a.sbuf, a.scounts, a.sdispls, a.stype, a.rbuf, a.rcount,
                a.rtype, a.root, a.comm),
     "sbuf scounts sdispls stype rbuf rcount rtype root alias"},
    {COLLECTIVE(Allgather, allgather, ONE_EACH, a.comm),
     "sbuf scount stype rbuf rcount rtype alias"},
    {COLLECTIVE(Allgatherv, allgatherv, a.sbuf, a.scount, a.stype, a.rbuf, a.rcounts, a.rdispls,
                a.rtype, a.comm),
     "sbuf scount stype rbuf rcounts rdispls rtype alias"},
    {COLLECTIVE(Alltoall, alltoall, ONE_EACH, a.comm), "sbuf scount stype rbuf rcount rtype alias"},
    {COLLECTIVE(Alltoallv, alltoallv, LISTED),
     "sbuf scounts sdispls stype rbuf rcounts rdispls rtype alias"},
    {COLLECTIVE(Alltoallw, alltoallw, a.sbuf, a.scounts, a.sdispls, a.stypes, a.rbuf, a.rcounts,
                a.rdispls, a.rtypes, a.comm),
     "sbuf scounts sdispls stypes rbuf rcounts rdispls rtypes alias"},
    {COLLECTIVE(Reduce, reduce, COMBINED, a.root, a.comm), "sbuf rbuf scount stype op root alias"},
    {COLLECTIVE(Allreduce, allreduce, COMBINED, a.comm), "sbuf rbuf scount stype op alias"},
    {COLLECTIVE(Scan, scan, COMBINED, a.comm), "sbuf rbuf scount stype op alias"},
    {COLLECTIVE(Exscan, exscan, COMBINED, a.comm), "sbuf rbuf scount stype op alias"},
    {COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, COMBINED, a.comm),
     "sbuf rbuf scount stype op alias"},
    {COLLECTIVE(Reduce_scatter, reduce_scatter, a.sbuf, a.rbuf, a.rcounts, a.stype, a.op, a.comm),
     "sbuf rbuf rcounts stype op alias"},
    {COLLECTIVE(Neighbor_allgather, neighbor_allgather, ONE_EACH, a.comm),
     "sbuf scount stype rbuf rcount rtype"},
    {COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, a.sbuf, a.scount, a.stype, a.rbuf,
                a.rcounts, a.rdispls, a.rtype, a.comm),
     "sbuf scount stype rbuf rcounts rdispls rtype"},
    {COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, ONE_EACH, a.comm),
     "sbuf scount stype rbuf rcount rtype"},
    {COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, LISTED),
     "sbuf scounts sdispls stype rbuf rcounts rdispls rtype"},
    {COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, a.sbuf, a.scounts, a.sbytes, a.stypes,
                a.rbuf, a.rcounts, a.rbytes, a.rtypes, a.comm),
     "sbuf scounts sbytes stypes rbuf rcounts rbytes rtypes"},
};

MPI_Datatype notCommitted() {
  static MPI_Datatype made = [] {
    MPI_Datatype type;
    MPI_Type_contiguous(1, MPI_INT, &type);
    return type;
  }();
  return made;
}

/// `of`: the arguments that a collective must have; empty: none.
struct Fault {
  const char *name;
  std::string_view of;
  void (*spoil)(Arguments &a);
};

const Fault kFaults[] = {
    {"no communicator", "", [](Arguments &a) { a.comm = MPI_COMM_NULL; }},
    {"no request", "", [](Arguments &a) { a.request = nullptr; }},
    {"root -7", "root", [](Arguments &a) { a.root = -7; }},
    {"root too large", "root", [](Arguments &a) { a.root = ranksOfWorld; }},
    {"negative scount", "scount", [](Arguments &a) { a.scount = -1; }},
    {"negative rcount", "rcount", [](Arguments &a) { a.rcount = -1; }},
    {"negative scounts", "scounts", [](Arguments &a) { a.ones.back() = -1; }},
    {"negative rcounts", "rcounts", [](Arguments &a) { a.ones.back() = -1; }},
    {"no scounts", "scounts", [](Arguments &a) { a.scounts = nullptr; }},
    {"no rcounts", "rcounts", [](Arguments &a) { a.rcounts = nullptr; }},
    {"no sdispls", "sdispls", [](Arguments &a) { a.sdispls = nullptr; }},
    {"no rdispls", "rdispls", [](Arguments &a) { a.rdispls = nullptr; }},
    {"no sdispls in bytes", "sbytes", [](Arguments &a) { a.sbytes = nullptr; }},
    {"no rdispls in bytes", "rbytes", [](Arguments &a) { a.rbytes = nullptr; }},
    {"no stypes", "stypes", [](Arguments &a) { a.stypes = nullptr; }},
    {"no rtypes", "rtypes", [](Arguments &a) { a.rtypes = nullptr; }},
    {"null stype", "stype", [](Arguments &a) { a.stype = MPI_DATATYPE_NULL; }},
    {"null rtype", "rtype", [](Arguments &a) { a.rtype = MPI_DATATYPE_NULL; }},
    {"null type in stypes", "stypes", [](Arguments &a) { a.typesOut.back() = MPI_DATATYPE_NULL; }},
    {"null type in rtypes", "rtypes", [](Arguments &a) { a.typesIn.back() = MPI_DATATYPE_NULL; }},
    {"null stype, count 0", "stype",
     [](Arguments &a) {
       a.stype = MPI_DATATYPE_NULL;
       a.scount = a.rcount = 0;
       a.ones.assign(a.ones.size(), 0);
     }},
    {"null rtype, count 0", "rtype",
     [](Arguments &a) {
       a.rtype = MPI_DATATYPE_NULL;
       a.scount = a.rcount = 0;
       a.ones.assign(a.ones.size(), 0);
     }},
    {"null types, counts 0", "stypes",
     [](Arguments &a) {
       a.typesIn.assign(a.ones.size(), MPI_DATATYPE_NULL);
       a.typesOut = a.typesIn;
       a.ones.assign(a.ones.size(), 0);
     }},
    {"uncommitted stype", "stype", [](Arguments &a) { a.stype = notCommitted(); }},
    {"uncommitted rtype", "rtype", [](Arguments &a) { a.rtype = notCommitted(); }},
    {"uncommitted type in stypes", "stypes",
     [](Arguments &a) { a.typesOut.back() = notCommitted(); }},
    {"no operator", "op", [](Arguments &a) { a.op = MPI_OP_NULL; }},
    {"MPI_REPLACE", "op", [](Arguments &a) { a.op = MPI_REPLACE; }},
    {"an operator for other types", "op",
     [](Arguments &a) {
       a.stype = MPI_FLOAT;
       a.op = MPI_BAND;
     }},
    {"no sbuf", "sbuf", [](Arguments &a) { a.sbuf = nullptr; }},
    {"no rbuf", "rbuf", [](Arguments &a) { a.rbuf = nullptr; }},
    {"in place, in rbuf", "rbuf", [](Arguments &a) { a.rbuf = MPI_IN_PLACE; }},
    {"in place on all ranks, in sbuf", "sbuf", [](Arguments &a) { a.sbuf = MPI_IN_PLACE; }},
    {"sbuf is rbuf", "alias", [](Arguments &a) { a.sbuf = a.rbuf; }},
    {"sbuf is the own block of rbuf", "alias",
     [](Arguments &a) { a.sbuf = a.got.data() + rankOfWorld; }},
    {"rbuf is the own block of sbuf", "alias",
     [](Arguments &a) { a.rbuf = a.sent.data() + rankOfWorld; }},
};

bool applies(const Fault &fault, const Collective &collective, Form form) {
  if (std::strcmp(fault.name, "no request") == 0)
    return form != Form::Blocking;
  return fault.of.empty() || collective.has(fault.of);
}

/// A grid whose ranks form a ring: two neighbours each.
MPI_Comm makeRing() {
  int isPeriodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranksOfWorld, &isPeriodic, 0, &ring);
  return ring;
}

int complete(int code, Form form, MPI_Request &request) {
  if (code != MPI_SUCCESS || form == Form::Blocking || request == MPI_REQUEST_NULL)
    return code;
  if (form == Form::Persistent)
    code = MPI_Start(&request);
  if (code == MPI_SUCCESS)
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL)
    MPI_Request_free(&request);
  return code;
}

int makeWrong(const Collective &collective, Form form, const Fault &fault) {
  MPI_Comm comm;
  if (collective.isAlongTopology())
    comm = makeRing();
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  Arguments a(collective.isAlongTopology() ? 2 : ranksOfWorld);
  a.comm = comm;
  fault.spoil(a);
  return complete(collective.make(form, a), form, a.made); // what failed keeps its communicator
}

struct Case {
  std::string name;
  std::function<int()> make;
};

const char *spell(Form form) {
  return form == Form::Blocking ? "" : form == Form::Nonblocking ? "nonblocking " : "persistent ";
}

void addCollectives(std::vector<Case> &cases) {
  for (const Collective &collective : kCollectives)
    for (Form form : {Form::Blocking, Form::Nonblocking, Form::Persistent})
      for (const Fault &fault : kFaults)
        if (applies(fault, collective, form))
          cases.push_back({std::string(spell(form)) + collective.name + ": " + fault.name,
                           [&, form] { return makeWrong(collective, form, fault); }});
}

void addConstructors(std::vector<Case> &cases) {
  static MPI_Comm made;
  static MPI_Request request;
  static MPI_Info info;
  static void *memory;
  static int one = 1, minus = -1, zero = 0, size = ranksOfWorld, twice = 2 * ranksOfWorld;
  static int *none = nullptr;
  static MPI_Group group = [] {
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    return all;
  }();
  const MPI_Comm world = MPI_COMM_WORLD;
  auto add = [&](const char *name, std::function<int()> make) {
    cases.push_back({name, std::move(make)});
  };
  add("Cart_create: no result", [=] { return MPI_Cart_create(world, 1, &size, &one, 0, nullptr); });
  add("Cart_create: no communicator",
      [=] { return MPI_Cart_create(MPI_COMM_NULL, 1, &size, &one, 0, &made); });
  add("Cart_create: -1 dimensions",
      [=] { return MPI_Cart_create(world, -1, &size, &one, 0, &made); });
  add("Cart_create: a dimension of -1",
      [=] { return MPI_Cart_create(world, 1, &minus, &one, 0, &made); });
  add("Cart_create: too many ranks",
      [=] { return MPI_Cart_create(world, 1, &twice, &one, 0, &made); });
  add("Cart_create: no dimensions",
      [=] { return MPI_Cart_create(world, 1, none, &one, 0, &made); });
  add("Cart_create: no periods", [=] { return MPI_Cart_create(world, 1, &size, none, 0, &made); });
  add("Cart_sub: of no grid", [=] { return MPI_Cart_sub(world, &one, &made); });
  add("Cart_sub: no communicator", [=] { return MPI_Cart_sub(MPI_COMM_NULL, &one, &made); });
  add("Cart_sub: no result", [=] { return MPI_Cart_sub(makeRing(), &one, nullptr); });
  add("Cart_sub: no dimensions", [=] { return MPI_Cart_sub(makeRing(), none, &made); });
  add("Graph_create: no result",
      [=] { return MPI_Graph_create(world, 1, &one, &zero, 0, nullptr); });
  add("Graph_create: no communicator",
      [=] { return MPI_Graph_create(MPI_COMM_NULL, 1, &one, &zero, 0, &made); });
  add("Graph_create: -1 nodes", [=] { return MPI_Graph_create(world, -1, &one, &zero, 0, &made); });
  add("Graph_create: an edge to rank -1",
      [=] { return MPI_Graph_create(world, 1, &one, &minus, 0, &made); });
  add("Graph_create: no index", [=] { return MPI_Graph_create(world, 1, none, &zero, 0, &made); });
  auto adjacent = [=](MPI_Comm comm, int in, const int *from, int out, const int *to, MPI_Comm *c) {
    return MPI_Dist_graph_create_adjacent(comm, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, c);
  };
  add("Dist_graph_create_adjacent: no result",
      [=] { return adjacent(world, 1, &zero, 1, &zero, nullptr); });
  add("Dist_graph_create_adjacent: no communicator",
      [=] { return adjacent(MPI_COMM_NULL, 1, &zero, 1, &zero, &made); });
  add("Dist_graph_create_adjacent: degree -1",
      [=] { return adjacent(world, -1, &zero, 1, &zero, &made); });
  add("Dist_graph_create_adjacent: source -7", [=] {
    int source = -7;
    return adjacent(world, 1, &source, 1, &zero, &made);
  });
  add("Dist_graph_create_adjacent: a destination too large",
      [=] { return adjacent(world, 1, &zero, 1, &twice, &made); });
  add("Dist_graph_create_adjacent: no sources",
      [=] { return adjacent(world, 1, none, 1, &zero, &made); });
  auto graph = [=](MPI_Comm comm, int n, const int *from, const int *degrees, const int *to,
                   MPI_Comm *c) {
    return MPI_Dist_graph_create(comm, n, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, c);
  };
  add("Dist_graph_create: no result", [=] { return graph(world, 1, &zero, &one, &zero, nullptr); });
  add("Dist_graph_create: no communicator",
      [=] { return graph(MPI_COMM_NULL, 1, &zero, &one, &zero, &made); });
  add("Dist_graph_create: -1 sources", [=] { return graph(world, -1, &zero, &one, &zero, &made); });
  add("Dist_graph_create: degree -1", [=] { return graph(world, 1, &zero, &minus, &zero, &made); });
  add("Dist_graph_create: source -1", [=] { return graph(world, 1, &minus, &one, &zero, &made); });
  add("Dist_graph_create: no sources", [=] { return graph(world, 1, none, &one, &zero, &made); });
  add("Comm_split: color -7", [=] { return MPI_Comm_split(world, -7, 0, &made); });
  add("Comm_split: no result", [=] { return MPI_Comm_split(world, 0, 0, nullptr); });
  add("Comm_split: no communicator", [=] { return MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made); });
  add("Comm_split_type: no such type",
      [=] { return MPI_Comm_split_type(world, -7, 0, MPI_INFO_NULL, &made); });
  add("Comm_split_type: no result",
      [=] { return MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, nullptr); });
  add("Comm_split_type: no communicator", [=] {
    return MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  });
  add("Comm_create: no group", [=] { return MPI_Comm_create(world, MPI_GROUP_NULL, &made); });
  add("Comm_create: no result", [=] { return MPI_Comm_create(world, group, nullptr); });
  add("Comm_create: no communicator", [=] { return MPI_Comm_create(MPI_COMM_NULL, group, &made); });
  add("Comm_create_group: no group",
      [=] { return MPI_Comm_create_group(world, MPI_GROUP_NULL, 0, &made); });
  add("Comm_create_group: tag -7", [=] { return MPI_Comm_create_group(world, group, -7, &made); });
  add("Comm_create_group: no result",
      [=] { return MPI_Comm_create_group(world, group, 0, nullptr); });
  add("Comm_create_group: no communicator",
      [=] { return MPI_Comm_create_group(MPI_COMM_NULL, group, 0, &made); });
  add("Comm_dup: no result", [=] { return MPI_Comm_dup(world, nullptr); });
  add("Comm_dup: no communicator", [=] { return MPI_Comm_dup(MPI_COMM_NULL, &made); });
  add("Comm_dup_with_info: no result",
      [=] { return MPI_Comm_dup_with_info(world, MPI_INFO_NULL, nullptr); });
  add("Comm_dup_with_info: no communicator",
      [=] { return MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &made); });
  add("Comm_idup: no result", [=] { return MPI_Comm_idup(world, nullptr, &request); });
  add("Comm_idup: no request", [=] { return MPI_Comm_idup(world, &made, nullptr); });
  add("Comm_idup: no communicator", [=] { return MPI_Comm_idup(MPI_COMM_NULL, &made, &request); });
  add("Comm_set_info: no communicator",
      [=] { return MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL); });
  add("Comm_set_info: no info", [=] { return MPI_Comm_set_info(makeRing(), MPI_INFO_NULL); });
  add("Comm_get_info: no communicator", [=] { return MPI_Comm_get_info(MPI_COMM_NULL, &info); });
  add("Comm_get_info: no result", [=] { return MPI_Comm_get_info(makeRing(), nullptr); });
  add("Op_free: nothing", [] { return MPI_Op_free(nullptr); });
  add("Op_free: no operator", [] {
    MPI_Op op = MPI_OP_NULL;
    return MPI_Op_free(&op);
  });
  add("Op_free: of MPI", [] {
    MPI_Op op = MPI_SUM;
    return MPI_Op_free(&op);
  });
  add("Type_free: nothing", [] { return MPI_Type_free(nullptr); });
  add("Type_free: no type", [] {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    return MPI_Type_free(&type);
  });
  add("Type_free: of MPI", [] {
    MPI_Datatype type = MPI_INT;
    return MPI_Type_free(&type);
  });
  add("Alloc_mem: -1 bytes", [] { return MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory); });
  add("Alloc_mem: no result", [] { return MPI_Alloc_mem(8, MPI_INFO_NULL, nullptr); });
}

const char *nameOfClass(int errorClass) {
  struct Row {
    int errorClass;
    const char *name;
  };
#define CLASS(name)                                                                                \
  { MPI_ERR_##name, #name }
  static const Row rows[] = {CLASS(BUFFER),  CLASS(COUNT),    CLASS(TYPE),     CLASS(TAG),
                             CLASS(COMM),    CLASS(RANK),     CLASS(ROOT),     CLASS(GROUP),
                             CLASS(OP),      CLASS(ARG),      CLASS(TOPOLOGY), CLASS(DIMS),
                             CLASS(UNKNOWN), CLASS(TRUNCATE), CLASS(OTHER),    CLASS(INTERN),
                             CLASS(REQUEST), CLASS(INFO),     CLASS(NO_MEM)};
#undef CLASS
  for (const Row &row : rows)
    if (row.errorClass == errorClass)
      return row.name;
  return errorClass == MPI_SUCCESS ? "SUCCESS" : "another one";
}

void printCase(size_t number, const Case &c, int code) {
  int mine = code;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &mine);
  std::vector<int> all(static_cast<size_t>(ranksOfWorld));
  MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rankOfWorld != 0)
    return;
  std::printf("%zu %s =", number, c.name.c_str());
  for (int errorClass : all)
    std::printf(" %s", nameOfClass(errorClass));
  std::printf("\n");
  std::fflush(stdout);
}

/// Each case begins with a line of its number and name, and ends with the same and the classes.
void run(const std::vector<Case> &cases, size_t from, const std::set<size_t> &skipped) {
  for (size_t i = from; i < cases.size(); ++i) {
    if (skipped.count(i) != 0)
      continue;
    if (rankOfWorld == 0) {
      std::printf("%zu %s\n", i, cases[i].name.c_str());
      std::fflush(stdout);
    }
    alarm(kSeconds);
    printCase(i, cases[i], cases[i].make());
    alarm(0);
  }
}

} // namespace

// wrong-arguments --list | FROM [SKIPPED...]: numbers of cases.
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rankOfWorld);
  MPI_Comm_size(MPI_COMM_WORLD, &ranksOfWorld);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::vector<Case> cases;
  addCollectives(cases);
  addConstructors(cases);
  std::set<size_t> skipped;
  for (int i = 2; i < argc; ++i)
    skipped.insert(std::strtoul(argv[i], nullptr, 10));
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0)
    for (size_t i = 0; i < cases.size() && rankOfWorld == 0; ++i)
      std::printf("%zu %s\n", i, cases[i].name.c_str());
  else
    run(cases, argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0, skipped);
  MPI_Finalize();
}
