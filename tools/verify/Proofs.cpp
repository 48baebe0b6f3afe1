#include "tools/verify/Proofs.h"

#include "tools/explain/Explanations.h"
#include "tools/input/BlockSizes.h"
#include "tools/options/Lists.h"
#include "tools/passes/RunPasses.h"
#include "verifier/Alike.h"

namespace colldsl::tools {
namespace {

constexpr uint32_t kMaxRanks = 17;
// Nothing, one element, and a number that no number of ranks or segments divides, of
// more than one segment of the usual size.
constexpr uint64_t kElements[] = {0, 1, 40009};

bool hasBuffers(const Source &source, const Source::Target &target) {
  for (const Param &param : source.program().decl(target.collective).params)
    if (param.isBuffer)
      return true;
  return false;
}

ProofOutcome invalid(const Diagnostic &error) {
  Failure failure{{}, error.message, {{kNoRank, kNoOp, error.loc, ""}}};
  std::vector<Diagnostic> why{error};
  addExplanationNote(why);
  return {ProofOutcome::Kind::Invalid, std::move(why), {}, proof::patternOf(failure, true)};
}

} // namespace

std::string ProofTask::words() const {
  std::string text = counted(shape.ranks, "rank") + ", " + bytesWord(bytes);
  if (shape.inPlace)
    text += ", in place";
  return call.chosen.empty() ? text : text + ", " + call.words();
}

Result<const Topology *> Proofs::topology(uint32_t ranks) {
  auto known = topologies_.find(ranks);
  if (known == topologies_.end()) {
    Result<Topology> made = Topology::make(options_.topology, ranks);
    if (!made)
      return made.status();
    known = topologies_.emplace(ranks, made.take()).first;
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
    Result<const Topology *> fits = topology(r);
    if (!fits && r == 1)
      return fits.status();
    if (!fits)
      break;
    ranks.push_back(r);
  }
  return ranks;
}

Result<std::vector<uint64_t>> Proofs::bytesOf(const Source::Target &target) const {
  uint64_t elementBytes = source_.elementBytes(target, options_.type);
  if (request_.bytes) {
    for (uint64_t bytes : *request_.bytes)
      if (bytes % elementBytes != 0)
        return Status::error("--bytes " + std::to_string(bytes) + ": elements of '" + target.name +
                             "' have " + counted(elementBytes, "byte"));
    return *request_.bytes;
  }
  if (target.schedule)
    return std::vector<uint64_t>{target.schedule->sizeClass.elements * elementBytes};
  if (!hasBuffers(source_, target))
    return std::vector<uint64_t>{0};
  std::vector<uint64_t> bytes;
  for (uint64_t elements : kElements)
    bytes.push_back(elements * elementBytes);
  return bytes;
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
  std::vector<bool> forms{request_.onlyInPlace};
  if (!request_.onlyInPlace && hasAliases(source_, target))
    forms.push_back(true);
  uint64_t elementBytes = source_.elementBytes(target, options_.type);
  std::vector<ProofTask> tasks;
  for (uint32_t r : *ranks) {
    Result<const Topology *> place = topology(r);
    if (!place)
      return place.status();
    for (uint64_t bytes : *sizes) {
      Result<std::vector<Call>> calls = parameters_.calls(target, r, bytes / elementBytes);
      if (!calls)
        return calls.status();
      for (Call &call : *calls) {
        Shape shape{r, bytes / elementBytes, false, *place};
        if (Status s = bindTuningParameters(source_, target, options_, shape, call); !s)
          return s;
        for (bool inPlace : forms)
          tasks.push_back({{r, bytes / elementBytes, inPlace, *place}, bytes, call});
      }
    }
  }
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
  auto schedule = makeSchedule(source_, target, options_, task.call, task.shape);
  if (schedule)
    return schedule.take();
  const Diagnostic &error = schedule.status().diagnostic();
  if (!target.schedule && breaksRequirement(source_.program(), target.collective, error))
    outcome = {Kind::Excluded, {}, {}};
  else
    outcome = invalid(error);
  return nullptr;
}

ProofOutcome Proofs::prove(const ProofTask &task, const Schedule &schedule) const {
  using Kind = ProofOutcome::Kind;
  Result<std::vector<Sizes>> sizes = chooseSizes(schedule, task.shape.elements, request_.seed);
  if (!sizes)
    return invalid(sizes.status().diagnostic());
  VerifyReport report = verify(schedule, *sizes, request_.verify);
  if (report.proved())
    return {Kind::Proved, {}, std::move(report.compared), {}, std::move(report.waste)};
  return {Kind::Refused, counterexample(report), {}, report.failures.front().pattern};
}

} // namespace colldsl::tools
