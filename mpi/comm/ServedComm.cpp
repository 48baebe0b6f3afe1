#include "mpi/comm/ServedComm.h"

#include "ir/Concat.h"
#include "mpi/DeviceBuffers.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/FreedComms.h"
#include "mpi/learn/LearnedOperation.h"
#include "mpi/operations/CollectiveOperation.h"
#include "mpi/operations/NeighborOperation.h"
#include "mpi/remote/RemoteRanks.h"
#include "mpi/types/Reductions.h"
#include "runtime/MemoryReserve.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace colldsl::mpi {
namespace {

// The most calls with an operation each, among calls that differ only in the addresses of their
// buffers.
constexpr size_t kPlaces = 2;
// The least number of peers on other nodes, at the rank that has most, for which a graph is
// changed.
constexpr uint32_t kManyFarPeers = 4;

using Shared = std::shared_ptr<ServedComm>;

Status lateDevice(CallKind kind) {
  return Status::error(ErrorKind::DeviceMemory,
                       concat(kCallNames[static_cast<size_t>(kind)],
                              ": a buffer is in memory of a device, whose driver was loaded after "
                              "the communicator was made"));
}

Status shortOfMemory() {
  return Status::error(ErrorKind::NoMemory, "too little memory is left to prepare a call");
}

/// All ServedComms that exist.
struct {
  std::mutex lock;
  std::set<ServedComm *> all;
} known;

/// Makes the run of this number fail on the other ranks.
void refuse(PlanGroup &plans, uint32_t run, const Status &why) {
  plans.numberNextRun(run);
  plans.communicator().engine().endpoint().refuse(why.message());
}

} // namespace

constinit thread_local ServedComm::Last ServedComm::last_;
constinit thread_local ServedComm::Duplication *ServedComm::duplication_ = nullptr;
std::atomic<uint64_t> ServedComm::numDeleted_{0};

ServedComm::ServedComm(Job &job) : job_(job) {
  if (job.learning())
    learner_ = std::make_unique<Learner>(*this);
  std::lock_guard lock(known.lock);
  known.all.insert(this);
}

ServedComm::~ServedComm() {
  std::lock_guard lock(known.lock);
  known.all.erase(this);
}

void ServedComm::leaveJob() {
  forgetLast();
  std::lock_guard lock(known.lock);
  for (ServedComm *served : known.all) {
    served->quick_.fill({});
    served->fixed_.clear();
    served->prepared_.clear();
    served->agreed_.operation.reset();
    served->learner_.reset();
    served->plans_.reset();
    served->refused_.clear();
    served->progress_.reset();
  }
}

int ServedComm::keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    real::Comm_create_keyval(copyToDuplicate, onDelete, &made, nullptr);
    return made;
  }();
  return key;
}

// A duplicate is known from the start, as long as there are contexts kept for it.
int ServedComm::copyToDuplicate(MPI_Comm comm, int, void *, void *value, void *copy, int *isKept) {
  bool isDuplicate = duplication_ && duplication_->original_ == comm;
  Shared made = isDuplicate ? (*static_cast<Shared *>(value))->duplicate() : nullptr;
  *isKept = made != nullptr;
  if (!made)
    return MPI_SUCCESS;
  duplication_->made_ = made;
  *static_cast<void **>(copy) = new Shared(made);
  return MPI_SUCCESS;
}

int ServedComm::onDelete(MPI_Comm comm, int, void *value, void *) {
  auto *served = static_cast<Shared *>(value);
  numDeleted_.fetch_add(1, std::memory_order_relaxed);
  FreedComms::all().note(comm);
  if (!Job::current()) { // MPI_Finalize frees the last communicators
    delete served;
    return MPI_SUCCESS;
  }
  Job::current()->freeLater(std::move(*served));
  delete served;
  return MPI_SUCCESS;
}

