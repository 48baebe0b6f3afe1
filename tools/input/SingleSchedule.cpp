#include "tools/input/SingleSchedule.h"

#include "tools/options/Lists.h"
#include "tools/passes/RunPasses.h"

namespace colldsl::tools {
namespace {

constexpr uint64_t kUsualBytes = 64 << 10;

/// n, as asked for, or as a file says, or some.
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
  options.addText("--topology", "T", topologyHelp, schedule.topology);
  options.addFlag("--in-place", "the form in place, of a collective that has one",
                  schedule.inPlace);
  schedule.addTo(options);
}

Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleOptions &options) {
  if (!target.schedule && !options.ranks)
    return Status::error("'" + target.name + "' is a collective: say for how many ranks, with -n");
  if (options.schedule.inPlace && !target.schedule && !hasAliases(source, target))
    return Status::error("'" + target.name + "' has no form in place");
  Result<uint64_t> elements = chooseElements(source, target, options);
  if (!elements)
    return elements.status();
  Shape shape;
  shape.ranks = options.ranks.value_or(target.schedule ? target.schedule->numRanks() : 1);
  shape.elements = *elements;
  shape.inPlace = options.schedule.inPlace;
  Result<Topology> topology = Topology::make(options.schedule.topology, shape.ranks);
  if (!topology)
    return topology.status();
  shape.topology = &*topology;
  Variety defaults;
  Result<std::vector<Call>> calls =
      Parameters(source, options.schedule, defaults).calls(target, shape.ranks, shape.elements);
  if (!calls)
    return calls.status();
  if (Status s = fillHoles(source, target, options.schedule, shape, calls->front()); !s)
    return s;
  auto schedule = makeSchedule(source, target, options.schedule, calls->front(), shape);
  if (!schedule)
    return schedule.status();
  uint64_t bytes = shape.elements * source.elementBytes(target, options.schedule.type);
  return SingleSchedule{schedule.take(), shape.elements, bytes};
}

} // namespace colldsl::tools
