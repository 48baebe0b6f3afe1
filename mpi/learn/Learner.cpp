#include "mpi/learn/Learner.h"

#include "ir/Concat.h"
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"
#include "mpi/learn/LearnedOperation.h"
#include "mpi/learn/Learning.h"
#include "mpi/operations/CollectiveOperation.h"
#include "select/Candidate.h"
#include "select/Chooser.h"
#include "select/Decision.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace colldsl::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// The most classes of a communicator: no program that repeats its calls uses more at once.
constexpr size_t kMostClasses = 64;
// Candidates that the model predicts to be slower than its best by more than this factor are not
// tried. The model covers messages only; caches and other work on the machine account for less than
// this factor in measurements.
constexpr uint64_t kReach = 2;
// With COLLDSL_LEARN=always all candidates are tried: a factor that is finite.
constexpr uint64_t kAnyReach = 1 << 20;
// The cost of computing and preparing the candidates: a constant, and a time per op that the model
// simulates; the ops grow with the ranks.
constexpr uint64_t kSearchNs = 2'000'000, kNsPerOp = 150;
constexpr uint64_t kSearchOps = 1 << 16, kOpsPerRank = 2048;
// The cost of preparing the ways along a graph, which the model found before.
constexpr uint64_t kWaysNs = 200'000;
// Time in the collective that must pass before a first look: its agreement takes 2 % of that.
constexpr double kFirstLookNs = 2e6;
// The least time of a call, and per byte, approximately.
constexpr double kLeastCallNs = 300, kLeastByteNs = 0.1;
constexpr uint64_t kMostFirstLook = 4096, kLeastFirstLook = 32;
// The length that the model assumes for blocks whose lengths ranks do not know from each other.
constexpr uint64_t kUnknownBytes = 1024;

uint64_t nsSince(Clock::time_point begin) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
}

/// True if all ranks know the bytes of a block.
bool hasBytes(CallKind kind) {
  BlockLength length = factsOf(kind).length;
  return length != BlockLength::Listed && length != BlockLength::Counted && !isAlongTopology(kind);
}

bool sendsSame(CallKind kind) {
  return kind == CallKind::NeighborAllgather || kind == CallKind::NeighborAllgatherv;
}

/// True if MPI requires that either all ranks are in place or none.
bool sharesPlace(CallKind kind) {
  return factsOf(kind).inPlace == InPlace::Send && kind != CallKind::ReduceScatter &&
         kind != CallKind::Scan && kind != CallKind::Exscan;
}

/// The side that has a block of this rank, or of the root.
const BlockSide &blockOf(const Call &call) {
  if (call.kind == CallKind::Bcast)
    return call.recv;
  if (call.kind == CallKind::Scatter)
    return call.recv.isInPlace() ? call.send : call.recv;
  if (call.kind == CallKind::ReduceScatterBlock)
    return call.recv;
  return call.input();
}

/// The bytes of the block of a call. Empty: the arguments are wrong.
std::optional<uint64_t> bytesOf(const Call &call) {
  if (call.kind == CallKind::Barrier || !hasBytes(call.kind))
    return 0;
  const BlockSide &side = blockOf(call);
  if (side.count == 0) // of any datatype
    return 0;
  Result<SharedLayout> layout =
      side.type == MPI_DATATYPE_NULL ? Status::error("no datatype") : layoutOf(side.type);
  if (!layout || side.count < 0)
    return std::nullopt;
  return static_cast<uint64_t>(side.count) * (*layout)->size;
}

/// False: few collectives serve an operator that does not commute, and decisions are not for it.
bool commutes(const Call &call) {
  if (call.op == MPI_OP_NULL)
    return true;
  std::unique_ptr<Reduction> reduction = Reduction::of(call.op, call.reducedType());
  return reduction && reduction->commutes();
}

} // namespace

