#include "tools/verify/ProveTarget.h"

#include "tools/options/Lists.h"
#include "tools/options/Progress.h"
#include "tools/options/Workers.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::tools {
namespace {

template <typename T, typename Parse>
Options::Take list(std::optional<std::vector<T>> &into, Parse parse) {
  return [&into, parse](llvm::StringRef text) -> Status {
    Result<std::vector<T>> parsed = parse(text);
    if (!parsed)
      return parsed.status();
    into = parsed.take();
    return {};
  };
}

} // namespace

void ProofOptions::addTo(Options &options) {
  options.section("what to prove");
  options.add("--ranks", "LIST", "numbers of ranks, such as 1..64 or 1,2,5..8 (default: 1..17)",
              list(request.ranks, [](llvm::StringRef text) { return parseRanks(text, 1); }));
  options.add("--bytes", "LIST",
              "sizes, such as 8,64KiB; n times the size of T\n"
              "(default: 0, one element, and 40009 elements)",
              list(request.bytes, parseBytesList));
  options.add("--topology", "T",
              "where the ranks sit (default: flat, all on one node, and several other\n"
              "machines for collectives that look at nodes or sockets)",
              [this](llvm::StringRef text) {
                schedule.topology = text.str();
                request.variesMachine = false;
                return Status();
              }) = completionOfTopology();
  options.add("--roots", "LIST",
              "values of the parameter `root`: ranks, or all\n"
              "(default: all of up to 8 ranks, of more 0, 1, P/2 and P - 1)",
              [this](llvm::StringRef text) -> Status {
                request.variety.everyRoot = text == "all";
                Result<std::vector<uint32_t>> roots = parseRanks(text, 0);
                if (!roots && !request.variety.everyRoot)
                  return roots.status();
                if (roots)
                  request.variety.roots = roots.take();
                return {};
              }) = completionOf({"all"});
  options.addFlag("--in-place", "only the forms in place", request.onlyInPlace);
  options.addFlag("--thorough",
                  "more values: tunable parameters at their ends with each root, other lengths\n"
                  "of blocks, another irregular graph",
                  request.variety.thorough);
  schedule.addTo(options);
  options.addCheck([this, &options] {
    bool isSet = llvm::any_of(schedule.settings, [](const auto &s) { return s.name == "root"; });
    return isSet ? options.refuseGiven({"--roots"}, "--set gives root its value") : Status();
  });
  options.section("how");
  options.addNumber("--channel-slots", "N",
                    "messages in flight between two ranks in the check\n"
                    "with finite buffers (default: 8)",
                    request.verify.channelSlots);
  options.addNumber("--seed", "N", "of the lengths of blocks known at call time only",
                    request.seed);
  options.addNumber("--max-failures", "N", "failures per counterexample (default: 10)",
                    request.verify.maxFailures, 1);
  schedule.addNoWarn(options);
}

Result<Summary> proveTarget(Proofs &proofs, const Source &source, const Source::Target &target,
                            const ProofOptions &options, const std::atomic<bool> *stop) {
  Result<std::vector<ProofTask>> tasks = proofs.plan(target);
  if (!tasks)
    return tasks.status();
  Summary summary;
  summary.target = target;
  summary.tasks = tasks.take();
  summary.mayBeVacuous = !options.schedule.settings.empty();
  summary.outcomes.resize(summary.tasks.size());
  Progress progress(target.name, summary.tasks.size());
  forEachInParallel(summary.tasks.size(), [&](size_t i) {
    if (stop && stop->load(std::memory_order_relaxed))
      return;
    summary.outcomes[i] = proofs.prove(target, summary.tasks[i]);
    progress.step();
  });
  if (stop && stop->load(std::memory_order_relaxed))
    return Status::error("the proofs were stopped");
  summary.findPromisesOfNothing(source.program());
  return summary;
}

} // namespace colldsl::tools