ServedComm *ServedComm::lookUp(MPI_Comm comm) {
  void *value = nullptr;
  int isThere = 0;
  if (comm == MPI_COMM_NULL ||
      real::Comm_get_attr(comm, keyval(), &value, &isThere) != MPI_SUCCESS || !isThere ||
      !(*static_cast<Shared *>(value))->confirm(comm))
    return nullptr;
  ServedComm *served = static_cast<Shared *>(value)->get();
  // Otherwise each call must be seen: its buffers are checked, its time is taken, or ranks compare
  // it.
  bool isLookedAt = Settings::all().wantsSummary() || Settings::all().checksCalls();
  if (!Accelerators::arePresent() && !isLookedAt)
    last_ = {comm, served, numDeleted_.load(std::memory_order_relaxed)};
  return served;
}

// The attribute of a duplicate is trusted once its communicator is found to have the known ranks.
bool ServedComm::confirm(MPI_Comm comm) {
  if (isConfirmed_.load(std::memory_order_relaxed))
    return true;
  bool isRight = membersOf(comm) == *members_;
  if (isRight)
    isConfirmed_.store(true, std::memory_order_relaxed);
  else
    real::Comm_delete_attr(comm, keyval());
  return isRight;
}

ServedComm *ServedComm::adopt(Job &job, MPI_Comm comm, MPI_Info info, bool mayHaveTopology) {
  Shared served(new ServedComm(job));
  served->describe(comm, mayHaveTopology);
  served->wanted_ = InfoHints().changedBy(info);
  served->offer_.hints = served->wanted_;
  served->offer_.mayUseDevices = lookForDevices();
  served->setContexts(job.agree(comm, kOfEach, served->offer_));
  served->gatherGraph(comm);
  served->applyHints(served->offer_.hints);
  if (comm != MPI_COMM_SELF) // all ranks have one
    served->reportUse("new");
  real::Comm_set_attr(comm, keyval(), new Shared(served));
  return served.get();
}

void ServedComm::setHints(MPI_Comm comm, MPI_Info info) {
  if (!offer_.neighbors)
    return;
  wanted_ = wanted_.changedBy(info);
  uint32_t mine = wanted_.bits(), all = 0;
  real::Allreduce(&mine, &all, 1, MPI_UINT32_T, MPI_BAND, comm);
  {
    Guard guard(job_);
    query_.reset();
    applyHints(InfoHints(all));
  }
  reportUse("told anew");
}

void ServedComm::setHintsLater(InfoHints wanted, std::shared_ptr<HintsQuery> query) {
  wanted_ = wanted;
  query_ = std::move(query);
}

void ServedComm::applyAgreedHints() {
  if (!query_ || !query_->isAnswered())
    return;
  applyHints(std::exchange(query_, nullptr)->answer());
  reportUse("told anew");
}

// A kind whose arguments stay has no other prepared operations.
void ServedComm::applyHints(InfoHints hints) {
  offer_.hints = offer_.neighbors ? hints : InfoHints();
  quick_.fill({});
  fixed_.clear();
  *hasStaticBuffers_ = offer_.hints.has(InfoHint::StaticBuffers);
  if (*hasStaticBuffers_)
    fixed_.resize(kTopologyKinds);
}

// All ranks take contexts in the same order. Number 0: no context is kept.
Job::Context ServedComm::takeContexts(uint32_t number) {
  if (kept_.left < number)
    return {};
  Job::Context first = kept_.first;
  kept_.first.number += number;
  kept_.left -= number;
  return first;
}

// Doubles the number kept at each request.
void ServedComm::keepContexts(MPI_Comm comm, uint32_t number) {
  if (!offer_.all || kept_.left >= number)
    return;
  Job::Offer offer{true, true, {}};
  uint32_t all = std::min(number, UINT32_MAX / kMaxTimes) * kept_.times;
  kept_.first = job_.agree(comm, all, offer);
  kept_.left = offer.all ? all : 0;
  kept_.times = std::min(2 * kept_.times, kMaxTimes);
}

void ServedComm::setContexts(Job::Context first) {
  context_ = kept_.first = first;
  ++kept_.first.number;
  kept_.left = kOfEach - 1;
}

// Takes some contexts for each rank, so that disjoint parts have different ones: a part uses those
// of its first rank.
ServedComm::Parting::Parting(MPI_Comm comm) : whole_(Job::current() ? of(comm) : nullptr) {
  if (!whole_)
    return;
  uint32_t all = static_cast<uint32_t>(whole_->numRanks()) * kOfEach;
  whole_->keepContexts(comm, all);
  first_ = whole_->takeContexts(all);
}

