#include "tools/input/SingleSchedule.h"

#include "runtime/StoredImages.h"
#include "tools/input/Functions.h"
#include "tools/input/GivenOptions.h"
#include "tools/options/Lists.h"
#include "tools/passes/RunPasses.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::tools {
namespace {

/// The n to use: of the options, else of a schedule from a file, else the default.
Result<uint64_t> chooseElements(const Source &source, const Source::Target &target,
                                const SingleOptions &options) {
  if (target.schedule && !options.bytes)
    return target.schedule->sizeClass.elements;
  uint64_t bytes = options.bytes.value_or(kUsualBytes);
  uint64_t elementBytes = source.elementBytes(target, options.schedule.type);
  if (bytes % elementBytes != 0)
    return Status::error("--bytes " + std::to_string(bytes) + ": elements of '" + target.name +
                         "' have " + counted(elementBytes, "byte"));
  return bytes / elementBytes;
}

} // namespace

void SingleOptions::addTo(Options &options, llvm::StringRef topologyHelp) {
  addCall(options, topologyHelp);
  schedule.usesProfile = true;
  schedule.addTo(options);
}

void SingleOptions::addCall(Options &options, llvm::StringRef topologyHelp) {
  options.add("-n", "N", "number of ranks; a schedule from a file has its own",
              [this](llvm::StringRef text) -> Status {
                Result<uint64_t> number = parseNumber(text, 1, UINT32_MAX - 1);
                if (!number)
                  return number.status();
                ranks = static_cast<uint32_t>(*number);
                return {};
              });
  options.add("--bytes", "N", "n times the size of T (default: 64KiB)",
              [this](llvm::StringRef text) -> Status {
                Result<uint64_t> parsed = parseBytes(text);
                if (!parsed)
                  return parsed.status();
                bytes = *parsed;
                return {};
              });
  options.addText("--topology", "T", topologyHelp, schedule.topology) = completionOfTopology();
  options.addFlag("--in-place", "the form in place, of a collective that has one",
                  schedule.inPlace);
}

std::optional<Exit> chooseSingle(const Options &options, const SingleOptions &single,
                                 const InputForm &form, std::unique_ptr<Source> &source,
                                 Source::Target &target) {
  source = Source::read(options.operands(), single.schedule, form);
  if (!source)
    return Exit::Failure;
  if (std::optional<Exit> exit = chooseOne(options, single, *source, target))
    return exit;
  bool isFine = usesAllGiven(options, *source, target, single.schedule);
  return isFine ? std::nullopt : std::optional(Exit::Failure);
}

/// The names of the first targets.
static std::string namesOf(llvm::ArrayRef<Source::Target> targets) {
  constexpr size_t kShown = 6;
  std::string names;
  for (const Source::Target &target : targets.take_front(kShown))
    names += (names.empty() ? "" : ", ") + target.name;
  return names + (targets.size() > kShown ? ", ..." : "");
}

std::optional<Exit> chooseOne(const Options &options, const SingleOptions &single, Source &source,
                              Source::Target &target) {
  const ScheduleOptions &schedule = single.schedule;
  std::vector<Source::Target> targets = source.choose(schedule);
  if (targets.empty())
    return Exit::Failure;
  if (targets.size() > 1)
    return options.refuse("one schedule at a time: choose among " + std::to_string(targets.size()) +
                          " with --name: " + namesOf(targets));
  if (!chooseForFunctions(source, targets, single) || !usedAllSettings(source, targets, schedule))
    return Exit::Failure;
  target = targets.front();
  return std::nullopt;
}

