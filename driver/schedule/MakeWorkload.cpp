#include "driver/schedule/MakeWorkload.h"

#include "driver/Lists.h"
#include "driver/schedule/BlockSizes.h"
#include "driver/schedule/JobSize.h"
#include "passes/PackProgram.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace colldsl::driver {
namespace {

constexpr double kBytesPerOp = 32; // a vertex of the workload, at least

} // namespace

Result<SimulatedJob> makeWorkload(Source &source, const Source::Target &target,
                                  const SingleRequest &single, const sim::SimulateOptions &options,
                                  bool contract) {
  Result<SinglePlan> plan = planSingle(source, target, single);
  if (!plan)
    return plan.status();
  SimulatedJob job;
  job.plan = plan.take();
  sim::WorkloadOptions packing;
  packing.model = &options.model;
  packing.topology = job.plan.topology.get();
  packing.maxOps = single.schedule.instantiate.maxTotalOps;
  auto finish = [&](Result<sim::Workload> workload) -> Result<SimulatedJob> {
    if (!workload)
      return workload.status();
    job.workload = workload.take();
    return std::move(job);
  };
  bool isChanged = single.schedule.passes.pipeline.has(PassKind::Dag);
  if (!target.schedule && !isChanged) {
    InstantiateRequest instantiation =
        instantiationOf(target, single.schedule, job.plan.call, job.plan.shape);
    if (Status s = checkJobSize(source.program(), instantiation, kBytesPerOp); !s)
      return s;
    Result<bool> isOpen = hasOpenBlocks(source.program(), instantiation);
    if (!isOpen)
      return isOpen.status();
    if (!*isOpen)
      return finish(packProgram(source.program(), instantiation, packing,
                                std::thread::hardware_concurrency()));
  }
  auto schedule = makeSchedule(source, target, single.schedule, job.plan.call, job.plan.shape,
                               contract || single.schedule.passes.verifyEach);
  if (!schedule)
    return schedule.status();
  job.schedule = schedule.take();
  Result<std::vector<Sizes>> sizes =
      chooseSizes(*job.schedule, job.plan.shape.elements, options.seed);
  if (!sizes)
    return sizes.status();
  packing.isPlainGoal = job.schedule->isPlainGoal;
  return finish(sim::packSchedule(*job.schedule, *sizes, packing));
}

Result<sim::Outcome> simulateJob(SimulatedJob &job, sim::SimulateOptions options,
                                 const std::string &name, const Watch &watch) {
  uint64_t total = job.workload.numOps + job.workload.messages;
  auto begin = std::chrono::steady_clock::now();
  options.topology = job.plan.topology.get();
  options.watch = [&](uint64_t events, uint64_t ns) {
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (watch.progress)
      watch.progress({name, events, total,
                      llvm::formatv(" events, {0} simulated, {1:f1} million events/s",
                                    timeWord(static_cast<int64_t>(ns)),
                                    static_cast<double>(events) / took.count())
                          .str()});
    return !watch.isStopped();
  };
  return sim::simulate(job.workload, options);
}

} // namespace colldsl::driver