bool ServedComm::Parting::adopt(MPI_Comm part) const {
  if (first_.number == 0 || part == MPI_COMM_NULL)
    return first_.number != 0;
  Shared made(new ServedComm(whole_->job_));
  made->describe(part, false);
  made->offer_.mayUseDevices = whole_->offer_.mayUseDevices;
  const std::vector<Rank> &all = *whole_->members_;
  auto leader = std::find(all.begin(), all.end(), made->members_->front());
  made->setContexts(
      {first_.owner, first_.number + static_cast<uint32_t>(leader - all.begin()) * kOfEach});
  made->reportUse("a part");
  real::Comm_set_attr(part, keyval(), new Shared(made));
  return true;
}

Shared ServedComm::duplicate() {
  Job::Context context = takeContexts(1);
  if (context.number == 0)
    return nullptr;
  Shared made(new ServedComm(job_));
  made->context_ = context;
  made->offer_ = {offer_.neighbors, offer_.all, {}, 0, offer_.mayUseDevices};
  made->rank_ = rank_;
  made->neighborhood_ = neighborhood_;
  made->graph_ = graph_;
  made->members_ = members_;
  made->topology_ = topology_;
  made->servesNonblocking_ = servesNonblocking_;
  made->isConfirmed_ = false;
  made->reportUse("a duplicate");
  return made;
}

/// True if some rank is on another node.
bool ServedComm::isSpread() const {
  return std::any_of(members_->begin(), members_->end(), [&](Rank member) {
    return member != kNoRank && job_.onNode(member) == kNoRank;
  });
}

void ServedComm::reportUse(const char *origin) const {
  if (!Settings::all().isVerbose() || rank_ != 0)
    return;
  const char *shape = topology_ == MPI_CART         ? "grid"
                      : topology_ == MPI_GRAPH      ? "graph"
                      : topology_ == MPI_DIST_GRAPH ? "distributed graph"
                                                    : "communicator";
  const char *word = !offer_.all ? "passed on, for some rank is in another job"
                     : isSpread()
                         ? "served through shared memory in nodes, by messages between them"
                         : "served through shared memory";
  std::string hints = offer_.hints.text();
  printMessage("colldsl: %s of %zu ranks, %s: %s%s%s%s\n", shape, members_->size(), origin, word,
               offer_.mayUseDevices ? "; but not what is in memory of devices" : "",
               hints.empty() ? "" : "; info hints: ", hints.c_str());
}

std::vector<Rank> ServedComm::membersOf(MPI_Comm comm) const {
  int ranks = 0;
  MPI_Group group = MPI_GROUP_NULL;
  real::Comm_size(comm, &ranks);
  real::Comm_group(comm, &group);
  std::vector<int> mine(static_cast<size_t>(ranks)), world(mine.size());
  std::iota(mine.begin(), mine.end(), 0);
  real::Group_translate_ranks(group, ranks, mine.data(), job_.worldGroup(), world.data());
  real::Group_free(&group);
  std::vector<Rank> members;
  for (int rank : world)
    members.push_back(rank == MPI_UNDEFINED ? kNoRank : Rank{static_cast<uint32_t>(rank)});
  return members;
}

void ServedComm::describe(MPI_Comm comm, bool mayHaveTopology) {
  real::Comm_rank(comm, &rank_);
  if (mayHaveTopology)
    real::Topo_test(comm, &topology_);
  members_ = std::make_shared<const std::vector<Rank>>(membersOf(comm));
  // Processes of another job have contexts of their own.
  offer_.all = std::find(members_->begin(), members_->end(), kNoRank) == members_->end();
  servesNonblocking_ = job_.movesRemoteInBackground() || !isSpread();
  if (topology_ == MPI_UNDEFINED)
    return;
  Result<Neighborhood> neighborhood = neighborhoodOf(comm);
  if (!neighborhood)
    return;
  neighborhood_ = neighborhood.take();
  offer_.neighbors = offer_.all;
  if (offer_.neighbors)
    offer_.farPeers = static_cast<uint32_t>(
        std::max(farPeers(neighborhood_.out).size(), farPeers(neighborhood_.in).size()));
}

