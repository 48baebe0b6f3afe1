// Contexts, communicators, libraries and graphs.
#include "api/Handles.h"
#include "program/library/StandardLibrary.h"

#include "ir/Concat.h"
#include "ir/Printable.h"
#include "runtime/MemoryReserve.h"
#include "runtime/job/LocalRanks.h"
#include "select/DecisionRules.h"
#include "topology/ProfileFile.h"
#include "wireup/BoundThreads.h"
#include "wireup/Launcher.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unistd.h>

using namespace colldsl;
using namespace colldsl::api;

namespace {

/// The options of an older program end earlier: the rest has its defaults.
Result<colldsl_options> wholeOptions(const colldsl_options *given) {
  constexpr size_t kLeast = offsetof(colldsl_options, least_proof);
  if (given->size < kLeast || given->size > sizeof(colldsl_options))
    return Status::error(concat("the options have ", given->size, " bytes, not ",
                                sizeof(colldsl_options), "; fill them with COLLDSL_OPTIONS_INIT"));
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  std::memcpy(&options, given, given->size);
  return options;
}

Status checkOptions(const colldsl_options &options) {
  if (static_cast<unsigned>(options.least_proof) >= kProofLevels)
    return Status::error(concat("there is no proof ", static_cast<int>(options.least_proof)));
  if (!(options.setup_timeout >= 0))
    return Status::error("the timeout for setting up is not a number of seconds");
  if (options.topology)
    if (Result<Topology> known = Topology::make(concat(options.topology, " oversubscribe"), 1);
        !known)
      return known.status();
  return {};
}

/// The least proof that the options ask for, else the one that the environment does.
Result<ProofLevel> leastProofOf(const colldsl_options &options) {
  const char *word = std::getenv("COLLDSL_PROOF");
  if (options.least_proof != COLLDSL_PROOF_NONE || !word || !*word)
    return static_cast<ProofLevel>(options.least_proof);
  if (std::optional<ProofLevel> level = proofLevelOf(word))
    return *level;
  return Status::error(
      concat("COLLDSL_PROOF is none of report, require and all-ranks: '", word, "'"));
}

Status apply(const colldsl_options &options, colldsl_context &context) {
  if (options.network) {
    Result<Network> network = Network::parse(options.network);
    if (!network)
      return network.status();
    context.network = network.take();
  }
  if (options.topology)
    context.topology = options.topology;
  context.bindToCores = options.bind_to_cores != 0;
  if (options.arena_bytes != 0)
    context.shm.arenaBytes = options.arena_bytes;
  if (options.no_single_copy != 0)
    context.shm.singleCopy = shm::SingleCopy::Off;
  if (options.setup_timeout > 0)
    context.shm.bootstrapTimeout = *toTimeout(options.setup_timeout);
  Result<ProofLevel> leastProof = leastProofOf(options);
  if (!leastProof)
    return leastProof.status();
  context.compile.leastProof = *leastProof;
  if (options.passes)
    context.compile.passes = options.passes;
  context.strictTransfers = options.strict_transfers != 0;
  context.graphOrder.isOn = options.no_graph_order == 0;
  if (options.max_gathered_edges != 0)
    context.graphOrder.gatherAtMost = options.max_gathered_edges;
  if (options.interrupted)
    context.shm.isInterrupted = [interrupted = options.interrupted, user = options.user] {
      return interrupted(user) != 0;
    };
  if (options.warn)
    context.shm.warn = [warn = options.warn, user = options.user](const std::string &message) {
      warn(message.c_str(), user);
    };
  return {};
}

/// The topology of ranks that run on these hardware threads of this machine.
Result<Topology> topologyOf(const colldsl_context &context, std::span<const uint32_t> pus) {
  if (!context.topology.empty())
    return Topology::make(context.topology, static_cast<uint32_t>(pus.size()));
  return Topology::onThisMachine(pus);
}

Oob oobOf(const colldsl_bootstrap &bootstrap) {
  Oob oob;
  oob.rank = bootstrap.rank;
  oob.numRanks = bootstrap.size;
  oob.allgather = [&](const void *mine, void *all, size_t bytes) {
    int code = bootstrap.allgather(mine, all, bytes, bootstrap.user);
    return code == 0 ? Status() : Status::error(concat("the launcher's allgather returned ", code));
  };
  if (bootstrap.barrier)
    oob.barrier = [&] {
      int code = bootstrap.barrier(bootstrap.user);
      return code == 0 ? Status() : Status::error(concat("the launcher's barrier returned ", code));
    };
  return oob;
}

// The launcher of this process. Lives until the process ends, because a process may query its
// launcher only once.
Result<Oob> ownLauncher() {
  static const Result<std::unique_ptr<Launcher>> found = Launcher::find();
  if (!found)
    return found.status();
  if (*found && (*found)->numRanks() > 1)
    return (*found)->oob();
  Oob alone;
  alone.allgather = [](const void *mine, void *all, size_t bytes) {
    std::memcpy(all, mine, bytes);
    return Status();
  };
  return alone;
}

using RankResult = Result<std::vector<std::byte>>;

RankResult runBody(const colldsl_context &context, const Topology &topology, colldsl_body body,
                   void *user, Endpoint &endpoint) {
  MemoryReserve::begin();
  colldsl_comm comm{Communicator(endpoint, topology),
                    context.graphOrder,
                    context.compiler,
                    context.strictTransfers,
                    true,
                    tunedLibrary() != nullptr};
  int code = body(&comm, user);
  std::fflush(nullptr); // the process ends without doing so
  if (code != 0)
    return Status::error(concat("rank ", index(endpoint.rank()), " returned ", code));
  return std::vector<std::byte>();
}

} // namespace

