#include "driver/schedule/SingleSchedule.h"

#include "driver/Lists.h"
#include "driver/schedule/RunPasses.h"
#include "runtime/StoredImages.h"
#include "verifier/ProvedSizes.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::driver {
namespace {

/// The n to use: of the request, else of a schedule from a file, else the default.
Result<uint64_t> chooseElements(const Source &source, const Source::Target &target,
                                const SingleRequest &request) {
  if (target.schedule && !request.bytes)
    return target.schedule->sizeClass.elements;
  uint64_t bytes = request.bytes.value_or(kUsualBytes);
  uint64_t elementBytes = source.elementBytes(target, request.schedule.elementType());
  if (Status s = checkWhole(bytes, elementBytes, target.name); !s)
    return s;
  return bytes / elementBytes;
}

} // namespace

Result<SinglePlan> planSingle(Source &source, const Source::Target &target,
                              const SingleRequest &request, bool tryValues) {
  if (!target.schedule && !request.ranks)
    return Status::error("'" + target.name + "' is a collective: say for how many ranks, with -n");
  if (request.schedule.inPlace && !target.schedule && !hasAliases(source, target))
    return Status::error("'" + target.name + "' has no form in place");
  Result<uint64_t> elements = chooseElements(source, target, request);
  if (!elements)
    return elements.status();
  SinglePlan plan;
  plan.shape.ranks = request.ranks.value_or(target.schedule ? target.schedule->numRanks() : 1);
  plan.shape.elements = *elements;
  plan.shape.inPlace = request.schedule.inPlace;
  plan.bytes = *elements * source.elementBytes(target, request.schedule.elementType());
  Result<Topology> topology = Topology::make(request.schedule.topology, plan.shape.ranks);
  if (!topology)
    return topology.status();
  plan.topology = std::make_unique<Topology>(topology.take());
  plan.shape.topology = plan.topology.get();
  Variety variety;
  variety.tryValues = tryValues;
  Result<std::vector<Call>> calls =
      Parameters(source, request.schedule, variety).calls(target, plan.shape.ranks, *elements);
  if (!calls)
    return calls.status();
  plan.call = std::move(calls->front());
  if (Status s = bindTuningParameters(source, target, request.schedule, plan.shape, plan.call); !s)
    return s;
  return plan;
}

namespace {

/// The request with the arguments of --set as values, as a program's call passes them. Arguments of
/// a rule stay. Nothing: an argument is no number.
std::optional<InstantiateRequest> asCall(const Program &program, const Source::Target &target,
                                         InstantiateRequest instantiation) {
  instantiation.values.resize(instantiation.arguments.size());
  for (uint32_t p = 0; p < instantiation.arguments.size(); ++p) {
    ExprId id = instantiation.arguments[p];
    if (id == kNoExpr || llvm::is_contained(target.arguments, std::pair(p, id)))
      continue;
    if (program.expr(id).kind != ExprKind::IntLit)
      return std::nullopt;
    instantiation.values[p] = program.expr(id).value;
    instantiation.arguments[p] = kNoExpr;
  }
  return instantiation;
}

/// The image of the library that serves the call. The result has no schedule if none does, or if
/// there is no library.
Result<SingleSchedule> storedFor(const Source &source, const Source::Target &target,
                                 const SingleRequest &request, const SinglePlan &plan) {
  bool takesOne = source.library() && !target.schedule &&
                  request.schedule.passes.pipeline.empty() &&
                  request.schedule.invariants == Invariants::None; // which no image has
  if (!takesOne)
    return SingleSchedule{};
  Result<const LibraryImage *> found = imageFor(source, target, request, plan);
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
                                      const SingleRequest &request, const SinglePlan &plan) {
  auto instantiation = asCall(source.program(), target,
                              instantiationOf(target, request.schedule, plan.call, plan.shape));
  if (!instantiation)
    return nullptr;
  Result<std::optional<uint32_t>> unit = unitOf(*source.library(), *instantiation);
  if (!unit)
    return unit.status();
  return findImage(*source.library(), *instantiation, unit->value_or(1));
}

Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleRequest &request, bool tryValues) {
  Result<SinglePlan> plan = planSingle(source, target, request, tryValues);
  if (!plan)
    return plan.status();
  Result<SingleSchedule> stored = storedFor(source, target, request, *plan);
  if (!stored || stored->schedule)
    return stored;
  auto schedule = makeSchedule(source, target, request.schedule, plan->call, plan->shape);
  if (!schedule)
    return schedule.status();
  return SingleSchedule{schedule.take(), nullptr, plan->shape.elements, plan->bytes};
}

Result<Schedule> makeProved(Source &source, const Source::Target &target,
                            const SingleRequest &single) {
  Result<SinglePlan> plan = planSingle(source, target, single);
  if (!plan)
    return plan.status();
  auto made = makeSchedule(source, target, single.schedule, plan->call, plan->shape);
  if (!made)
    return made.status();
  Schedule schedule = **made;
  schedule.sizeClass.elements = plan->shape.elements;
  if (!single.schedule.passes.verifyMade || target.schedule)
    return schedule;
  std::optional<proof::ProvedDomain> domain = proof::provedSizes(schedule);
  if (!domain && schedule.hasCallTimeBlocks())
    return Status::error("'" + target.name +
                         "' is wrong at some lengths of its blocks: see `colldsl verify`");
  if (domain)
    schedule.sizeClass = domain->sizes;
  return schedule;
}

} // namespace colldsl::driver
