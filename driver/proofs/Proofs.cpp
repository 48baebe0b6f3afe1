#include "driver/proofs/Proofs.h"

#include "driver/Lists.h"
#include "driver/explain/Explanations.h"
#include "driver/proofs/Counterexample.h"
#include "driver/schedule/RunPasses.h"
#include "program/CountedSize.h"
#include "verifier/Alike.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace colldsl::driver {
namespace {

constexpr uint32_t kMaxRanks = 17;
// No element, one, and a number that no number of ranks or segments divides, of more than one
// segment of the usual size.
constexpr uint64_t kElements[] = {0, 1, 40009};

/// Elements for collectives without a size symbol: lengths of blocks are up to twice as many.
constexpr uint64_t kElementsWithoutSize = 40009;

ProofOutcome invalid(const Diagnostic &error) {
  proof::Failure failure{{}, error.message, {{kNoRank, kNoOp, error.loc, ""}}};
  std::vector<Diagnostic> why{error};
  addExplanationNote(why);
  return {ProofOutcome::Kind::Invalid, std::move(why), {}, proof::patternOf(failure, true)};
}

/// "topology=node:3", "topology='node:2 core:4'"; empty without a topology.
std::string machineWord(const std::string &topology) {
  if (topology.empty())
    return "";
  bool isOneWord = topology.find(' ') == std::string::npos;
  return "topology=" + (isOneWord ? topology : "'" + topology + "'");
}

std::shared_ptr<const LeaderOrder> highestFirst(uint32_t ranks) {
  std::vector<uint32_t> places(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    places[r] = ranks - 1 - r;
  auto leaders = std::make_shared<LeaderOrder>();
  leaders->places.fill(places);
  return leaders;
}

} // namespace

std::string ProofTask::callWords() const {
  std::string text = shape.inPlace ? "in place" : "";
  const char *leaders = lead == Lead::Highest ? "leaders=highest" : "";
  for (const std::string &more : {call.words(), machineWord(topology), std::string(leaders)})
    text += (text.empty() || more.empty() ? "" : ", ") + more;
  return text;
}

std::string ProofTask::words() const {
  std::string how = callWords();
  return counted(shape.ranks, "rank") + (hasSize ? ", " + bytesWord(bytes) : "") +
         (how.empty() ? "" : ", ") + how;
}

Proofs::Proofs(Source &source, const ProofRequest &request, const Watch &watch)
    : source_(source), request_(request), parameters_(source, request_.schedule, request_.variety) {
  request_.schedule.instantiate.stop = request_.verify.stop = watch.stop;
  request_.schedule.invariants = Invariants::Recorded;
}

Result<const Topology *> Proofs::topology(const std::string &description, uint32_t ranks) {
  auto known = topologies_.find({description, ranks});
  if (known == topologies_.end()) {
    Result<Topology> made = Topology::make(description, ranks);
    if (!made)
      return made.status();
    known = topologies_.emplace(std::pair(description, ranks), made.take()).first;
  }
  return &known->second;
}

Result<std::vector<uint32_t>> Proofs::ranksOf(const Source::Target &target) {
  if (request_.ranks)
    return *request_.ranks;
  if (target.schedule)
    return std::vector<uint32_t>{target.schedule->numRanks()};
  std::vector<uint32_t> ranks;
  for (uint32_t r = 1; r <= kMaxRanks; ++r) {
    Result<const Topology *> fits = topology(request_.schedule.topology, r);
    if (!fits && r == 1)
      return fits.status();
    if (!fits)
      break;
    ranks.push_back(r);
  }
  return ranks;
}

bool Proofs::hasSize(const Source::Target &target) const {
  return target.schedule || countedSlot(source_.program().decl(target.collective)) != kNoSlot;
}

Result<std::vector<uint64_t>> Proofs::bytesOf(const Source::Target &target) const {
  uint64_t elementBytes = source_.elementBytes(target, request_.schedule.elementType());
  if (request_.bytes) {
    for (uint64_t bytes : *request_.bytes)
      if (Status s = checkWhole(bytes, elementBytes, target.name); !s)
        return s;
    return *request_.bytes;
  }
  if (target.schedule)
    return std::vector<uint64_t>{target.schedule->sizeClass.elements * elementBytes};
  if (!hasSize(target))
    return std::vector<uint64_t>{kElementsWithoutSize * elementBytes};
  std::vector<uint64_t> bytes;
  for (uint64_t elements : kElements)
    bytes.push_back(elements * elementBytes);
  return bytes;
}

std::vector<bool> Proofs::formsOf(const Source::Target &target) const {
  std::vector<bool> forms{request_.onlyInPlace};
  if (!request_.onlyInPlace && hasAliases(source_, target))
    forms.push_back(true);
  return forms;
}

// All calls of the largest size, and the first call of other sizes, are proved on all machines.
Result<std::vector<Proofs::Trial>> Proofs::trialsOf(const Source::Target &target, uint32_t ranks,
                                                    const std::vector<uint64_t> &sizes) {
  uint64_t elementBytes = source_.elementBytes(target, request_.schedule.elementType());
  uint64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  std::vector<Trial> trials;
  for (uint64_t bytes : sizes) {
    Result<std::vector<Call>> calls = parameters_.calls(target, ranks, bytes / elementBytes);
    if (!calls)
      return calls.status();
    for (size_t i = 0; i < calls->size(); ++i) {
      bool isOnAll = request_.variety.thorough || bytes == largest || i == 0;
      trials.push_back({bytes, std::move((*calls)[i]), {}, {}, false, isOnAll});
    }
  }
  const Pipeline &passes = request_.schedule.passes.pipeline;
  MachineUse use(source_.program());
  for (Trial &trial : trials) {
    if (!target.schedule)
      trial.use = use.find(target.collective, trial.call.arguments);
    trial.levels = passes.empty() ? trial.use.levels : LevelSet::wholeMachine();
    trial.variesLead = trial.use.leaders && !passes.has(PassKind::Program);
  }
  return trials;
}

Result<std::vector<Proofs::Place>> Proofs::placesOf(uint32_t ranks) {
  std::vector<TrialMachine> machines{{request_.schedule.topology, ""}};
  if (request_.variesMachine)
    machines = trialMachines(ranks, request_.variety.thorough);
  std::vector<Place> places;
  for (TrialMachine &machine : machines) {
    Result<const Topology *> made = topology(machine.topology, ranks);
    if (!made)
      return made.status();
    places.push_back({std::move(machine), *made});
  }
  return places;
}

std::tuple<uint8_t, uint64_t, bool> Proofs::Place::look(const Trial &trial) const {
  return {trial.levels.bits(), signatureOf(*topology, trial.levels),
          trial.variesLead && machine.highestLead && topology->numRanks() > 1};
}

Status Proofs::addTask(const Source::Target &target, const Trial &trial, const Place &place,
                       Shape shape, std::vector<ProofTask> &tasks) {
  using Lead = ProofTask::Lead;
  ProofTask task{shape, trial.bytes, trial.call};
  task.levels = trial.use.levels;
  task.hasSize = hasSize(target);
  if (!trial.levels.empty())
    task.topology = place.machine.topology;
  if (trial.variesLead)
    task.lead = place.machine.highestLead ? Lead::Highest : Lead::Lowest;
  if (task.lead == Lead::Highest)
    task.call.leaders = highestFirst(shape.ranks);
  if (Status s = bindTuningParameters(source_, target, request_.schedule, shape, task.call); !s)
    return s;
  for (bool inPlace : formsOf(target)) {
    task.shape.inPlace = inPlace;
    tasks.push_back(task);
  }
  return {};
}

// One of several places that do not differ for a trial is proved.
Status Proofs::addTasks(const Source::Target &target, uint32_t ranks,
                        const std::vector<uint64_t> &sizes, std::vector<ProofTask> &tasks) {
  Result<std::vector<Place>> places = placesOf(ranks);
  if (!places)
    return places.status();
  Result<std::vector<Trial>> trials = trialsOf(target, ranks, sizes);
  if (!trials)
    return trials.status();
  uint64_t elementBytes = source_.elementBytes(target, request_.schedule.elementType());
  std::set<std::tuple<uint8_t, uint64_t, bool>> known; // keys of the places before
  for (const Place &place : *places) {
    std::set<std::tuple<uint8_t, uint64_t, bool>> looks;
    for (const Trial &trial : *trials) {
      looks.insert(place.look(trial));
      bool isFirst = &place == &places->front();
      if (!isFirst && (!trial.isOnAll || known.contains(place.look(trial))))
        continue;
      Shape shape{ranks, trial.bytes / elementBytes, false, place.topology};
      if (Status s = addTask(target, trial, place, shape, tasks); !s)
        return s;
    }
    known.merge(looks);
  }
  return {};
}

Result<std::vector<ProofTask>> Proofs::plan(const Source::Target &target) {
  if (request_.onlyInPlace && !target.schedule && !hasAliases(source_, target))
    return Status::error("'" + target.name + "' has no form in place");
  Result<std::vector<uint32_t>> ranks = ranksOf(target);
  if (!ranks)
    return ranks.status();
  Result<std::vector<uint64_t>> sizes = bytesOf(target);
  if (!sizes)
    return sizes.status();
  std::vector<ProofTask> tasks;
  for (uint32_t r : *ranks)
    if (Status s = addTasks(target, r, *sizes, tasks); !s)
      return s;
  return tasks;
}

ProofOutcome Proofs::prove(const Source::Target &target, const ProofTask &task) const {
  ProofOutcome outcome;
  std::shared_ptr<const Schedule> schedule = make(target, task, outcome);
  return schedule ? prove(task, *schedule) : outcome;
}

std::shared_ptr<const Schedule> Proofs::make(const Source::Target &target, const ProofTask &task,
                                             ProofOutcome &outcome) const {
  using Kind = ProofOutcome::Kind;
  auto schedule = makeSchedule(source_, target, request_.schedule, task.call, task.shape);
  if (schedule) {
    assert(!(*schedule)->usesTopology || !task.levels.empty());
    return schedule.take();
  }
  const Diagnostic &error = schedule.status().diagnostic();
  if (!target.schedule && breaksRequirement(source_.program(), target.collective, error))
    outcome = {Kind::Excluded, {}, {}};
  else
    outcome = invalid(error);
  return nullptr;
}

ProofOutcome Proofs::prove(const ProofTask &task, const Schedule &schedule) const {
  using Kind = ProofOutcome::Kind;
  Result<LengthProofs> proofs =
      proveLengths(schedule, task.shape.elements, request_.seed, request_.verify);
  if (!proofs)
    return invalid(proofs.status().diagnostic());
  proof::VerifyReport &report = proofs->report;
  if (report.proved())
    return {Kind::Proved,   {}, std::move(report.compared), {}, std::move(report.waste),
            proofs->lengths};
  return {Kind::Refused, counterexample(report), {}, report.failures.front().pattern};
}

} // namespace colldsl::driver