Result<SinglePlan> planSingle(Source &source, const Source::Target &target,
                              const SingleOptions &options) {
  if (!target.schedule && !options.ranks)
    return Status::error("'" + target.name + "' is a collective: say for how many ranks, with -n");
  if (options.schedule.inPlace && !target.schedule && !hasAliases(source, target))
    return Status::error("'" + target.name + "' has no form in place");
  Result<uint64_t> elements = chooseElements(source, target, options);
  if (!elements)
    return elements.status();
  SinglePlan plan;
  plan.shape.ranks = options.ranks.value_or(target.schedule ? target.schedule->numRanks() : 1);
  plan.shape.elements = *elements;
  plan.shape.inPlace = options.schedule.inPlace;
  plan.bytes = *elements * source.elementBytes(target, options.schedule.type);
  Result<Topology> topology = Topology::make(options.schedule.topology, plan.shape.ranks);
  if (!topology)
    return topology.status();
  plan.topology = std::make_unique<Topology>(topology.take());
  plan.shape.topology = plan.topology.get();
  Variety variety;
  variety.tryValues = options.tryValues;
  Result<std::vector<Call>> calls =
      Parameters(source, options.schedule, variety).calls(target, plan.shape.ranks, *elements);
  if (!calls)
    return calls.status();
  plan.call = std::move(calls->front());
  if (Status s = bindTuningParameters(source, target, options.schedule, plan.shape, plan.call); !s)
    return s;
  return plan;
}

namespace {

/// The request with the arguments of --set as values, as a program's call passes them. Arguments of
/// a rule stay. Nothing: an argument is no number.
std::optional<InstantiateRequest> asCall(const Program &program, const Source::Target &target,
                                         InstantiateRequest request) {
  request.values.resize(request.arguments.size());
  for (uint32_t p = 0; p < request.arguments.size(); ++p) {
    ExprId id = request.arguments[p];
    if (id == kNoExpr || llvm::is_contained(target.arguments, std::pair(p, id)))
      continue;
    if (program.expr(id).kind != ExprKind::IntLit)
      return std::nullopt;
    request.values[p] = program.expr(id).value;
    request.arguments[p] = kNoExpr;
  }
  return request;
}

/// The image of the library that serves the call. The result has no schedule if none does, or if
/// there is no library.
Result<SingleSchedule> storedFor(const Source &source, const Source::Target &target,
                                 const SingleOptions &options, const SinglePlan &plan) {
  bool takesOne = options.takesImages && source.library() && !target.schedule &&
                  options.schedule.passes.pipeline.empty();
  if (!takesOne)
    return SingleSchedule{};
  Result<const LibraryImage *> found = imageFor(source, target, options, plan);
  if (!found)
    return found.status();
  if (!*found)
    return SingleSchedule{};
  Library &library = *source.library();
  Result<const Image *> image = library.image(**found);
  if (!image)
    return image.status();
  auto imported = library.imported();
  if (!imported)
    return imported.status();
  uint32_t unit = unitOf(**imported, (*found)->collective).value_or(1);
  return SingleSchedule{std::make_shared<Schedule>((*image)->decode()), *found,
                        plan.shape.elements / unit, plan.bytes};
}

} // namespace

Result<const LibraryImage *> imageFor(const Source &source, const Source::Target &target,
                                      const SingleOptions &options, const SinglePlan &plan) {
  auto request =
      asCall(source.program(), target, requestFor(target, options.schedule, plan.call, plan.shape));
  if (!request)
    return nullptr;
  Result<std::optional<uint32_t>> unit = unitOf(*source.library(), *request);
  if (!unit)
    return unit.status();
  return findImage(*source.library(), *request, unit->value_or(1));
}

Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleOptions &options) {
  Result<SinglePlan> plan = planSingle(source, target, options);
  if (!plan)
    return plan.status();
  Result<SingleSchedule> stored = storedFor(source, target, options, *plan);
  if (!stored || stored->schedule)
    return stored;
  auto schedule = makeSchedule(source, target, options.schedule, plan->call, plan->shape);
  if (!schedule)
    return schedule.status();
  return SingleSchedule{schedule.take(), nullptr, plan->shape.elements, plan->bytes};
}

} // namespace colldsl::tools
