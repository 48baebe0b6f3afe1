// From MPI_Init to MPI_Finalize, and the communicators between.
#include "mpi/CallSummary.h"
#include "mpi/EntryPoints.h"
#include "mpi/JobBegin.h"
#include "mpi/PrintMessage.h"
#include "mpi/Settings.h"
#include "mpi/comm/Duplication.h"
#include "mpi/comm/Parting.h"
#include "mpi/remote/RemoteRanks.h"
#include "mpi/types/Reductions.h"
#include "transports/shm/Sleep.h"

using namespace colldsl::mpi;

namespace {

// A program without collectives of all ranks pays for none in MPI_Finalize either.
void reportNoJob() {
  int rank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && Settings::ofThisRank().wantsSummary())
    printMessage(
        "colldsl: nothing was served: there was no blocking collective on MPI_COMM_WORLD\n");
}

int end(MPI_Comm, int, void *, void *) {
  if (!JobBegin::end()) {
    reportNoJob();
    return MPI_SUCCESS;
  }
  if (Job::current()) {
    Requests::all().end();
    KnownComms::leaveJob();
    if (Learning *learning = Job::current()->learning())
      learning->end(*Job::current());
    Job::end();
  }
  if (Settings::all().wantsSummary())
    Summary::all().print();
  return MPI_SUCCESS;
}

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last one first: programs release
// their objects that way, and need this library for it.
void endLast() {
  int key = MPI_KEYVAL_INVALID;
  real::Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
  real::Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  real::Comm_free_keyval(&key);
}

// Once the MPI has started threads, the kernel takes milliseconds to register a process for
// barriers.
void beforeInit() { colldsl::shm::registerWaker(); }

int begun(int code) {
  int threadLevel = MPI_THREAD_SINGLE;
  if (code != MPI_SUCCESS)
    return code;
  endLast();
  real::Query_thread(&threadLevel);
  JobBegin::expect(threadLevel);
  return code;
}

} // namespace

// Messages between nodes that go through the MPI can move in its other calls only if any thread may
// call it.
COLLDSL_ENTRY(Init, (int *argc, char ***argv)) {
  beforeInit();
  int provided = MPI_THREAD_SINGLE;
  return begun(RemoteRanks::mayBeOverMpi()
                   ? real::Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                   : real::Init(argc, argv));
}

COLLDSL_ENTRY(Init_thread, (int *argc, char ***argv, int required, int *provided)) {
  beforeInit();
  int level = RemoteRanks::mayBeOverMpi() ? MPI_THREAD_MULTIPLE : required;
  return begun(real::Init_thread(argc, argv, level, provided));
}

namespace {

// Returns false after an error, when `made` may be invalid.
bool isUnknown(int code, const MPI_Comm *made) {
  if (code != MPI_SUCCESS || !Job::current() || *made == MPI_COMM_NULL)
    return false;
  int isInter = 0;
  CommRecord *record = KnownComms::recordOf(*made);
  return (!record || !record->isKnown()) && real::Comm_test_inter(*made, &isInter) == MPI_SUCCESS &&
         !isInter;
}

// The ranks agree at once where calls that may not wait for others are to be served.
int adopted(int code, MPI_Comm *made, MPI_Info info = MPI_INFO_NULL, bool mayHaveTopology = true) {
  if (isUnknown(code, made))
    ServedComm::adopt(*Job::current(), *made, info, mayHaveTopology);
  return code;
}

int adoptedWithoutTopology(int code, MPI_Comm *made) {
  return adopted(code, made, MPI_INFO_NULL, false);
}

// No contexts are kept for it. Without a topology its ranks agree once its first calls are over.
int parted(int code, const Parting &parting, MPI_Comm *made) {
  if (code != MPI_SUCCESS || parting.keep(*made) || !FirstCalls().areOver())
    return code;
  return adoptedWithoutTopology(code, made);
}

int partedGrid(int code, const Parting &parting, MPI_Comm *made) {
  return code == MPI_SUCCESS && !parting.keep(*made) ? adopted(code, made) : code;
}

int duplicated(int code, MPI_Comm *made, MPI_Info info = MPI_INFO_NULL) {
  int topology = MPI_UNDEFINED;
  if (isUnknown(code, made))
    real::Topo_test(*made, &topology);
  return topology != MPI_UNDEFINED || FirstCalls().areOver() ? adopted(code, made, info) : code;
}

/// True if the communicator is known and its calls along a topology are served.
bool servesNeighbors(MPI_Comm comm) {
  CommRecord *record = KnownComms::recordOf(comm);
  std::shared_ptr<const CommFacts> facts = record ? record->facts(comm) : nullptr;
  return facts && facts->servesNeighbors;
}

// Applies the hints to a communicator that may be known already.
int withHints(int code, MPI_Comm *comm, MPI_Info info) {
  ServedComm *served =
      code == MPI_SUCCESS && servesNeighbors(*comm) ? KnownComms::of(*comm) : nullptr;
  if (!served)
    return duplicated(code, comm, info);
  served->setHints(*comm, info);
  return code;
}

} // namespace