Learner::Learner(ServedComm &comm)
    : comm_(comm), sum_(MPI_SUM, MPI_UINT64_T, Trials::kMostWords, mine_.data(), sums_.data()) {}

Learner::~Learner() {
  for (const auto &[key, learned] : classes_)
    if (learned->trials.communicationNs() > 0 && comm_.ranks().self() == 0)
      comm_.job().learning()->add(rowOf(*learned));
}

std::optional<LearnedKey> Learner::keyOf(const Call &call) {
  if (isAlongTopology(call.kind))
    return comm_.topology().graph() ? std::optional(LearnedKey{call.kind}) : std::nullopt;
  Job &job = comm_.job();
  std::string function = CollectiveOperation::functionOf(comm_, call.kind);
  if (comm_.ranks().count() < 2 || job.ownLibraryFor(function) || !commutes(call))
    return std::nullopt;
  std::optional<uint64_t> bytes = bytesOf(call);
  if (!bytes)
    return std::nullopt;
  if (Settings::all().learnsAlways())
    return LearnedKey{call.kind, 0, 0, false};
  LearnedKey key{call.kind, *bytes, call.root, sharesPlace(call.kind) && call.send.isInPlace()};
  const Topology &topology = comm_.runs().plans()->communicator().topology();
  Situation situation = Situation::on(topology, false);
  situation.function = function;
  situation.bytes = *bytes;
  situation.type = ElementType::U8;
  Result<Chooser> chooser = Chooser::of(job.library());
  const SelectionRule *rule = chooser ? chooser->choose(situation) : nullptr;
  bool isDecided = rule && chooser->isDecision(*rule);
  if (isDecided || job.learning()->isMeasured(pointOf(key)))
    return std::nullopt;
  return key;
}

std::shared_ptr<LearnedClass> Learner::find(const LearnedKey &key) const {
  auto known = classes_.find(key);
  return known == classes_.end() ? nullptr : known->second;
}

TrialSettings Learner::settingsFor(const LearnedKey &key) const {
  TrialSettings settings;
  settings.ranks = static_cast<uint32_t>(comm_.ranks().count());
  double call = kLeastCallNs + static_cast<double>(key.bytes) * kLeastByteNs;
  settings.firstLook =
      std::clamp(static_cast<uint64_t>(kFirstLookNs / call), kLeastFirstLook, kMostFirstLook);
  settings.expectedSearchNs =
      isAlongTopology(key.kind)
          ? kWaysNs
          : kSearchNs + std::min<uint64_t>(kSearchOps, kOpsPerRank * settings.ranks) * kNsPerOp;
  if (Settings::all().learnsAlways()) {
    settings.firstLook = settings.lookCalls = settings.callsInRow = 1;
    settings.mostShare = std::numeric_limits<double>::infinity();
  }
  return settings;
}

// The least recently called class that is not decided makes room for a new one.
std::shared_ptr<LearnedClass> Learner::classFor(const LearnedKey &key, uint32_t run) {
  if (std::shared_ptr<LearnedClass> known = find(key))
    return known;
  if (isAlongTopology(key.kind) && !comm_.topology().graph()->isDue(run))
    return nullptr;
  if (classes_.size() >= kMostClasses) {
    auto oldest = classes_.end();
    for (auto at = classes_.begin(); at != classes_.end(); ++at)
      if (!at->second->trials.isOver() &&
          (oldest == classes_.end() || run - at->second->lastRun > run - oldest->second->lastRun))
        oldest = at;
    if (oldest == classes_.end())
      return nullptr;
    oldest->second->isDropped = true;
    for (LearnedOperation *operation : oldest->second->operations)
      operation->keepOnly(Trials::kShipped);
    classes_.erase(oldest);
  }
  auto made = std::make_shared<LearnedClass>(key, settingsFor(key));
  classes_.emplace(key, made);
  return made;
}

