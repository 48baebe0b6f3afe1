// MPI requires that an operation gets on while its rank is in any call that waits, and in calls
// that it makes again and again. So in each of these calls one rank waits for the others, which
// first complete an operation that needs it. The judge knows nothing of colldsl: an MPI alone must
// pass, too.
#include "tests/mpi/InCalls.h"
#include "tests/mpi/UnderWay.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

namespace in_calls {

Bed &Bed::get() {
  static Bed bed;
  return bed;
}

void Bed::make(const char *self) {
  int rank, ranks;
  program = self;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_group(comm, &group);
  MPI_Comm_split(comm, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, comm, rank % 2 == 0 ? 1 : 0, kTag, &inter);
  std::vector<int> others;
  for (int r = 0; r < ranks; ++r)
    if (r != rank)
      others.push_back(r);
  MPI_Dist_graph_create_adjacent(comm, ranks - 1, others.data(), MPI_UNWEIGHTED, ranks - 1,
                                 others.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  sent.assign(static_cast<size_t>(ranks) * kMessage, 1);
  got.assign(sent.size(), 0);
}

void Bed::free() {
  for (MPI_Comm *made : {&graph, &inter, &half, &comm})
    MPI_Comm_free(made);
  MPI_Group_free(&group);
}

const char *fileName() {
  static const std::string name = [] {
    int number = getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const char *folder = std::getenv("TMPDIR");
    return (folder ? std::string(folder) : "/tmp") + "/in-calls." + std::to_string(number);
  }();
  return name.c_str();
}

namespace {

constexpr int kInts[] = {16 << 10, 256, 1 << 20};
constexpr int kSizes = 3;
constexpr useconds_t kLate = 500; // so that the early rank is in the call when the others start

struct Options {
  std::string_view only;
  int first = 0;        ///< of the combinations of form and size: that of the first function
  bool isEvery = false; ///< all combinations for each function
  bool skipsKnownFaults = false; ///< of the MPI itself
  bool isList = false, isChild = false;
  unsigned timeoutSeconds = 30; ///< of one call
};

char place[200];

void hang(int) {
  (void)!write(STDERR_FILENO, place, std::strlen(place));
  _exit(3);
}

/// False: the data is wrong.
bool run(const Waiter &waiter, Form form, int ints, int early, MPI_Comm comm, MPI_Comm graph) {
  Turn turn;
  MPI_Comm_rank(comm, &turn.rank);
  MPI_Comm_size(comm, &turn.ranks);
  turn.early = early;
  turn.partner = (early + 1) % turn.ranks;
  std::snprintf(place, sizeof place,
                "in-calls: rank %d hangs in MPI_%s (rank %d comes early) beside %s of %d ints\n",
                turn.rank, waiter.name, early, UnderWay::nameOf(form), ints);
  if (waiter.prepare)
    waiter.prepare(turn);
  UnderWay underWay(form, ints, early, comm, graph);
  MPI_Barrier(comm);
  if (!turn.isEarly())
    usleep(kLate);
  underWay.start();
  if (!turn.isEarly())
    underWay.wait();
  waiter.enter(turn);
  if (turn.isEarly())
    underWay.wait();
  if (waiter.finish)
    waiter.finish(turn);
  if (!underWay.isRight())
    std::fprintf(stderr, "in-calls: wrong data: %s", place);
  return underWay.isRight();
}

std::vector<Waiter> allWaiters() {
  std::vector<Waiter> all;
  for (auto waiters : {messageWaiters(), collectiveWaiters(), commWaiters(), processWaiters(),
                       windowWaiters(), fileWaiters()})
    all.insert(all.end(), waiters.begin(), waiters.end());
  return all;
}

/// Collective, once. MPICH 5.0.2 shares windows with no other process in some containers.
bool hasSharedWindows() {
  static const bool has = [] {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    void *memory;
    MPI_Win made;
    bool isMade =
        MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, comm, &memory, &made) == MPI_SUCCESS;
    if (isMade)
      MPI_Win_free(&made);
    MPI_Comm_free(&comm);
    return isMade;
  }();
  return has;
}

bool isBroken(const Waiter &waiter) {
  std::string_view name = waiter.name;
  if (name == "Win_allocate_shared" || name == "Win_sync")
    return !hasSharedWindows();
  // Open MPI 4.1 alone hangs there: between ranks of one job, and in some thirty spawns once.
  return COLLDSL_OPEN_MPI != 0 && COLLDSL_OPEN_MPI < 50000 &&
         (name == "Comm_connect" || name == "Comm_accept" || name.starts_with("Comm_spawn"));
}

/// Open MPI 4.1 alone hangs on three ranks that have opened files some twenty times.
bool isFragile(const Waiter &waiter) {
  std::string_view name = waiter.name;
  return COLLDSL_OPEN_MPI != 0 && COLLDSL_OPEN_MPI < 50000 &&
         (name == "File_open" || name == "File_close");
}

/// No MPI moves what is its own in MPI_Win_sync. MPICH moves collectives in no call for windows,
/// and hangs in and beside persistent ones.
bool isKnownFault(const Waiter &waiter, Form form) {
  std::string_view name = waiter.name;
  bool isPersistent = form == Form::AllreduceInit || form == Form::NeighborAlltoallInit;
  bool isOfWindow = false;
  for (const Waiter &known : windowWaiters())
    isOfWindow |= known.name == name;
  isPersistent |= name.ends_with("_init") && name != "Session_init";
  return name == "Win_sync" || (COLLDSL_MPICH != 0 && (isOfWindow || isPersistent));
}

/// How many have wrong data.
int runAll(const Options &options) {
  MPI_Comm comm, graph;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(Bed::get().graph, &graph);
  int ranks, wrong = 0, number = options.first;
  MPI_Comm_size(comm, &ranks);
  for (const Waiter &waiter : allWaiters()) {
    ++number;
    bool isWanted = options.only.empty() ? !isBroken(waiter) : options.only == waiter.name;
    if (!isWanted)
      continue;
    int combinations = options.isEvery && !isFragile(waiter) ? kForms * kSizes : 1;
    for (int i = 0; i < combinations; ++i) {
      int of = number + i;
      Form form = static_cast<Form>(of % kForms);
      if (options.skipsKnownFaults && isKnownFault(waiter, form))
        continue;
      alarm(options.timeoutSeconds);
      wrong += !run(waiter, form, kInts[of / kForms % kSizes], of % ranks, comm, graph);
    }
  }
  alarm(0);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&comm);
  return wrong;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    options.isList |= word == "--list";
    options.isChild |= word == "--child";
    options.isEvery |= word == "--every";
    options.skipsKnownFaults |= word == "--skip-known-faults";
    if (word == "--only" && i + 1 < argc)
      options.only = argv[++i];
    else if (word == "--first" && i + 1 < argc)
      options.first = std::atoi(argv[++i]);
    else if (word == "--timeout" && i + 1 < argc)
      options.timeoutSeconds = static_cast<unsigned>(std::atoi(argv[++i]));
  }
  return options;
}

void endAsChild() {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_disconnect(&parent);
}

int judge(const Options &options, const char *program) {
  int wrong, all, rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    std::fputs("in-calls: two ranks at least\n", stderr);
    return 2;
  }
  std::signal(SIGALRM, hang);
  Bed::get().make(program);
  (void)fileName();
  wrong = runAll(options);
  closeFile();
  Bed::get().free();
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%zu functions, %d wrong\n", allWaiters().size(), all);
  return all != 0;
}

} // namespace
} // namespace in_calls

int main(int argc, char **argv) {
  using namespace in_calls;
  Options options = parse(argc, argv);
  if (options.isList) {
    for (const Waiter &waiter : allWaiters())
      std::puts(waiter.name);
    return 0;
  }
  MPI_Init(&argc, &argv);
  int code = 0;
  if (options.isChild)
    endAsChild();
  else
    code = judge(options, argv[0]);
  MPI_Finalize();
  return code;
}