COLLDSL_ENTRY(Cart_create, (MPI_Comm old, int ndims, const int dims[], const int periods[],
                            int reorder, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  Parting parting(old, Parting::Parts::Grid);
  return partedGrid(real::Cart_create(old, ndims, dims, periods, reorder, made), parting, made);
}

COLLDSL_ENTRY(Cart_sub, (MPI_Comm old, const int remain[], MPI_Comm *made)) {
  BackgroundProgress progress;
  Parting parting(old, Parting::Parts::Grids);
  return partedGrid(real::Cart_sub(old, remain, made), parting, made);
}

COLLDSL_ENTRY(Graph_create, (MPI_Comm old, int nnodes, const int index[], const int edges[],
                             int reorder, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  return adopted(real::Graph_create(old, nnodes, index, edges, reorder, made), made);
}

COLLDSL_ENTRY(Dist_graph_create, (MPI_Comm old, int n, const int sources[], const int degrees[],
                                  const int destinations[], const int weights[], MPI_Info info,
                                  int reorder, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  return adopted(
      real::Dist_graph_create(old, n, sources, degrees, destinations, weights, info, reorder, made),
      made, info);
}

COLLDSL_ENTRY(Dist_graph_create_adjacent,
              (MPI_Comm old, int indegree, const int sources[], const int sourceWeights[],
               int outdegree, const int destinations[], const int destinationWeights[],
               MPI_Info info, int reorder, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  return adopted(real::Dist_graph_create_adjacent(old, indegree, sources, sourceWeights, outdegree,
                                                  destinations, destinationWeights, info, reorder,
                                                  made),
                 made, info);
}

COLLDSL_ENTRY(Comm_dup, (MPI_Comm old, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  Duplication duplication(old, true);
  return duplicated(real::Comm_dup(old, made), made);
}

COLLDSL_ENTRY(Comm_dup_with_info, (MPI_Comm old, MPI_Info info, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  Duplication duplication(old, true);
  return withHints(real::Comm_dup_with_info(old, info, made), made, info);
}

// This entry must not wait for other ranks.
COLLDSL_ENTRY(Comm_idup, (MPI_Comm old, MPI_Comm *made, MPI_Request *request)) {
  Duplication duplication(old, false);
  return real::Comm_idup(old, made, request);
}

#ifdef COLLDSL_MPI_IDUP_WITH_INFO
COLLDSL_ENTRY(Comm_idup_with_info,
              (MPI_Comm old, MPI_Info info, MPI_Comm *made, MPI_Request *request)) {
  Duplication duplication(old, false);
  if (!servesNeighbors(old))
    return real::Comm_idup_with_info(old, info, made, request);
  Guard guard(*Job::current());
  InfoHints wanted = InfoHints().changedBy(info);
  std::shared_ptr<HintsQuery> query = HintsQuery::start(old, wanted);
  Job::current()->keep(query);
  int code = real::Comm_idup_with_info(old, info, made, request);
  if (code == MPI_SUCCESS && duplication.made())
    duplication.made()->setHintsLater(wanted, query);
  return code;
}
#endif

COLLDSL_ENTRY(Comm_set_info, (MPI_Comm comm, MPI_Info info)) {
  JobBegin::before(comm);
  BackgroundProgress progress;
  return withHints(real::Comm_set_info(comm, info), &comm, info);
}

// MPIs drop keys that they do not know, or keep them without regard to other ranks.
COLLDSL_ENTRY(Comm_get_info, (MPI_Comm comm, MPI_Info *used)) {
  int code = real::Comm_get_info(comm, used);
  ServedComm *served =
      code == MPI_SUCCESS && servesNeighbors(comm) ? KnownComms::of(comm) : nullptr;
  if (!served)
    return code;
  Guard guard(*Job::current());
  served->applyAgreedHints();
  served->hints().agreed().putInto(*used);
  return code;
}

// A run that is under way, or one that starts later, may still call the operator.
COLLDSL_ENTRY(Op_free, (MPI_Op * op)) {
  if (!Job::current() || !op || *op == MPI_OP_NULL)
    return real::Op_free(op);
  Guard guard(*Job::current());
  Reduction::countFreed();
  if (!Requests::hasAny())
    return real::Op_free(op);
  Job::current()->keep(std::exchange(*op, MPI_OP_NULL));
  return MPI_SUCCESS;
}

COLLDSL_ENTRY(Type_free, (MPI_Datatype * type)) {
  if (!Job::current() || !type || !Job::current()->typesInUse().take(*type))
    return real::Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

COLLDSL_ENTRY(Comm_split, (MPI_Comm old, int color, int key, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  Parting parting(old, Parting::Parts::Any);
  return parted(real::Comm_split(old, color, key, made), parting, made);
}

COLLDSL_ENTRY(Comm_split_type, (MPI_Comm old, int kind, int key, MPI_Info info, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  Parting parting(old, Parting::Parts::Any);
  return parted(real::Comm_split_type(old, kind, key, info, made), parting, made);
}

COLLDSL_ENTRY(Comm_create, (MPI_Comm old, MPI_Group group, MPI_Comm *made)) {
  JobBegin::before(old);
  BackgroundProgress progress;
  Parting parting(old, Parting::Parts::Any);
  return parted(real::Comm_create(old, group, made), parting, made);
}

#ifdef COLLDSL_MPI_SESSIONS
COLLDSL_ENTRY(Comm_create_from_group, (MPI_Group group, const char *tag, MPI_Info info,
                                       MPI_Errhandler handler, MPI_Comm *made)) {
  BackgroundProgress progress;
  return adoptedWithoutTopology(real::Comm_create_from_group(group, tag, info, handler, made),
                                made);
}
#endif

COLLDSL_ENTRY(Comm_create_group, (MPI_Comm old, MPI_Group group, int tag, MPI_Comm *made)) {
  BackgroundProgress progress;
  return adoptedWithoutTopology(real::Comm_create_group(old, group, tag, made), made);
}