const TunedCollective *Learner::decided(const Call &call) {
  std::optional<LearnedKey> key = keyOf(call);
  std::shared_ptr<LearnedClass> learned = key ? find(*key) : nullptr;
  bool isOther = learned && learned->trials.best() != Trials::kShipped;
  return isOther ? &learned->what[learned->trials.best()] : nullptr;
}

void Learner::countFailed(const Call &call, uint32_t run) {
  std::optional<LearnedKey> key = keyOf(call);
  std::shared_ptr<LearnedClass> learned = key ? classFor(*key, run) : nullptr;
  if (!learned)
    return;
  learned->lastRun = run;
  if (learned->trials.begin() && learned->trials.ran(0, 0, true))
    endStep(*learned, nullptr);
}

// An error in the sums occurs on all ranks, as each depends on messages of all others: all give up.
// The call itself was served.
void Learner::endStep(LearnedClass &learned, LearnedOperation *operation) {
  Trials &trials = learned.trials;
  if (trials.wantsCandidates())
    search(learned, operation);
  Clock::time_point begin = Clock::now();
  std::span<const uint64_t> words = trials.words();
  size_t numWords = words.size();
  if (Status sum = addUp(words); sum.ok())
    trials.agree(std::span(sums_).first(numWords), nsSince(begin));
  else
    giveUp(learned, sum);
  if (!trials.isOver())
    return;
  for (LearnedOperation *each : learned.operations)
    each->keepOnly(trials.best());
  report(learned);
}

void Learner::search(LearnedClass &learned, LearnedOperation *operation) {
  Clock::time_point begin = Clock::now();
  uint32_t unusable = UINT32_MAX;
  learned.what.clear();
  std::optional<TunedCollective> shipped = operation ? operation->shipped() : std::nullopt;
  auto found = shipped ? candidatesFor(learned.key, operation->bytes(), *shipped)
                       : std::vector<TunedCollective>();
  if (!found)
    comm_.job().noteHere(concat("no candidates are tried: ", found.message()));
  else if (shipped) {
    learned.what = found.take();
    learned.what.insert(learned.what.begin(), *shipped);
    unusable = operation->prepare(learned.what);
  }
  auto candidates = static_cast<uint32_t>(std::max<size_t>(learned.what.size(), 1) - 1);
  learned.trials.setCandidates(candidates, unusable, nsSince(begin));
}

Result<std::vector<TunedCollective>> Learner::candidatesFor(const LearnedKey &key, uint64_t bytes,
                                                            const TunedCollective &shipped) const {
  if (isAlongTopology(key.kind))
    return waysFor(key, shipped);
  Job &job = comm_.job();
  Library &library = job.library();
  bool isAny = Settings::all().learnsAlways();
  CostModel cost;
  cost.machine = library.costs() ? *library.costs() : job.compiler()->settings().machine;
  CandidateLimits limits;
  limits.most = isAny ? SIZE_MAX : Trials::kMostCandidates + 1;
  limits.reach = isAny ? kAnyReach : kReach;
  limits.mostOps = kSearchOps;
  limits.needsModel = !isAny;
  const Topology &topology = comm_.runs().plans()->communicator().topology();
  uint64_t modelBytes = hasBytes(key.kind) ? bytes : kUnknownBytes;
  Result<CandidateFinder> finder = CandidateFinder::of(library, cost, topology);
  if (!finder)
    return finder.status();
  std::vector<TunedCollective> found =
      finder->make(CollectiveOperation::functionOf(comm_, key.kind), modelBytes, limits).candidates;
  // In scans each rank decides for itself if it is in place.
  const Program &program = **library.program();
  bool needsPlace = key.kind == CallKind::Scan || key.kind == CallKind::Exscan;
  std::erase_if(found, [&](const TunedCollective &what) {
    const Decl &decl = program.decl(program.find(what.name, DeclKind::Collective));
    return what == shipped || (needsPlace && decl.aliases.empty());
  });
  if (isAny && !found.empty()) // each communicator begins with another one
    std::rotate(found.begin(), found.begin() + comm_.contexts().own().number % found.size(),
                found.end());
  found.resize(std::min(found.size(), Trials::kMostCandidates));
  return found;
}

