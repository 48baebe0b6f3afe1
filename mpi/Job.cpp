#include "mpi/Job.h"

#include "ir/Concat.h"
#include "mpi/PrintMessage.h"
#include "mpi/ProgressThread.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/WorldCollectives.h"
#include "mpi/operations/Operation.h"
#include "mpi/operations/Requests.h"
#include "mpi/remote/RemoteRanks.h"
#include "program/library/StandardLibrary.h"
#include "protocol/local/CopyCosts.h"
#include "runtime/MemoryReserve.h"
#include "select/DecisionRules.h"
#include "select/Function.h"
#include "topology/KnownModels.h"
#include "topology/ProfileFile.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace colldsl::mpi {
namespace {

// Address space per rank, in each process, besides what connections to all ranks take; memory is
// used when it is touched. The smaller size is for processes whose address space is limited.
constexpr uint64_t kArenaBytes[] = {uint64_t{16} << 20, uint64_t{2} << 20};
// The most that a rank allocates by MPI_Alloc_mem from what ranks share, and the block from which
// on it has pages, and address space, of its own.
constexpr uint64_t kLentBytes = uint64_t{16} << 30, kLeastLent = 1 << 20;
// The MPI below has events of its own, which do not end a sleep: so sleeps are short.
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::microseconds(100);

// A rank wakes at intervals, so that the MPI below moves. A rank that has a core of its own begins
// to sleep late, as messages of that MPI would wait for it.
constexpr std::chrono::nanoseconds kYieldingBeforeSleep = std::chrono::milliseconds(50);

// The delay of a message for each rank of the receiver's core, if ranks share cores. A few poll in
// turns. More of them nap, and wake up late: with 16 ranks of 4 nodes on 2 cores each step of a
// message takes some 0.9 ms.
constexpr uint64_t kTurnNs = 2500, kNapNs = 100'000;
constexpr uint32_t kMostTurns = 4;

// For polls with a call of the kernel or of the MPI each.
constexpr uint32_t kPollsAround = 60;

// A check reads the clock, and takes several times as long as a poll.
constexpr uint32_t kPollsPerCheck = 16;

// A rank proves a schedule of so many ops of all ranks in a second or so, in some 100 MB of memory;
// all ranks of a node do so at the same time.
constexpr uint64_t kMostOpsToProve = 1 << 18;

bool isOpenMpi() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  real::Get_library_version(version, &length);
  return std::string_view(version).find("Open MPI") != std::string_view::npos;
}

// Collective writes of more than 64 MiB have requests inside, which no other thread may progress
// (mpi/entries/Files.cpp). Open MPI reads its variables when the first file is opened.
void avoidRequestsInFileWrites() { setenv("OMPI_MCA_fcoll_vulcan_async_io", "2", 1); }

/// Whole pages for the connections of one rank to all.
uint64_t connectionBytes(uint32_t numRanks) {
  constexpr uint64_t kPage = 64 << 10;
  uint64_t bytes = numRanks * shm::fifoBytes(protocol::LocalOptions().fifo.ringBytes);
  return (bytes + kPage - 1) / kPage * kPage;
}

/// Collective over the node. `isReady`: false on a rank that cannot take part.
Result<WiredUp> shareAllThatCanBe(MPI_Comm node, uint32_t ranksOnMachine, bool isReady) {
  shm::Options memory;
  memory.ranksOnMachine = ranksOnMachine;
  memory.lentBytes = kLentBytes;
  shm::measureOrUseKnown(memory);
  Oob oob = oobOf(node);
  Status why;
  for (uint64_t bytes : kArenaBytes) {
    memory.arenaBytes = bytes + connectionBytes(oob.numRanks);
    Result<WiredUp> wired = shareMemory(oob, memory);
    if (allAgree(node, wired.ok() && isReady))
      return wired;
    why = wired ? Status::error("another rank of the node cannot share memory") : wired.status();
  }
  return why;
}