/// The peers on other nodes, once each. Edges are in the order of peers.
std::vector<uint32_t> ServedComm::farPeers(const std::vector<Edge> &edges) const {
  std::vector<uint32_t> peers;
  for (const Edge &edge : edges)
    if (onNode(edge.peer) == kNoRank &&
        (peers.empty() || peers.back() != static_cast<uint32_t>(edge.peer)))
      peers.push_back(static_cast<uint32_t>(edge.peer));
  return peers;
}

// If no rank has several peers on other nodes, there is little to combine and to spread.
void ServedComm::gatherGraph(MPI_Comm comm) {
  GraphPasses passes = Settings::all().graphPasses();
  uint32_t atLeast = passes == GraphPasses::Always ? 1 : kManyFarPeers;
  if (!offer_.neighbors || offer_.farPeers < atLeast || passes == GraphPasses::Never)
    return;
  Communicator *ranks = [&] {
    Guard guard(job_);
    return &plans()->communicator();
  }();
  graph_ = NeighborGraph::gather(job_, comm, *ranks, farPeers(neighborhood_.out), offer_.farPeers);
}

std::shared_ptr<PlanGroup> ServedComm::plansOf(Job::Context context) const {
  return std::make_shared<PlanGroup>(job_, members_, Rank{static_cast<uint32_t>(rank_)},
                                     context.number, RemoteRanks::kPlansOf | context.owner);
}

std::shared_ptr<PlanGroup> ServedComm::plansOfStream(uint32_t stream) const {
  return std::make_shared<PlanGroup>(job_, members_, Rank{static_cast<uint32_t>(rank_)},
                                     context_.number, RemoteRanks::kPlansOf | stream);
}

const std::shared_ptr<PlanGroup> &ServedComm::plans() {
  if (!plans_)
    plans_ = plansOf(context_);
  return plans_;
}

// A persistent call has a stream of its own.
std::shared_ptr<protocol::RunProgress> ServedComm::progressOf(uint32_t stream) {
  Tag key{context_.number, stream, 0, context_.owner};
  if (stream != 0)
    return std::make_shared<protocol::RunProgress>(job_.worker().progressTable(), key);
  if (!progress_)
    progress_ = std::make_shared<protocol::RunProgress>(job_.worker().progressTable(), key);
  return progress_;
}

bool ServedComm::isPlain(const Call &call) {
  if (call.kind == CallKind::Barrier || call.kind == CallKind::Bcast)
    return true;
  if (call.kind != CallKind::Allreduce)
    return false;
  const MPI_Datatype type = call.reducedType();
  bool isUsual = call.op == MPI_SUM || call.op == MPI_MAX || call.op == MPI_MIN;
  return isUsual && (type == MPI_INT || type == MPI_LONG || type == MPI_LONG_LONG ||
                     type == MPI_FLOAT || type == MPI_DOUBLE);
}

bool ServedComm::isCounted(CallKind kind) const {
  return !isAlongTopology(kind) && calls_ < Settings::all().firstCalls();
}

bool ServedComm::countCall(CallKind kind) {
  if (!isCounted(kind))
    return false;
  ++calls_;
  return true;
}

// Arguments that are not significant, away from the root or beside MPI_IN_PLACE, may have any
// value.
Call ServedComm::significant(const Call &call) const {
  Call known = call;
  bool isRoot = rank_ == call.root;
  if (!isRoot && (call.kind == CallKind::Gather || call.kind == CallKind::Gatherv ||
                  call.kind == CallKind::Reduce))
    known.recv = {};
  if (!isRoot && (call.kind == CallKind::Scatter || call.kind == CallKind::Scatterv))
    known.send = {};
  for (Side *side : {&known.send, &known.recv})
    if (side->buffer == MPI_IN_PLACE) {
      *side = {};
      side->buffer = MPI_IN_PLACE;
    }
  return known;
}

bool ServedComm::lookForDevices() {
  bool wereThere = Accelerators::arePresent(), areThere = Accelerators::look();
  if (areThere && !wereThere)
    forgetLast();
  return areThere;
}

