#include "tools/sim/MakeWorkload.h"

#include "tools/input/BlockSizes.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <thread>
#include <unistd.h>

namespace colldsl::tools {
namespace {

/// Before the ranks take memory: those that were looked at have `least` ops or more each. An
/// estimate of a fourth of that is refused, since others may have fewer.
Status checkSize(uint64_t least, const InstantiateRequest &request) {
  constexpr double kBytesPerOp = 32; // a vertex of the workload, at least
  double ops = static_cast<double>(least) * request.ranks;
  double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::string what =
      llvm::formatv("about {0:e2} ops, {1} on each of {2} ranks, ", ops, least, request.ranks)
          .str();
  if (ops / 4 > static_cast<double>(request.limits.maxTotalOps))
    return Status::error(llvm::formatv("{0}are more than the limit of {1} for all ranks together "
                                       "(--max-total-ops)",
                                       what, request.limits.maxTotalOps)
                             .str());
  if (ops / 4 * kBytesPerOp > present)
    return Status::error(llvm::formatv("{0}take more than {1:f1} GiB, the memory of this machine",
                                       what, present / (1 << 30))
                             .str());
  return {};
}

/// As far as rank 0 knows. Also an error if the job is too large to be simulated.
Result<bool> hasOpenBlocks(const Program &program, const InstantiateRequest &request) {
  Dag dag;
  Instantiator instantiator(program, request);
  uint64_t least = UINT64_MAX;
  for (uint32_t rank :
       {request.ranks - 1, request.ranks / 2, std::min(1u, request.ranks - 1), 0u}) {
    if (Status s = instantiator.instantiate(Rank{rank}, dag); !s)
      return s;
    least = std::min<uint64_t>(least, dag.ops.size());
  }
  if (Status s = checkSize(least, request); !s)
    return s;
  return std::any_of(dag.buffers.begin(), dag.buffers.end(),
                     [](const Buffer &buffer) { return buffer.layout == Layout::CallTime; });
}

} // namespace

Result<SimulatedJob> makeWorkload(Source &source, const Source::Target &target,
                                  const SingleOptions &single,
                                  const sim::SimulateOptions &options) {
  Result<SinglePlan> plan = planSingle(source, target, single);
  if (!plan)
    return plan.status();
  SimulatedJob job;
  job.plan = plan.take();
  sim::WorkloadOptions packing;
  packing.copy = options.model.copy;
  packing.combine = options.model.combine;
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
    InstantiateRequest request = requestFor(target, single.schedule, job.plan.call, job.plan.shape);
    Result<bool> isOpen = hasOpenBlocks(source.program(), request);
    if (!isOpen)
      return isOpen.status();
    if (!*isOpen)
      return finish(sim::packProgram(source.program(), request, packing,
                                     std::thread::hardware_concurrency()));
  }
  Result<std::shared_ptr<const Schedule>> schedule =
      makeSchedule(source, target, single.schedule, job.plan.call, job.plan.shape);
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

} // namespace colldsl::tools
