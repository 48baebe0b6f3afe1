#include "tools/show/FailurePage.h"

#include "tools/input/BlockSizes.h"
#include "tools/options/Json.h"
#include "tools/output/WriteFile.h"
#include "tools/sim/Summary.h"

namespace colldsl::tools {
namespace {

using namespace show;

int64_t numberOf(Rank rank) { return rank == kNoRank ? int64_t{-1} : index(rank); }
int64_t numberOf(OpId op) { return op == kNoOp ? int64_t{-1} : index(op); }

llvm::json::Object failureJson(const Failure &failure, const std::vector<std::string> &files) {
  llvm::json::Array steps;
  for (const Failure::Step &step : failure.steps)
    steps.push_back(llvm::json::Object{{"rank", numberOf(step.rank)},
                                       {"op", numberOf(step.op)},
                                       {"place", jsonText(placeWord(step.loc, files))},
                                       {"text", jsonText(step.text)}});
  return llvm::json::Object{{"proof", std::string(spelling(failure.proof))},
                            {"message", jsonText(failure.message)},
                            {"steps", std::move(steps)}};
}

/// Nothing if the schedule cannot run to its end: that is what the failure is about.
void simulate(Document &document, const Topology &topology) {
  const ShownSchedule &shown = document.schedules.front();
  sim::WorkloadOptions packing;
  packing.topology = &topology;
  packing.isPlainGoal = shown.schedule->isPlainGoal;
  Result<sim::Workload> workload = sim::packSchedule(*shown.schedule, shown.sizes, packing);
  if (!workload)
    return;
  sim::SimulateOptions options;
  options.topology = &topology;
  options.record = true;
  Result<sim::Outcome> outcome = sim::simulate(*workload, options);
  if (!outcome)
    return;
  ShownRun run;
  run.label = "simulated";
  run.completion = outcome->makespan;
  run.times = simulatedTimes(*shown.ops, *workload, *outcome);
  document.runs.push_back(std::move(run));
}

} // namespace

Status writeFailurePage(const std::string &file, const Source &source, const Source::Target &target,
                        const Proofs &proofs, const ProofTask &task, const ProofRequest &request) {
  ProofOutcome outcome;
  std::shared_ptr<const Schedule> schedule = proofs.make(target, task, outcome);
  if (!schedule)
    return Status::error("--show: there is no schedule to draw");
  Result<std::vector<Sizes>> sizes = chooseSizes(*schedule, task.shape.elements, request.seed);
  if (!sizes)
    return sizes.status();
  VerifyReport report = verify(*schedule, *sizes, request.verify);
  Document document;
  document.view = "failure";
  document.title = target.name + ", " + task.words() + ": refused";
  for (const Failure &failure : report.failures)
    document.failures.push_back(failureJson(failure, schedule->files));
  for (Proof proof : report.skipped)
    document.skipped.push_back(std::string(spelling(proof)));
  document.maxEvents = schedule->numOps() * 2;
  document.schedules.push_back(shownSchedule(source, target, schedule, sizes.take(), task.bytes));
  document.schedules.front().topology = std::make_shared<Topology>(*task.shape.topology);
  simulate(document, *task.shape.topology);
  return writeFile(file, [&](llvm::raw_ostream &out) {
    writeHtml(document, out);
    return Status();
  });
}

} // namespace colldsl::tools
