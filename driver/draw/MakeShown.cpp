#include "driver/draw/MakeShown.h"

#include "driver/Lists.h"
#include "driver/schedule/BlockSizes.h"
#include "driver/schedule/MakeWorkload.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

using namespace show;

std::string labelOf(const std::string &name, uint32_t ranks, uint64_t bytes) {
  return name + ", " + counted(ranks, "rank") + ", " + bytesWord(bytes);
}

/// One schedule on its way from the request to the document.
class Simulated {
public:
  Simulated(Document &document, Source &source, const Source::Target &target,
            const SingleRequest &single)
      : document_(document), source_(source), target_(target), single_(single) {}

  Status add(sim::SimulateOptions model, const std::string &label, const Watch &watch) {
    if (Status s = prepare(model); !s)
      return s;
    model.record = true;
    Result<sim::Outcome> outcome = simulateJob(job_, model, target_.name, watch);
    if (!outcome)
      return outcome.status();
    ShownSchedule shown = describe();
    ShownRun run;
    run.schedule = document_.schedules.size();
    run.label = "simulated";
    run.completion = outcome->makespan;
    run.links = outcome->links;
    if (shown.ops)
      run.times = simulatedTimes(*shown.ops, job_.workload, *outcome);
    else if (Status s = summarize(*outcome, run); !s)
      return s;
    shown.label = (label.empty() ? "" : label + ": ") + shown.label;
    document_.schedules.push_back(std::move(shown));
    document_.runs.push_back(std::move(run));
    return {};
  }

private:
  /// Makes the workload, and the schedule if the page shows each op.
  Status prepare(const sim::SimulateOptions &model) {
    if (source_.library())
      return prepareImage(model);
    Result<SimulatedJob> job = makeWorkload(source_, target_, single_, model, /*contract=*/true);
    if (!job)
      return job.status();
    job_ = job.take();
    uint64_t events = job_.workload.numOps + job_.workload.messages;
    if (events > document_.maxEvents)
      return {};
    if (!job_.schedule) {
      auto made = makeSchedule(source_, target_, single_.schedule, job_.plan.call, job_.plan.shape);
      if (!made)
        return made.status();
      job_.schedule = made.take();
    }
    return chooseLengths(model);
  }

  /// Variant of prepare() for a library, whose images are the schedules that run.
  Status prepareImage(const sim::SimulateOptions &model) {
    Result<SinglePlan> plan = planSingle(source_, target_, single_);
    if (!plan)
      return plan.status();
    job_.plan = plan.take();
    Result<SingleSchedule> made = makeSingle(source_, target_, single_);
    if (!made)
      return made.status();
    job_.schedule = made->schedule;
    if (Status s = chooseLengths(model); !s)
      return s;
    sim::WorkloadOptions packing;
    packing.model = &model.model;
    packing.topology = job_.plan.topology.get();
    packing.maxOps = single_.schedule.instantiate.maxTotalOps;
    Result<sim::Workload> workload = sim::packSchedule(*job_.schedule, sizes_, packing);
    if (!workload)
      return workload.status();
    job_.workload = workload.take();
    return {};
  }

  Status chooseLengths(const sim::SimulateOptions &model) {
    Result<std::vector<Sizes>> sizes =
        chooseSizes(*job_.schedule, job_.plan.shape.elements, model.seed);
    if (!sizes)
      return sizes.status();
    sizes_ = sizes.take();
    return {};
  }

  ShownSchedule describe() const {
    const sim::Workload &workload = job_.workload;
    bool hasOps = workload.numOps + workload.messages <= document_.maxEvents;
    ShownSchedule shown;
    if (hasOps)
      shown = shownSchedule(source_, target_, job_.schedule, sizes_, job_.plan.bytes);
    else
      shown.label = labelOf(target_.name, workload.numRanks(), job_.plan.bytes);
    if (std::string words = job_.plan.call.words(); !words.empty())
      shown.label += ", " + words;
    shown.name = target_.name;
    shown.ranks = workload.numRanks();
    shown.bytes = job_.plan.bytes;
    shown.numOps = workload.numOps;
    shown.messages = workload.messages;
    shown.matrix = matrixOf(workload);
    shown.volume = shown.matrix.volume();
    shown.topology = std::make_shared<Topology>(*job_.plan.topology);
    shown.files = workload.files;
    shown.textAt = [&source = source_, target = target_](const SourceLoc &loc) {
      return source.lineAt(loc, target);
    };
    return shown;
  }

  Status summarize(const sim::Outcome &outcome, ShownRun &run) const {
    run.grid = gridOf(job_.workload, outcome);
    auto slowest = std::max_element(outcome.finish.begin(), outcome.finish.end());
    Result<std::vector<sim::PathStep>> path = sim::criticalPath(
        job_.workload, *outcome.recording, static_cast<uint32_t>(slowest - outcome.finish.begin()));
    if (!path)
      return path.status();
    run.path = path.take();
    return {};
  }

  Document &document_;
  Source &source_;
  const Source::Target &target_;
  const SingleRequest &single_;
  SimulatedJob job_;
  std::vector<Sizes> sizes_;
};

} // namespace

Status addSimulated(Document &document, Source &source, const Source::Target &target,
                    const SingleRequest &single, const sim::SimulateOptions &model,
                    const std::string &label, const Watch &watch) {
  return Simulated(document, source, target, single).add(model, label, watch);
}

std::string titleOf(const Document &document) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> names; // the part that all labels share comes once, at the end
  llvm::StringRef tail = llvm::StringRef(document.schedules.front().label).split(", ").second;
  bool isShared = llvm::all_of(document.schedules, [&](const ShownSchedule &s) {
    return llvm::StringRef(s.label).split(", ").second == tail;
  });
  for (const ShownSchedule &shown : document.schedules) {
    std::string name =
        isShared ? llvm::StringRef(shown.label).split(", ").first.str() : shown.label;
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  size_t named = std::min(names.size(), kMostNamed), more = document.schedules.size() - named;
  std::string text = llvm::join(llvm::ArrayRef(names).take_front(named), more ? ", " : " and ");
  if (more)
    text += " and " + std::to_string(more) + " more";
  return isShared && !tail.empty() ? text + ", " + tail.str() : text;
}

ShownSchedule shownSchedule(const Source &source, const Source::Target &target,
                            std::shared_ptr<const Schedule> schedule, std::vector<Sizes> sizes,
                            uint64_t bytes) {
  return shownSchedule(
      target.name, std::move(schedule), std::move(sizes), bytes,
      [&source, target](const SourceLoc &loc) { return source.lineAt(loc, target); });
}

ShownSchedule shownSchedule(const std::string &name, std::shared_ptr<const Schedule> schedule,
                            std::vector<Sizes> sizes, uint64_t bytes,
                            std::function<std::string(const SourceLoc &)> textAt) {
  ShownSchedule shown;
  shown.name = name;
  shown.label = labelOf(name, schedule->numRanks(), bytes);
  shown.ranks = schedule->numRanks();
  shown.bytes = bytes;
  shown.numOps = schedule->numOps();
  shown.sizes = std::move(sizes);
  shown.ops = makeOpTable(*schedule, shown.sizes);
  shown.messages = shown.ops->messages;
  shown.volume = shown.ops->volume;
  shown.matrix = matrixOf(*shown.ops);
  shown.files = schedule->files;
  shown.textAt = std::move(textAt);
  shown.schedule = std::move(schedule);
  return shown;
}

} // namespace colldsl::driver