Result<Library *> api::standardLibrary() {
  static Result<std::unique_ptr<Library>> library = viewStandardLibrary();
  if (!library)
    return library.status();
  return library->get();
}

namespace {

bool isVerbose() {
  const char *word = std::getenv("COLLDSL_VERBOSE");
  return word && std::strcmp(word, "1") == 0;
}

std::unique_ptr<Library> openTuned() {
  OwnProfile own = readOwnProfile();
  std::string problem = own.problem;
  if (own.profile && !own.profile->decisions.empty()) {
    Result<std::unique_ptr<Library>> library = viewStandardLibrary();
    Status s = library ? prefer(**library, *own.profile) : library.status();
    if (s)
      return library.take();
    problem = s.message();
  }
  if (!problem.empty() && isVerbose())
    std::fprintf(stderr, "colldsl: the machine profile is not used: %s\n",
                 printable(problem).c_str());
  return nullptr;
}

} // namespace

// Reads the environment each time, because a process may change it between communicators.
Library *api::tunedLibrary() {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Library>> libraries;
  std::lock_guard lock(mutex);
  auto [known, isNew] = libraries.try_emplace(profilePath());
  if (isNew)
    known->second = openTuned();
  return known->second.get();
}

colldsl_status colldsl_context_create(const colldsl_options *options, colldsl_context **context) {
  return guarded({{"context", context}}, [&] {
    auto made = std::make_unique<colldsl_context>();
    shm::measureOrUseKnown(made->shm);
    colldsl_options usual = COLLDSL_OPTIONS_INIT;
    Result<colldsl_options> all = wholeOptions(options ? options : &usual);
    Status s = all ? checkOptions(*all) : all.status();
    if (s)
      s = apply(*all, *made);
    if (!s)
      return report(s, COLLDSL_ERROR_ARGUMENT);
    Result<std::shared_ptr<const PlanCompiler>> compiler = PlanCompiler::make(made->compile);
    if (!compiler)
      return report(compiler.status(), COLLDSL_ERROR_ARGUMENT);
    made->compiler = compiler.take();
    *context = made.release();
    return COLLDSL_OK;
  });
}

void colldsl_context_destroy(colldsl_context *context) { delete context; }

