#include "runtime/PlanCompiler.h"

#include "ir/Concat.h"
#include "ir/EpochTable.h"
#include "verifier/ProvedSizes.h"

#include <bit>
#include <optional>

namespace colldsl {
namespace {

uint64_t hashOf(std::string_view text) {
  uint64_t hash = text.size();
  for (char c : text)
    hash = mixHash(hash, static_cast<unsigned char>(c));
  return hash;
}

/// Joins the remarks of passes; program passes count if they bound something.
class Remarks final : public PassObserver {
public:
  Status ran(std::string_view pass, const DagOutcome &outcome, double) override {
    add(pass, outcome.remark);
    return {};
  }
  Status bound(std::string_view pass, const BindOutcome &outcome, double) override {
    if (!outcome.bindings.empty() || outcome.leaders)
      add(pass, outcome.remark);
    return {};
  }
  std::string text;

private:
  void add(std::string_view pass, const std::string &remark) {
    if (!remark.empty())
      text += concat(text.empty() ? "" : "; ", pass, ": ", remark);
  }
};

/// Choices of one collective differ little between sizes of the same magnitude, and are made once
/// for each magnitude.
uint64_t magnitudeOf(uint64_t elements) {
  constexpr uint64_t kLargest = uint64_t{1} << 62;
  return elements > kLargest ? elements : std::bit_ceil(elements);
}

/// Empty: a value has no hash.
std::optional<uint64_t> hashOf(const InstantiateRequest &request) {
  uint64_t hash = request.topology ? request.topology->hash() : 0;
  auto mix = [&](uint64_t x) { hash = mixHash(hash, x); };
  mix(index(request.collective));
  mix(request.ranks);
  mix(request.elements);
  mix(static_cast<uint64_t>(request.type));
  mix(request.elementBytes);
  mix(request.inPlace);
  for (ExprId argument : request.arguments)
    mix(index(argument));
  for (const ArgumentValue &value : request.values) {
    mix(value.index());
    if (auto *number = std::get_if<int64_t>(&value)) {
      mix(static_cast<uint64_t>(*number));
    } else if (auto *tree = std::get_if<std::shared_ptr<const GivenTree>>(&value)) {
      for (Rank parent : (*tree)->parent)
        mix(index(parent));
    } else if (!std::holds_alternative<std::monostate>(value)) {
      return std::nullopt;
    }
  }
  for (const auto &[name, size] : request.sizes) {
    mix(hashOf(name));
    mix(size);
  }
  return hash;
}

/// The costs per byte, if each byte stands for an element of so many bytes: the simulator and the
/// verifier see elements of a combiner as bytes.
CostModel perElement(const MachineModel &machine, uint64_t elementBytes) {
  CostModel cost;
  cost.machine = machine;
  if (elementBytes == 0)
    return cost;
  auto scale = [&](PerByte &rate) {
    double ns = rate.ns() * static_cast<double>(elementBytes);
    rate = PerByte::fromNs(std::min(ns, static_cast<double>(PerByte::kMaxNs)));
  };
  cost.machine.changeAll([&](LogGop &costs) {
    scale(costs.G);
    scale(costs.O);
    costs.S /= elementBytes;
  });
  for (auto &longer : cost.machine.longer)
    for (FromBytes<LogGop> &next : longer)
      next.bytes /= elementBytes;
  for (MemoryCosts *memory : {&cost.machine.copy, &cost.machine.combine}) {
    scale(memory->shortest.perByte);
    for (FromBytes<MemoryRate> &next : memory->longer) {
      next.bytes /= elementBytes;
      scale(next.costs.perByte);
    }
  }
  scale(cost.machine.node.G);
  return cost;
}

constexpr std::string_view kUnknownLengths = "lengths of blocks are known at call time only";

std::string withoutPasses(std::string_view why) {
  return concat("passes on DAGs did not run: ", why);
}

/// A combiner's operator is not one of the schedule's.
proof::VerifyOptions optionsFor(const InstantiateRequest &request) {
  proof::VerifyOptions options;
  options.ownOperators = request.elementBytes > 0;
  return options;
}

/// "not proved for 4 ranks on 2 nodes: contract: ..."; the lines after the first have all details.
std::string whyNotProved(const Schedule &schedule, uint64_t n, const proof::VerifyOptions &options,
                         const Topology *topology) {
  proof::VerifyReport report = schedule.hasCallTimeBlocks()
                                   ? proof::verifyAllLengths(schedule, n, options)
                                   : proof::verify(schedule, {Sizes{n, {}}}, options);
  uint32_t nodes = topology ? topology->numGroups(Level::Node) : 1;
  std::string text = concat("not proved for ", schedule.numRanks(), " ranks on ", nodes,
                            nodes == 1 ? " node" : " nodes");
  if (!report.failures.empty())
    text += concat(": ", spelling(report.failures.front().proof), ": ",
                   report.failures.front().message);
  return concat(text, "\n", describe(report, schedule));
}

} // namespace

PlanCompiler::PlanCompiler(CompileSettings settings, Pipeline pipeline)
    : settings_(std::move(settings)), pipeline_(std::move(pipeline)),
      hash_(mixHash(mixHash(hashOf(settings_.passes), hashOf(settings_.machine.toJson())),
                    mixHash(static_cast<uint64_t>(settings_.leastProof), settings_.mostOps))) {}

Result<std::shared_ptr<const PlanCompiler>> PlanCompiler::make(CompileSettings settings) {
  auto nearest = [](std::string_view, const std::vector<std::string_view> &) {
    return std::string();
  };
  Result<Pipeline> pipeline = Pipeline::parse(settings.passes, nearest);
  if (!pipeline)
    return Status::error(concat("passes: ", pipeline.message()));
  return std::shared_ptr<const PlanCompiler>(
      new PlanCompiler(std::move(settings), pipeline.take()));
}

// The result of passes on DAGs for one n is not used for another n (compileAllOnce()). A proof
// changes no schedule, and a validity range that was proved has no n at which it would fail.
std::optional<uint64_t> PlanCompiler::keyOf(const From &from, const InstantiateRequest &request) {
  std::optional<uint64_t> hash = hashOf(request);
  return hash ? std::optional(mixHash(*hash, from.hash)) : std::nullopt;
}

template <typename Value, typename Make>
Value PlanCompiler::once(std::map<uint64_t, Value> &kept, size_t most, std::optional<uint64_t> key,
                         Make make) const {
  if (!key)
    return make();
  {
    std::lock_guard guard(lock_);
    if (auto known = kept.find(*key); known != kept.end())
      return known->second;
  }
  Value value = make();
  std::lock_guard guard(lock_);
  if (kept.size() >= most)
    kept.clear();
  kept.emplace(*key, value);
  return value;
}

// Passes on DAGs see n itself, and choices its magnitude.
SizeClass PlanCompiler::alikeAround(uint64_t n, const Choice &choice) const {
  if (pipeline_.has(PassKind::Dag))
    return {n, 1, 0};
  if (!choice.outcome.dependsOnSize)
    return {n};
  uint64_t most = magnitudeOf(n);
  bool isItsOwn = !std::has_single_bit(most);
  return {n, isItsOwn ? n : most == 1 ? 0 : most / 2 + 1, most};
}

// Uses the next power of two for n: so the choice does not depend on the calls before.
Result<PlanCompiler::Choice> PlanCompiler::choose(const From &from,
                                                  const InstantiateRequest &given) const {
  InstantiateRequest request = given;
  request.elements = magnitudeOf(given.elements);
  return once(choices_, SIZE_MAX, keyOf(from, request), [&]() -> Result<Choice> {
    Remarks remarks;
    Result<BindOutcome> outcome = pipeline_.bind({from.program, request, from.cost}, &remarks);
    if (!outcome)
      return outcome.status();
    return Choice{outcome.take(), std::move(remarks.text)};
  });
}

Result<CompiledSchedule> PlanCompiler::compile(Library &library, InstantiateRequest &request,
                                               Rank rank, bool isTextProved) const {
  Result<const Program *> program = library.program();
  if (!program)
    return program.status();
  const MachineModel &machine = library.costs() ? *library.costs() : settings_.machine;
  From from{**program, library.checksum(), perElement(machine, request.elementBytes),
            proves(isTextProved)};
  Choice choice;
  if (pipeline_.has(PassKind::Program)) {
    Result<Choice> chosen = choose(from, request);
    if (!chosen)
      return chosen.status();
    choice = chosen.take();
  }
  for (const ParameterBinding &binding : choice.outcome.bindings)
    bindTo(binding, request);
  request.leaders = choice.outcome.leaders.get();
  Result<CompiledSchedule> made = pipeline_.has(PassKind::Dag) ? compileAllOnce(from, request, rank)
                                  : from.proves                ? compileProved(from, request, rank)
                                                               : compileAlone(from, request, rank);
  request.leaders = nullptr; // they end with the choice
  if (!made)
    return made;
  const char *between = choice.remarks.empty() || made->remarks.empty() ? "" : "; ";
  made->remarks = concat(choice.remarks, between, made->remarks);
  made->alike = alikeAround(request.elements, choice);
  return made;
}

Result<CompiledSchedule>
PlanCompiler::compileAlone(const From &from, const InstantiateRequest &request, Rank rank) const {
  Instantiator instantiator(from.program, request);
  CompiledSchedule made;
  if (Status s = instantiator.instantiate(rank, made.dag); !s)
    return s;
  made.sizeClass = instantiator.sizeClass();
  return made;
}

PlanCompiler::Verdict PlanCompiler::prove(const From &from, const InstantiateRequest &given) const {
  InstantiateRequest request = given;
  request.limits.maxTotalOps = std::min(request.limits.maxTotalOps, settings_.mostOps);
  Result<Schedule> schedule = instantiateAll(from.program, request);
  if (!schedule)
    return {{}, concat("not proved: ", schedule.message())};
  schedule->sizeClass.elements = request.elements;
  proof::VerifyOptions options = optionsFor(request);
  std::optional<proof::ProvedDomain> proved = proof::provedSizes(*schedule, options);
  if (proved && proved->lengthsUndecided.empty())
    return {proved->sizes, {}};
  return {{}, whyNotProved(*schedule, request.elements, options, request.topology)};
}

// Verdicts are kept: calls differ mostly in n and root; a verdict takes little room, and a proof a
// long time.
PlanCompiler::Verdict PlanCompiler::proveOnce(const From &from,
                                              const InstantiateRequest &request) const {
  constexpr size_t kMostKept = 4096;
  return once(verdicts_, kMostKept, keyOf(from, request), [&] { return prove(from, request); });
}

Result<CompiledSchedule>
PlanCompiler::compileProved(const From &from, const InstantiateRequest &request, Rank rank) const {
  Verdict verdict = proveOnce(from, request);
  if (!verdict.proved)
    return Status::error(ErrorKind::NotProved, verdict.why);
  Result<CompiledSchedule> made = compileAlone(from, request, rank);
  if (made) {
    made->sizeClass = *verdict.proved;
    made->isProved = true;
  }
  return made;
}

// A result for one n is not used for another n in its validity range: ranks that have several
// communicators see different n in different orders.
Result<CompiledSchedule>
PlanCompiler::compileAllOnce(const From &from, const InstantiateRequest &request, Rank rank) const {
  constexpr size_t kMostKept = 64;
  std::optional<uint64_t> key = keyOf(from, request);
  if (key)
    key = mixHash(*key, index(rank));
  return once(compiled_, kMostKept, key, [&] { return compileAll(from, request, rank); });
}

Result<CompiledSchedule> PlanCompiler::compileAll(const From &from, const InstantiateRequest &given,
                                                  Rank rank) const {
  InstantiateRequest request = given;
  request.contract = true;
  request.limits.maxTotalOps = std::min(request.limits.maxTotalOps, settings_.mostOps);
  Result<Schedule> schedule = instantiateAll(from.program, request);
  if (!schedule && from.proves)
    return Status::error(ErrorKind::NotProved, concat("not proved: ", schedule.message()));
  bool hasOpenLengths = schedule && schedule->hasCallTimeBlocks();
  if (schedule && (!hasOpenLengths || from.proves))
    return passesOnAll(schedule.take(), from, request, rank);
  Result<CompiledSchedule> alone = compileAlone(from, given, rank);
  if (alone)
    alone->remarks = withoutPasses(schedule ? kUnknownLengths : schedule.message());
  return alone;
}

// Passes need the lengths of messages.
Result<CompiledSchedule> PlanCompiler::passesOnAll(Schedule schedule, const From &from,
                                                   const InstantiateRequest &request,
                                                   Rank rank) const {
  Remarks remarks;
  Topology flat = Topology::flat(request.ranks);
  const Topology &topology = request.topology ? *request.topology : flat;
  bool runsPasses = pipeline_.has(PassKind::Dag) && !schedule.hasCallTimeBlocks();
  if (runsPasses) {
    std::vector<Sizes> sizes{Sizes{request.elements, {}}};
    Result<Schedule> made =
        pipeline_.run(std::move(schedule), DagContext{topology, sizes, from.cost}, &remarks);
    if (!made)
      return made.status();
    schedule = made.take();
  } else if (pipeline_.has(PassKind::Dag)) {
    remarks.text = withoutPasses(kUnknownLengths);
  }
  schedule.sizeClass.elements = request.elements;
  proof::VerifyOptions options = optionsFor(request);
  std::optional<proof::ProvedDomain> proved = proof::provedSizes(schedule, options);
  if (!proved || !proved->lengthsUndecided.empty())
    return Status::error(ErrorKind::NotProved,
                         whyNotProved(schedule, request.elements, options, &topology));
  return CompiledSchedule{std::move(schedule.ranks[index(rank)]), proved->sizes,
                          std::move(remarks.text), runsPasses, true};
}

} // namespace colldsl
