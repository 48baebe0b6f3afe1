#include "driver/Lists.h"
#include "driver/files/WriteFile.h"
#include "driver/proofs/Counterexample.h"
#include "driver/proofs/Proofs.h"
#include "driver/schedule/BlockSizes.h"
#include "driver/schedule/MakeWorkload.h"
#include "tools/Commands.h"
#include "tools/input/ChooseSingle.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"
#include "tools/sim/SimulationSummary.h"
#include "tools/sim/Timeline.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

struct SimSettings {
  SimulationRequest request;
  std::string trace;
  bool verify = false;
  bool criticalPath = false;
  bool json = false;

  void addTo(Options &options);
};

void SimSettings::addTo(Options &options) {
  request.addTo(options);
  options.section("what to tell");
  options.addFlag("--verify", "prove the schedule first; takes the memory of all ranks at once",
                  verify);
  options.addFlag("--critical-path", "what the slowest rank waited for, step by step",
                  criticalPath);
  options.addSideOutput("--trace", "FILE", "write timelines for Perfetto and chrome://tracing",
                        trace) = completionOfFiles({".json"});
  options.addFlag("--json", "print one JSON object", json);
}

class Simulation {
public:
  Simulation(Source &source, const Source::Target &target, const SimSettings &settings)
      : source_(source), target_(target), settings_(settings) {}

  bool run(sim::SimulateOptions options) {
    Result<SimulatedJob> job =
        makeWorkload(source_, target_, settings_.request.single, options, settings_.verify);
    if (!job)
      return report(job.status());
    if (settings_.verify && !prove(*job, options.seed))
      return false;
    options.record = settings_.criticalPath || !settings_.trace.empty();
    sim::Workload &workload = job->workload;
    uint64_t activities = workload.numOps + workload.messages;
    if (!settings_.trace.empty() && activities > kMaxTraced)
      return printError("--trace: " + std::to_string(activities) + " ops and messages" +
                        ", the limit is " + std::to_string(kMaxTraced));
    Result<sim::Outcome> outcome = [&] {
      Progress progress;
      return simulateJob(*job, std::move(options), target_.name, progress.watch());
    }();
    if (!outcome)
      return report(outcome.status());
    SimulatedRun run{target_.name,
                     job->plan.bytes,
                     settings_.verify,
                     &workload,
                     &*outcome,
                     job->plan.topology.get(),
                     source_.hasRead(FileKind::Plan),
                     {}};
    if (settings_.criticalPath && !addPath(run))
      return false;
    if (Status s = saveTrace(workload, *outcome); !s)
      return report(s);
    if (settings_.json)
      printJson(summaryJson(run));
    else
      printSummary(run, resultStream());
    return true;
  }

private:
  bool prove(const SimulatedJob &job, uint64_t seed) const {
    std::shared_ptr<const Schedule> schedule = job.schedule;
    if (!schedule) {
      auto made = makeSchedule(source_, target_, settings_.request.single.schedule, job.plan.call,
                               job.plan.shape);
      if (!made)
        return report(made.status());
      schedule = made.take();
    }
    Result<std::vector<Sizes>> sizes = chooseSizes(*schedule, job.plan.shape.elements, seed);
    if (!sizes)
      return report(sizes.status());
    proof::VerifyReport found = proof::verify(*schedule, *sizes);
    if (found.proved())
      return true;
    source_.report(counterexample(found), target_);
    return printError("'" + target_.name + "' was refused, and not simulated");
  }

  bool report(const Status &status) const { return source_.report(status.diagnostic(), target_); }

  bool addPath(SimulatedRun &run) const {
    const std::vector<uint64_t> &finish = run.outcome->finish;
    auto slowest = std::max_element(finish.begin(), finish.end()) - finish.begin();
    Result<std::vector<sim::PathStep>> path =
        sim::criticalPath(*run.workload, *run.outcome->recording, static_cast<uint32_t>(slowest));
    if (!path)
      return report(path.status());
    run.path = path.take();
    return true;
  }

  Status saveTrace(const sim::Workload &workload, const sim::Outcome &outcome) const {
    if (settings_.trace.empty())
      return {};
    return writeFile(settings_.trace, [&](llvm::raw_ostream &out) {
      return writeTrace(workload, *outcome.recording, out);
    });
  }

  Source &source_;
  const Source::Target &target_;
  const SimSettings &settings_;
};

} // namespace

Exit simCommand(Arguments arguments) {
  SimSettings settings;
  Options options(
      "sim", "FILE|COLLECTIVE [-n N] [OPTION...]",
      "Simulates one schedule in the LogGOP model and tells when its ranks finish.\n"
      "A FILE is source text (.coll), the text form, GOAL as text or in binary, an\n"
      "image, a schedule library or an execution plan of MSCCL++ (.json), of which one\n"
      "launch is simulated; a COLLECTIVE is one of the standard library, or a\n"
      "function such as bcast, for which its rules choose one. The\n"
      "rules and the formats are in docs/simulator.md.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  const ScheduleRequest &schedule = settings.request.single.schedule;
  if (options.operands().empty() && schedule.names.empty())
    return options.refuse("nothing to simulate: name a file or a collective");
  InputForm form;
  form.allowsWildcards = !settings.verify;
  form.allowsPlans = true;
  form.planBytes = settings.request.single.bytes;
  std::unique_ptr<Source> source;
  Source::Target target;
  if (std::optional<Exit> exit =
          chooseSingle(options, settings.request.single, Purpose::Simulate, form, source, target))
    return *exit;
  bool fine = Simulation(*source, target, settings).run(settings.request.model());
  return fine ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