/// True if messages between nodes were measured. A sweep on one node fills in the costs of those
/// within it, where processors move the bytes.
bool hasNetwork(const MachineModel &measured) {
  const LogGop &network = measured.distances[kOtherNode];
  auto within = measured.distances.begin() + 1, end = measured.distances.begin() + kOtherNode;
  return network.O == PerByte() || std::find(within, end, network) == end;
}

/// The costs that were measured, and assumed ones where there are none.
MachineModel modelOf(const std::optional<MachineModel> &measured, const MachineModel &assumed) {
  if (!measured || hasNetwork(*measured))
    return measured.value_or(assumed);
  MachineModel machine = *measured;
  for (unsigned distance = kOtherNode; distance <= kMaxDistance; ++distance) {
    machine.distances[distance] = assumed.distances[distance];
    machine.longer[distance] = assumed.longer[distance];
  }
  return machine;
}

} // namespace

Job *Job::current_ = nullptr;

Job::Job() : progressThread_(std::make_unique<ProgressThread>(*this)) {}
Job::~Job() = default;

void Job::begin(int threadLevel) {
  MemoryReserve::begin();
  auto job = std::make_unique<Job>();
  int worldRank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &worldRank);
  job->hasThreads_ = threadLevel != MPI_THREAD_SINGLE;
  job->anyThreadMayCall_ = threadLevel == MPI_THREAD_MULTIPLE;
  job->worldRank_ = static_cast<uint32_t>(worldRank);
  job->openBelow();
  real::Comm_group(MPI_COMM_WORLD, &job->worldGroup_);
  job->nodes_ = findNodes();
  NodeComm node(job->nodes_);
  Result<std::unique_ptr<Library>> library = viewStandardLibrary();
  Result<WiredUp> wired = shareAllThatCanBe(node.comm(), job->nodes_.ranksOnMachine, library.ok());
  bool isFine = job->nodes_.count == 1 ? wired.ok() : allAgree(MPI_COMM_WORLD, wired.ok());
  job->report(oobOf(node.comm()).numRanks, wired ? Status() : wired.status(), isFine);
  if (isFine) {
    job->library_ = library.take();
    job->openProfile();
    if (!Settings::all().library().empty())
      job->openOwnLibrary();
    job->makeCompilers();
    job->connect(wired.take(), node.comm());
    current_ = job.release();
    Requests::setAnyThreadMayStart(current_->anyThreadMayCall_);
  } else if (!wired || !library) {
    Summary::all().noteUnserved(wired ? library.message() : wired.message());
  }
}

// Rank 0's profile counts on all ranks if all their machines are the profile's machine.
void Job::openProfile() {
  const Settings &settings = Settings::all();
  if (settings.learns())
    learning_ = std::make_unique<Learning>(std::vector<TuningPoint>());
  if (!settings.profileProblem().empty())
    note("the machine profile is not used: " + settings.profileProblem());
  if (settings.profile().empty())
    return;
  Result<MachineProfile> profile = MachineProfile::parse(settings.profile());
  Status s = profile ? checkMachine(*profile) : profile.status();
  if (s)
    s = prefer(*library_, *profile);
  bool isUsed = allAgree(MPI_COMM_WORLD, s.ok());
  if (isUsed && profile->model != MachineModel()) // jobs that learn measure none
    measured_ = profile->model;
  if (isUsed && settings.learns())
    learning_ = std::make_unique<Learning>(std::move(profile->points));
  if (!isUsed)
    library_ = viewStandardLibrary().take(); // as before
  note(isUsed ? concat("the machine profile has ", profile->decisions.size(), " decisions")
              : "the machine profile is not used: " +
                    (s ? "it is not of the machines of all ranks" : s.message()));
}

