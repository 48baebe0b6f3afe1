#include "driver/draw/FailurePage.h"

#include "driver/files/WriteFile.h"
#include "driver/source/RenderInFiles.h"

namespace colldsl::driver {
namespace {

using namespace show;

/// Adds a simulated run. It adds none if the schedule cannot run to its end, as then the failure
/// itself shows the cause.
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

Result<Document> failureDocument(const Source &source, const Source::Target &target,
                                 const Proofs &proofs, const ProofTask &task) {
  ProofOutcome outcome;
  std::shared_ptr<const Schedule> schedule = proofs.make(target, task, outcome);
  if (!schedule)
    return Status::error(target.name + ", " + task.words() + ": there is no schedule to draw");
  Result<LengthProofs> proved =
      proveLengths(*schedule, task.shape.elements, proofs.request().seed, proofs.request().verify);
  if (!proved)
    return proved.status();
  proof::VerifyReport &report = proved->report;
  Document document;
  document.view = "failure";
  document.title = target.name + ", " + task.words() + ": refused";
  for (proof::Failure &failure : report.failures) {
    ShownFailure shown{std::move(failure), {}};
    for (const proof::Failure::Step &step : shown.what.steps)
      shown.places.push_back(placeWord(step.loc, schedule->files));
    document.failures.push_back(std::move(shown));
  }
  document.skipped = report.skipped;
  document.maxEvents = schedule->numOps() * 2;
  document.schedules.push_back(
      shownSchedule(source, target, schedule, std::move(proved->sizes), task.bytes));
  document.schedules.front().topology = std::make_shared<Topology>(*task.shape.topology);
  simulate(document, *task.shape.topology);
  return document;
}

Status writeFailurePage(const std::string &file, const Source &source, const Source::Target &target,
                        const Proofs &proofs, const ProofTask &task, const SvgChoice *svg) {
  Result<Document> document = failureDocument(source, target, proofs, task);
  if (!document)
    return document.status();
  return writeFile(file, [&](llvm::raw_ostream &out) {
    if (svg)
      return writeSvg(*document, *svg, out);
    writeHtml(*document, out);
    return Status();
  });
}

} // namespace colldsl::driver