MemoryKind ServedComm::memoryFor(const Call &call) const {
  return isAlongTopology(call.kind)
             ? memoryOf(call, neighborhood_.outdegree, neighborhood_.indegree)
             : memoryOf(significant(call), numRanks(), numRanks());
}

// If ranks may use devices, they have agreed on the call before. Managed memory is usable by the
// CPU too.
bool ServedComm::isUnusable(const Call &call) const {
  return !offer_.mayUseDevices && memoryFor(call) == MemoryKind::Device;
}

void ServedComm::skipRun(CallKind kind, const Status &why) {
  uint32_t run = nextRun();
  if (isAlongTopology(kind))
    progressOf(0)->whole(run);
  else
    refuse(*plans(), run, why);
}

// The first run has the reason; for later runs the others find that this rank is over with all
// runs.
void ServedComm::refusePersistent(CallKind kind, const Job::Context &context, const Status &why) {
  if (isAlongTopology(kind)) {
    refused_.push_back(progressOf(persistent_));
  } else {
    refuse(*plansOf(context), 1, why);
    Tag runs{context.number, RemoteRanks::kPlansOf | context.owner, 0, 0};
    refused_.push_back(
        std::make_shared<protocol::RunProgress>(job_.worker().progressTable(), runs));
  }
  refused_.back()->whole(UINT32_MAX - 1);
}

Result<bool> ServedComm::agreeOnDevices(const Call &call) {
  agreed_.mine = lookForDevices() && memoryFor(call) != MemoryKind::Host;
  if (!agreed_.operation) {
    Call ask{CallKind::Allreduce, {}, {}, 0, MPI_MAX};
    ask.send.buffer = &agreed_.mine;
    ask.recv.buffer = &agreed_.any;
    ask.send.type = ask.recv.type = MPI_INT;
    ask.send.count = ask.recv.count = 1;
    Result<std::shared_ptr<Operation>> made = unlessMemoryIsShort([&] {
      plans()->numberNextRun(runs_ + 1);
      return CollectiveOperation::make(*this, plans(), ask);
    });
    if (!made) {
      skipRun(ask.kind, made.status());
      return made.status();
    }
    if (!*made) // it is not proved, on all ranks: then all pass the call on
      return true;
    agreed_.operation = made.take();
  }
  if (Status s = agreed_.operation->run(nextRun()); !s)
    return s;
  return agreed_.any != 0;
}

Result<std::shared_ptr<Operation>> ServedComm::operationFor(const Call &call) {
  wrong_ = {};
  if (Accelerators::arePresent() && isUnusable(call))
    return lateDevice(call.kind);
  if (!call.lacksRequest && isSameAsLast(call) && idleOperation(call.kind))
    return lastOperation(call.kind);
  if (call.op != MPI_OP_NULL && Reduction::isKnownUnserved(call.op, call.reducedType()))
    return std::shared_ptr<Operation>();
  Result<std::shared_ptr<Operation>> operation = unlessMemoryIsShort([&] {
    applyAgreedHints();
    return trusts(call) ? fixedOrFound(call)
                        : findOrMake(isAlongTopology(call.kind) ? call : significant(call));
  });
  // The set of quick calls differs between ranks, and quick calls are not counted.
  bool isQuick = operation && *operation && !isCounted(call.kind) && !offer_.mayUseDevices &&
                 (trusts(call) || (!call.hasLists() && (*operation)->isQuick()));
  quick_[static_cast<size_t>(call.kind)] = {isQuick ? *operation : nullptr, call};
  return operation;
}

// Only words are compared. If these differ the call takes the path of any other: either its lists
// have moved, or the hint is wrong, and no rank has to wait for that.
Result<std::shared_ptr<Operation>> ServedComm::fixedOrFound(const Call &call) {
  Fixed &fixed = fixed_[static_cast<size_t>(call.kind)];
  bool isKnown = fixed.operation != nullptr;
  if (isKnown && !fixed.operation->isBusy() && fixed.call.isSameAs(call))
    return fixed.operation;
  bool isBroken = isKnown && !fixed.operation->serves(call);
  Result<std::shared_ptr<Operation>> found = findOrMake(call);
  if (isBroken)
    distrust(call.kind);
  else if (found && *found)
    fixed = {*found, call};
  return found;
}