// All ranks open the user's library, or none does. The first rank that cannot read it prints the
// reason.
void Job::openOwnLibrary() {
  const std::string &path = Settings::all().library();
  Result<std::unique_ptr<Library>> library = Library::open(path);
  Status s = library ? Status() : library.status();
  std::string problem;
  if (s) {
    Result<std::set<std::string>> functions = servedBy(**library, *library_, problem);
    auto images = (*library)->images();
    s = !functions ? functions.status() : images ? Status() : images.status();
    if (functions)
      ownFunctions_ = functions.take();
  }
  int none = std::numeric_limits<int>::max(), mine = s ? none : static_cast<int>(worldRank_);
  int first = none;
  allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == static_cast<int>(worldRank_))
    printMessage("colldsl: warning: rank %u: COLLDSL_LIBRARY is not used: %s\n", worldRank_,
                 s.message().c_str());
  if (first != none)
    return;
  if (allHave((*library)->checksum()))
    ownLibrary_ = library.take();
  else if (worldRank_ == 0)
    printMessage("colldsl: warning: COLLDSL_LIBRARY is not used: '%s' is not the same file on all "
                 "ranks\n",
                 path.c_str());
  if (worldRank_ == 0 && ownLibrary_ && !problem.empty())
    printMessage("colldsl: warning: COLLDSL_LIBRARY: %s\n", problem.c_str());
}

// Settings are the same on all ranks.
void Job::makeCompilers() {
  CompileSettings settings;
  settings.passes = Settings::all().passes();
  if (Result<std::shared_ptr<const PlanCompiler>> tried = PlanCompiler::make(settings); !tried) {
    if (worldRank_ == 0)
      printMessage("colldsl: warning: COLLDSL_PASSES is not used: %s\n", tried.message().c_str());
    settings.passes = CompileSettings().passes;
  }
  for (bool isOwn : {false, true}) {
    settings.leastProof = Settings::all().leastProof(isOwn);
    bool isProved = settings.leastProof == ProofLevel::Exact;
    settings.mostOps = isProved ? kMostOpsToProve : CompileSettings().mostOps;
    (isOwn ? ownCompiler_ : compiler_) = *PlanCompiler::make(settings);
    if (isOwn)
      continue;
    CompileSettings ofLists = settings;
    if (ofLists.passes == CompileSettings().passes)
      ofLists.passes.clear();
    listCompiler_ = *PlanCompiler::make(ofLists);
  }
}

void Job::note(const std::string &line) {
  if (Settings::all().isVerbose() && worldRank_ == 0 && notes_.insert(line).second)
    printMessage("colldsl: %s\n", line.c_str());
}

void Job::noteHere(const std::string &line) {
  if (Settings::all().isVerbose() && notes_.insert(line).second)
    printMessage("colldsl: rank %u: %s\n", worldRank_, line.c_str());
}

void Job::connect(WiredUp wired, MPI_Comm node) {
  protocol::LocalOptions options;
  options.longestSleep = kLongestSleep;
  options.sleepsOnFiles = nodes_.count > 1;
  if (nodes_.count > 1)
    options.mostPolls = kPollsAround;
  options.progressHook = this;
  options.leastYielding = kYieldingBeforeSleep;
  if (wired.world->sharesCores()) // a receiver answers when it has a core
    options.singleCopyMinBytes = shm::kSingleCopyOnSharedCores;
  wired.nodes = nodes_.first;
  Result<Topology> places = findPlaces(oobOf(MPI_COMM_WORLD), wired);
  auto numRanks = static_cast<uint32_t>(nodes_.first.size());
  topology_ = places ? places.take() : Topology::flat(numRanks);
  world_ = std::move(wired.world);
  worker_ = std::make_unique<protocol::LocalWorker>(*world_, onNode(Rank{worldRank_}), options);
  if (!world_->sharesCores())
    chooseCopyLimits(node);
  if (nodes_.count > 1)
    connectNodes();
  movesAlways_ |= Settings::all().wantsProgressThread();
  if (movesAlways_)
    beginBackgroundProgress();
}