std::vector<TunedCollective> Learner::waysFor(const LearnedKey &key,
                                              const TunedCollective &shipped) const {
  const auto &ways = comm_.topology().graph()->ways(sendsSame(key.kind));
  uint64_t reach = Settings::all().learnsAlways() ? kAnyReach : kReach, best = UINT64_MAX;
  for (const NeighborGraph::Way &way : ways)
    best = std::min(best, way->afterNs);
  std::vector<TunedCollective> found;
  for (const NeighborGraph::Way &way : ways)
    if (way->name != shipped.name && way->afterNs / reach <= best)
      found.push_back({way->name, {}});
  found.resize(std::min(found.size(), Trials::kMostCandidates));
  return found;
}

void Learner::giveUp(LearnedClass &learned, const Status &why) {
  learned.trials.giveUp();
  comm_.job().note(concat(CollectiveOperation::functionOf(comm_, learned.key.kind),
                          ": the times of the ranks cannot be added up: ", why.message()));
}

Status Learner::addUp(std::span<const uint64_t> words) {
  std::fill(std::copy(words.begin(), words.end(), mine_.begin()), mine_.end(), 0);
  uint32_t run = comm_.runs().next();
  Result<bool> isServed = sum_.prepare(comm_, run);
  if (!isServed)
    return isServed.status();
  return *isServed ? sum_.run(run) : Status::error("sums are not served");
}

TuningPoint Learner::pointOf(const LearnedKey &key) const {
  const Topology &topology = comm_.runs().plans()->communicator().topology();
  TuningPoint point;
  point.function = CollectiveOperation::functionOf(comm_, key.kind);
  point.ranks = topology.numRanks();
  point.nodes = topology.numGroups(Level::Node);
  point.bytes = key.bytes;
  return point;
}

LearnedRow Learner::rowOf(const LearnedClass &learned) const {
  const Trials &trials = learned.trials;
  LearnedRow row{.point = pointOf(learned.key)};
  TuningPoint &point = row.point;
  point.isLearned = true;
  if (!learned.what.empty())
    point.shipped = learned.what.front();
  point.shippedNs = trials.ns(Trials::kShipped);
  for (uint32_t i = 1; i < learned.what.size(); ++i)
    if (trials.ns(i) > 0)
      point.entries.push_back({learned.what[i], trials.ns(i)});
  const TunedCollective *best =
      trials.best() == Trials::kShipped ? nullptr : &learned.what[trials.best()];
  sortEntries(point, best);
  point.margin = trials.margin().median;
  point.least = trials.margin().least;
  row.isOver = trials.isDecided();
  row.hasBytes = hasBytes(learned.key.kind) && !Settings::all().learnsAlways();
  row.calls = trials.calls();
  row.trialCalls = trials.trialCalls();
  row.communicationNs = trials.communicationNs();
  row.spentNs = trials.spentNs();
  return row;
}

void Learner::report(const LearnedClass &learned) {
  const Trials &trials = learned.trials;
  std::string function = CollectiveOperation::functionOf(comm_, learned.key.kind);
  if (!trials.isDecided())
    return comm_.job().note(concat(function, ": nothing is learned, for a call or a sum failed"));
  std::string lengths =
      hasBytes(learned.key.kind) ? concat(learned.key.bytes, " bytes") : "all lengths";
  comm_.job().note(concat(function, " of ", lengths, " on ", comm_.ranks().count(),
                          " ranks: learned in ", trials.calls(),
                          " calls: ", learned.what[trials.best()].words(),
                          trials.best() == Trials::kShipped ? " stays" : " from now on"));
}

} // namespace colldsl::mpi