void ServedComm::distrust(CallKind kind) {
  fixed_.clear();
  *hasStaticBuffers_ = false;
  if (Settings::all().isVerbose())
    printMessage("colldsl: rank %d of %zu: arguments of %s changed, against cdag_static_buffers; "
                 "from now on they are compared\n",
                 rank_, members_->size(), kCallNames[static_cast<size_t>(kind)]);
}

// A program that rotates among some buffers has an operation for each, up to kPlaces; beyond, the
// least recently used operation moves.
Result<std::shared_ptr<Operation>> ServedComm::findOrMake(const Call &call) {
  PreparedOperations::Found found = prepared_.find(call);
  if (!found.isThere || call.lacksRequest)
    if (wrong_ = findWrongArgument(*this, call); wrong_)
      return Status::error(wrong_.reason);
  // New memory may belong to a driver that was loaded since.
  if (!found.isThere && !Accelerators::arePresent() && lookForDevices() && isUnusable(call))
    return lateDevice(call.kind);
  if (!found.operation)
    return resizeOrMake(call);
  if (!found.isThere && (found.places < kPlaces || !found.operation->mayMoveTo(call)))
    return make(call);
  found.operation->willServe(call);
  if (!found.isThere)
    found.operation->moveTo(call);
  return std::move(found.operation);
}

// Calls whose arguments change each time share one plan.
Result<std::shared_ptr<Operation>> ServedComm::resizeOrMake(const Call &call) {
  std::shared_ptr<Operation> resized = learner_ ? nullptr : prepared_.resize(call);
  if (!resized)
    return make(call);
  Summary::all().countResized();
  return resized;
}

Result<std::shared_ptr<Operation>> ServedComm::makeForAll(const Call &call) {
  plans()->numberNextRun(runs_ + 1); // it fails if this rank cannot make its plan
  std::optional<LearnedKey> key = learner_ ? learner_->keyOf(call) : std::nullopt;
  return key ? LearnedOperation::make(*learner_, *key, call)
             : CollectiveOperation::make(*this, plans(), call);
}

Result<std::shared_ptr<Operation>> ServedComm::make(const Call &call) {
  if (!MemoryReserve::isWhole())
    return shortOfMemory();
  Result<std::shared_ptr<Operation>> made =
      isAlongTopology(call.kind) ? NeighborOperation::make(*this, call, 0) : makeForAll(call);
  if (!made || !*made)
    return made;
  prepared_.put(*made);
  Summary::all().countPrepared();
  return made;
}

// Runs of persistent calls are started in any order, so the plan of each has a context of its own.
Result<std::shared_ptr<Operation>> ServedComm::makePersistent(const Call &call) {
  wrong_ = {};
  Job::Context context;
  if (isAlongTopology(call.kind))
    ++persistent_;
  else if (context = takeContexts(1); context.number == 0)
    return std::shared_ptr<Operation>();
  Result<std::shared_ptr<Operation>> made = unlessMemoryIsShort([&] {
    return makePersistentFor(isAlongTopology(call.kind) ? call : significant(call), context);
  });
  if (!made)
    refusePersistent(call.kind, context, made.status());
  return made;
}

Result<std::shared_ptr<Operation>> ServedComm::makePersistentFor(const Call &call,
                                                                 Job::Context context) {
  if (!MemoryReserve::isWhole())
    return shortOfMemory();
  if (wrong_ = findWrongArgument(*this, call); wrong_)
    return Status::error(wrong_.reason);
  if (lookForDevices() && isUnusable(call))
    return lateDevice(call.kind);
  if (isAlongTopology(call.kind))
    return NeighborOperation::make(*this, call, persistent_);
  std::shared_ptr<PlanGroup> plans = plansOf(context);
  plans->numberNextRun(1); // it fails if this rank cannot make its plan
  return CollectiveOperation::makePersistent(*this, std::move(plans), call,
                                             learner_ ? learner_->decided(call) : nullptr);
}

} // namespace colldsl::mpi