// The first two ranks of a node measure for all of it, unless earlier jobs did.
void Job::chooseCopyLimits(MPI_Comm node) {
  Rank self = worker_->rank();
  if (world_->measuresCopies()) {
    {
      Guard guard(*this);
      protocol::measureCopySizes(*worker_);
    }
    uint8_t isMeasured = 1;
    bcast(&isMeasured, 1, node);
  }
  if (std::optional<shm::CopySizes> sizes = world_->copySizes())
    worker_->setCopyLimits({sizes->singleCopyMinBytes, sizes->rendezvousThresholdBytes});
  const protocol::LocalOptions &options = worker_->options();
  if (Settings::all().isVerbose() && index(self) == 0 && worker_->numRanks() > 1)
    printMessage("colldsl: rank %u and those of its node: eager up to %u bytes, single copies from "
                 "%llu bytes on where ranks exchange\n",
                 worldRank_, options.rendezvousThresholdBytes,
                 static_cast<unsigned long long>(options.singleCopyMinBytes));
}

// All ranks get the same outcome.
void Job::connectNodes() {
  Result<std::unique_ptr<RemoteRanks>> remote = Status::error("COLLDSL_NETWORK says so");
  const Settings &settings = Settings::all();
  std::optional<Network> network = settings.network();
  // A receiver acknowledges datagrams when it polls, also while it waits in a call that is passed
  // on.
  bool acknowledges = network && network->kind == NetworkKind::Datagram;
  WakeupPreference wakeup = settings.wantsProgressThread() || acknowledges
                                ? WakeupPreference::Sleeping
                                : WakeupPreference::Polling;
  if (network)
    remote = RemoteRanks::overNetwork(MPI_COMM_WORLD, *network, wakeup, worker_->progressTable());
  if (!allAgree(MPI_COMM_WORLD, remote.ok()) && remote)
    remote = Status::error("another rank has no network");
  if (!remote && network && settings.namesNetwork() && worldRank_ == 0)
    printMessage("colldsl: warning: messages between nodes are not over the network that "
                 "COLLDSL_NETWORK names, but over the MPI below: %s\n",
                 remote.message().c_str());
  movesAlways_ = remote && acknowledges;
  note("messages between nodes: " +
       (remote ? (*remote)->name() : "those of the MPI below: " + remote.message()));
  remote_ = remote ? remote.take() : RemoteRanks::overMpi(MPI_COMM_WORLD, worker_->progressTable());
  remote_->worker().whileWaiting([this] { worker_->progress(); });
  movesRemoteInBackground_ = !remote_->isOfMpi() || allAgree(MPI_COMM_WORLD, anyThreadMayCall_);
  progressesOpenMpiInThread_ = remote_->isOfMpi() && movesRemoteInBackground_ && isOpenMpi();
  if (progressesOpenMpiInThread_)
    avoidRequestsInFileWrites();
  assumeMachine();
}