colldsl_status colldsl_fork(colldsl_context *context, uint32_t ranks, colldsl_body body, void *user,
                            double timeout) {
  auto *code = reinterpret_cast<const void *>(body);
  return guarded({{"context", context}, {"body", code}}, [&] {
    Result<std::chrono::nanoseconds> limit = toTimeout(timeout);
    if (!limit)
      return report(limit.status(), COLLDSL_ERROR_ARGUMENT);
    if (ranks == 0)
      return fail(COLLDSL_ERROR_ARGUMENT, "there is nothing to do for 0 ranks");
    std::vector<std::vector<uint32_t>> allowed(ranks, allowedPus());
    Result<Topology> topology = topologyOf(*context, spreadRanks(allowed));
    if (!topology)
      return report(topology.status(), COLLDSL_ERROR_SETUP);
    LocalOptions options;
    options.numRanks = ranks;
    options.bindToCores = context->bindToCores;
    options.shm = context->shm;
    options.timeout = *limit;
    tunedLibrary();       // read once, for all ranks
    std::fflush(nullptr); // else every rank prints the unwritten rest too
    auto outcomes = runLocalRanks(options, [&](Endpoint &endpoint) {
      return runBody(*context, *topology, body, user, endpoint);
    });
    if (!outcomes)
      return report(outcomes.status(), COLLDSL_ERROR_SETUP);
    return report(firstFailure(*outcomes), COLLDSL_ERROR_RANK);
  });
}

colldsl_status colldsl_comm_create(colldsl_context *context, const colldsl_bootstrap *bootstrap,
                                   colldsl_comm **comm) {
  return guarded({{"context", context}, {"comm", comm}}, [&] {
    if (bootstrap && !bootstrap->allgather)
      return failNull("bootstrap->allgather");
    Result<Oob> oob = bootstrap ? oobOf(*bootstrap) : ownLauncher();
    if (!oob)
      return report(oob.status(), COLLDSL_ERROR_SETUP);
    Status own;
    if (!context->topology.empty() && oob->numRanks > 0)
      own = Topology::make(context->topology, oob->numRanks).status();
    Library *tuned = tunedLibrary();
    Result<WiredUp> wired = wireUp(
        *oob, context->shm, context->network ? *context->network : Network::fromEnvironment(), own,
        tuned ? tuned->checksum() : 0);
    if (!wired)
      return report(wired.status(), COLLDSL_ERROR_SETUP);
    Result<Topology> topology = context->topology.empty()
                                    ? findPlaces(*oob, *wired)
                                    : Topology::make(context->topology, oob->numRanks);
    if (!topology)
      return report(topology.status(), COLLDSL_ERROR_SETUP);
    bool hasProfile = tuned && wired->profile != 0;
    MemoryReserve::begin();
    *comm = new colldsl_comm{Communicator(wired.take(), topology.take()),
                             context->graphOrder,
                             context->compiler,
                             context->strictTransfers,
                             false,
                             hasProfile};
    return COLLDSL_OK;
  });
}

void colldsl_comm_destroy(colldsl_comm *comm) {
  if (comm && !comm->isOfFork && comm->owner == getpid())
    delete comm;
}

uint32_t colldsl_comm_rank(const colldsl_comm *comm) {
  return comm ? index(comm->communicator.rank()) : 0;
}

uint32_t colldsl_comm_size(const colldsl_comm *comm) {
  return comm ? comm->communicator.numRanks() : 0;
}

colldsl_status colldsl_alloc(colldsl_comm *comm, uint64_t bytes, void **memory) {
  return guarded({{"comm", comm}, {"memory", memory}}, [&] {
    constexpr uint64_t kLine = 64;
    uint64_t lines = bytes / kLine + 1;
    void *found = nullptr;
    if (lines <= PTRDIFF_MAX / kLine) { // else no memory is so large
      found = comm->communicator.engine().endpoint().allocateShared(lines * kLine);
      if (!found)
        found = std::aligned_alloc(kLine, lines * kLine);
    }
    if (!found)
      return fail(COLLDSL_ERROR_MEMORY, concat("no memory for ", bytes, " bytes"));
    *memory = found;
    return COLLDSL_OK;
  });
}