// A rank that shares its core runs when the others have yielded it. With
// COLLDSL_GRAPH_PASSES=always the model makes messages between nodes so expensive that any pass
// pays.
void Job::assumeMachine() {
  uint32_t mine[2] = {remote_->worker().transport().capabilities().isMovedByKernel(),
                      nodes_.ranksOnMachine / shm::numCores()};
  uint32_t most[2] = {};
  allreduce(mine, most, 2, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
  const MachineModel &assumed = knownModel(most[0] ? KnownModel::Ethernet : KnownModel::Cluster);
  machine_ = modelOf(measured_, assumed);
  note(concat("the model of messages between nodes: ",
              measured_ && hasNetwork(*measured_) ? "as the machine profile has measured them"
                                                  : "assumed, " + assumed.name));
  uint64_t lateNs = most[1] * (most[1] > kMostTurns ? kNapNs : kTurnNs);
  for (unsigned distance = 1; most[1] > 1 && distance <= kMaxDistance; ++distance)
    machine_.changeAll(distance, [&](LogGop &costs) { costs.L += lateNs; });
  if (Settings::all().graphPasses() == GraphPasses::Always)
    for (unsigned distance = kOtherNode; distance <= kMaxDistance; ++distance)
      machine_.changeAll(distance, [](LogGop &costs) { costs.o *= 1000; });
}

void Job::report(uint32_t ranksHere, const Status &shared, bool isFine) {
  size_t ranks = nodes_.first.size();
  if (nodes_.count == 1)
    note(concat(ranks, " ranks on one node: ", isFine ? "they share memory" : "nothing is served"));
  else
    note(concat(ranks, " ranks on ", nodes_.count, " nodes, ", ranksHere,
                " of them on that of rank 0: ",
                isFine ? "those of a node share memory" : "nothing is served"));
  if (!shared)
    noteHere(shared.message());
}

void Job::end() {
  std::unique_ptr<Job> job(std::exchange(current_, nullptr));
  if (!job)
    return;
  Requests::setAnyThreadMayStart(false);
  MemoryReserve::end();
  if (job->movesAlways_)
    job->endBackgroundProgress();
  job->progressThread_.reset();
  if (job->remote_)
    job->remote_->leave();
  job->remote_.reset();
  for (MPI_Op op : job->kept_)
    real::Op_free(&op);
  job->typesInUse_.freeAll();
  for (const auto &query : job->queries_)
    query->wait();
  job->closeBelow();
  real::Group_free(&job->worldGroup_);
  // MPICH 4.0 over UCX's tcp hangs in MPI_Finalize now and then, if one rank has closed its
  // connections while another one still closes its own. With this it does so more rarely.
  real::Barrier(MPI_COMM_WORLD);
}

// Moves operations also in calls that return at once and are repeated.
void Job::beginBackgroundProgress() {
  if (Requests::anyRunning()) {
    Guard guard(*this);
    poll();
  }
  moving_.fetch_add(1, std::memory_order_seq_cst);
  if (wantsBackgroundProgress())
    progressThread_->wake();
}

// If the program has no threads, no other thread may move operations from here on: the progress
// thread reads the count under the lock.
void Job::endBackgroundProgress() {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!hasThreads_)
    lock.lock();
  moving_.fetch_sub(1, std::memory_order_relaxed);
}

bool Job::wantsBackgroundProgress() const {
  return moving_.load(std::memory_order_seq_cst) != 0 && (movesAlways_ || Requests::anyRunning());
}

// The thread that begins to wait counts itself before it looks for operations; this one counts the
// operation before it looks for threads. So one of them sees the other: the former's accesses are
// sequentially consistent, and the fence orders the latter's among them.
void Job::moveInBackground() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (moving_.load(std::memory_order_seq_cst) != 0)
    progressThread_->wake();
}

void Job::keepAnswering() {
  if (!remote_)
    return;
  Requests::all().keepMoving();
  if (isThreaded())
    moveInBackground();
}

bool Job::poll(bool mayCallBelow) {
  bool moved = worker_->progress();
  if (remote_ && (mayCallBelow || !remote_->isOfMpi()))
    moved |= remote_->progress();
  for (Operation *operation : moved_)
    moved |= operation->progress();
  return moved;
}

// If on some rank no other thread may call the MPI, and the MPI carries messages between nodes, all
// operations under way are within this node: see ServedComm::servesNonblocking().
bool Job::pollInBackground() { return poll(movesRemoteInBackground_); }

std::optional<protocol::Wakeup> Job::wakeup() {
  return remote_ ? remote_->wakeup() : protocol::Wakeup{};
}

Status Job::waitFor(Operation &operation) {
  return reportFailure(worker_->waitUntil([&] { return operation.isDone(); },
                                          [&] {
                                            bool moved = operation.progress();
                                            return moved_.empty() ? moved : poll() || moved;
                                          }));
}

Status Job::moveOnce() {
  Guard guard(*this);
  if (poll() || ++idlePolls_ % kPollsPerCheck != 0)
    return {};
  lookFar();
  return reportFailure(worker_->check());
}

void Job::lookFar() {
  if (remote_)
    remote_->worker().checkPeers();
  noteFailure();
}

// A rank that waits only for ranks of its own node learns of the failure there.
void Job::noteFailure() {
  Status remote = remote_ ? remote_->status() : Status();
  if (!remote && !std::exchange(hasFailed_, true))
    world_->reportToAll({kNoRank, kNoOp, remote.message(), remote.kind()});
}

// Other nodes are notified that a rank of this one died.
Status Job::reportFailure(Status outcome) {
  noteFailure();
  if (!outcome && remote_)
    remote_->worker().reportAll({Rank{worldRank_}, kNoOp, outcome.message(), outcome.kind()});
  return outcome;
}