void colldsl_free(colldsl_comm *comm, void *memory) {
  if (!comm || !memory || comm->owner != getpid())
    return;
  Endpoint &endpoint = comm->communicator.engine().endpoint();
  iovec piece{memory, 1};
  if (endpoint.isShared({&piece, 1, false, false, 1}))
    endpoint.releaseShared(memory);
  else
    std::free(memory);
}

colldsl_status colldsl_progress(colldsl_comm *comm) {
  return guarded({{"comm", comm}}, [&] {
    comm->communicator.engine().progressOthers(nullptr);
    return COLLDSL_OK;
  });
}

colldsl_status colldsl_library_open(colldsl_context *context, const char *path,
                                    colldsl_library **library) {
  return guarded({{"context", context}, {"library", library}}, [&] {
    Result<std::unique_ptr<Library>> opened = path ? Library::open(path) : viewStandardLibrary();
    if (!opened)
      return report(opened.status(), COLLDSL_ERROR_LIBRARY);
    *library = new colldsl_library{opened.take()};
    return COLLDSL_OK;
  });
}

void colldsl_library_close(colldsl_library *library) { delete library; }

const char *colldsl_library_collective(colldsl_library *library, size_t i) {
  if (!library)
    return nullptr;
  const char *name = nullptr;
  guarded([&] {
    Result<const LibraryIdentity *> identity = library->library->identity();
    Result<const Program *> program = library->library->program();
    if (identity && program && i < (*identity)->exports.size())
      name = (*program)->nameOf((*program)->decl(DeclId{(*identity)->exports[i]})).c_str();
    return COLLDSL_OK;
  });
  return name;
}

namespace {

Status addEdges(uint32_t numRanks, const char *what, uint32_t degree, const int32_t *peers,
                const int64_t *keys, std::vector<RankEdges::Edge> &edges) {
  if (degree > 0 && !peers)
    return Status::error(concat("argument '", what, "' is null"));
  for (uint32_t i = 0; i < degree; ++i) {
    if (peers[i] < -1 || peers[i] >= static_cast<int64_t>(numRanks))
      return Status::error(
          concat(what, "[", i, "] is ", peers[i], ", but there are ", numRanks, " ranks"));
    edges.push_back({peers[i] == -1 ? kNone : peers[i], keys ? keys[i] : 0, 1});
  }
  return {};
}

} // namespace

colldsl_status colldsl_graph_create(colldsl_comm *comm, uint32_t outdegree,
                                    const int32_t *destinations, const int64_t *out_keys,
                                    uint32_t indegree, const int32_t *sources,
                                    const int64_t *in_keys, colldsl_graph **graph) {
  return guarded({{"comm", comm}, {"graph", graph}}, [&] {
    auto made = std::make_shared<OrderedGraph>();
    Communicator &communicator = comm->communicator;
    made->edges.firstRank = index(communicator.rank());
    RankEdges &own = made->edges.ranks.emplace_back();
    uint32_t numRanks = communicator.numRanks();
    Status s = addEdges(numRanks, "destinations", outdegree, destinations, out_keys, own.out);
    if (s)
      s = addEdges(numRanks, "sources", indegree, sources, in_keys, own.in);
    if (!s) {
      if (comm->graphOrder.isOn) // must not keep the others waiting
        communicator.engine().endpoint().refuse(s.message());
      return report(s, COLLDSL_ERROR_ARGUMENT);
    }
    Result<GraphOrder> order = orderGraph(communicator, own, comm->graphOrder);
    if (!order)
      return report(order.status(), COLLDSL_ERROR_SETUP);
    made->order = order.take();
    *graph = new colldsl_graph{std::move(made)};
    return COLLDSL_OK;
  });
}

uint32_t colldsl_graph_rounds(const colldsl_graph *graph) {
  return graph ? graph->graph->order.rounds : 0;
}

void colldsl_graph_destroy(colldsl_graph *graph) { delete graph; }