// Testing an incomplete request makes every MPI progress: MPICH's probes do not.
void Job::openBelow() {
  real::Comm_dup(MPI_COMM_SELF, &own_);
  real::Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
  real::Irecv(nullptr, 0, MPI_BYTE, 0, 0, own_, &pending_);
  MPI_Request wrong = MPI_REQUEST_NULL; // a count of -1
  checksArguments_ =
      real::Recv_init(nullptr, -1, MPI_BYTE, MPI_PROC_NULL, 0, own_, &wrong) != MPI_SUCCESS;
  if (!checksArguments_)
    real::Request_free(&wrong);
}

void Job::closeBelow() {
  real::Cancel(&pending_);
  real::Wait(&pending_, MPI_STATUS_IGNORE);
  real::Comm_free(&own_);
}

void Job::progress() {
  int isDone = 0;
  real::Test(&pending_, &isDone, MPI_STATUS_IGNORE);
}

// Ranks of other nodes may wait for an answer of this rank while it waits only for its own node.
void Job::check() {
  if (remote_)
    remote_->progress();
  lookFar();
}

// Opens the mutex for other threads.
void Job::beforeWait() {
  if (isThreaded())
    mutex_.unlock();
}

void Job::afterWait() {
  if (isThreaded())
    mutex_.lock();
}

// Short blocks come from the arena while connections have room there. First fit: memory that is
// available in one piece is also available piece by piece.
void *Job::lend(uint64_t bytes) {
  void *memory = bytes < kLeastLent ? worker_->allocate(bytes) : nullptr;
  if (!memory)
    return worker_->lend(bytes);
  void *rest = worker_->allocate(connectionBytes(worker_->numRanks()));
  worker_->release(rest ? rest : memory);
  return rest ? memory : worker_->lend(bytes);
}

// The first rank owns the contexts; two threads may make two communicators at once. A first rank
// that has no numbers left gives none.
Job::Context Job::agree(MPI_Comm comm, uint32_t contexts, Offer &offer) {
  freeDeferred();
  int rank = 0;
  real::Comm_rank(comm, &rank);
  uint32_t mine[8] = {0,
                      0,
                      !offer.neighbors,
                      !offer.all,
                      ~offer.hints.bits(),
                      std::bit_floor(offer.farPeers),
                      offer.mayUseDevices,
                      shm::isOversubscribed(nodes_.ranksOnMachine)};
  uint32_t all[8] = {};
  if (rank == 0) {
    uint64_t first = nextContext_.fetch_add(contexts, std::memory_order_relaxed);
    mine[0] = worldRank_;
    mine[1] = first + contexts <= UINT32_MAX ? static_cast<uint32_t>(first) : 0;
  }
  allreduce(mine, all, 8, MPI_UINT32_T, MPI_BOR, comm);
  bool hasContexts = all[1] != 0;
  offer = {hasContexts && all[2] == 0, hasContexts && all[3] == 0, InfoHints(~all[4]),
           std::bit_floor(all[5]), all[6] != 0};
  if (comm == MPI_COMM_WORLD)
    takesTimeSlices_ = all[7] != 0 && !isOpenMpi();
  return {all[0], all[1]};
}

void Job::keep(std::shared_ptr<HintsQuery> query) {
  std::erase_if(queries_, [](const auto &before) { return before->isAnswered(); });
  queries_.push_back(std::move(query));
}

// Objects are not dropped at once: the MPI may hold a lock of its own, and a thread that holds our
// lock may need it.
void Job::freeLater(std::shared_ptr<void> thing) {
  std::lock_guard lock(deferredLock_);
  deferred_.push_back(std::move(thing));
}

void Job::freeDeferred() {
  std::vector<std::shared_ptr<void>> gone;
  {
    std::lock_guard lock(deferredLock_);
    gone.swap(deferred_);
  }
  if (gone.empty())
    return;
  Guard guard(*this);
  gone.clear();
}

} // namespace colldsl::mpi
