#include "mscclpp/host/HostRun.h"

#include "mscclpp/PlanResult.h"
#include "mscclpp/host/HostLane.h"

#include <algorithm>
#include <deque>
#include <thread>

namespace colldsl::mscclpp {
namespace {

constexpr uint32_t kLeastLanes = 4, kMostThreads = 16;
constexpr size_t kMostWaits = 6;

/// The threads that the ops of a block take, for each of which there is a lane.
uint32_t threadsOf(const std::vector<Op> &ops) {
  size_t most = 0;
  for (const Op &op : ops)
    most = std::max({most, op.channels.size(), op.semaphores.size(), op.destinations.size(),
                     size_t{threadsOf(op.members)}});
  return static_cast<uint32_t>(most);
}

class HostRunner {
public:
  HostRunner(HostMachine &machine, const HostRunOptions &options)
      : machine_(machine), options_(options),
        caller_(machine, options.seed), job_{machine, caller_, options.launches} {}

  HostRunReport run() {
    for (uint32_t gpu = 0; gpu < machine_.plan().numGpus(); ++gpu)
      addGpu(gpu);
    PoolOptions pool;
    pool.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
    pool.seed = options_.seed;
    pool.timeout = options_.timeout;
    PoolOutcome outcome = runTasks(tasks_, pool);
    HostRunReport report;
    report.hasEnded = outcome.end == PoolOutcome::End::Done;
    report.isTimedOut = outcome.end == PoolOutcome::End::TimedOut;
    for (const TaskWait &wait : outcome.waits)
      if (report.waits.size() < kMostWaits)
        report.waits.push_back(wait.words);
    report.isChecked = caller_.knowsResult();
    report.wrongWords = caller_.numWrong();
    report.firstWrong = caller_.firstWrong();
    return report;
  }

private:
  void addGpu(uint32_t gpu) {
    HostGpu &g = machine_.gpu(gpu);
    caller_.prepare(gpu, 1);
    const std::vector<ThreadBlock> &blocks = machine_.plan().gpus[gpu].threadBlocks;
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      HostBlock &block = blocks_.emplace_back();
      block.gpu = gpu;
      block.block = i;
      block.ops = &blocks[i].ops;
      block.lanes =
          std::min(std::max(threadsOf(blocks[i].ops), kLeastLanes), machine_.plan().numThreads);
      for (uint32_t lane = 0; lane < block.lanes; ++lane)
        tasks_.push_back(std::make_unique<HostLane>(job_, block, lane, nextSeed()));
      g.threads += block.lanes;
    }
    g.running = g.threads;
    tasks_.push_back(std::make_unique<HostProxy>(job_, gpu, nextSeed()));
  }

  uint64_t nextSeed() { return options_.seed * 1000003 + tasks_.size() + 1; }

  HostMachine &machine_;
  const HostRunOptions &options_;
  HostCaller caller_;
  HostJob job_;
  std::deque<HostBlock> blocks_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

} // namespace

Result<HostRunReport> runOnHost(const Plan &plan, const HostRunOptions &options) {
  Result<Contract> contract = Contract::of(plan);
  if (!contract)
    return contract.status();
  Result<PlanLayout> layout = PlanLayout::of(plan, options.messageBytes);
  if (!layout)
    return layout.status();
  Result<std::unique_ptr<HostMachine>> machine = HostMachine::of(plan, *layout);
  if (!machine)
    return machine.status();
  return HostRunner(**machine, options).run();
}

} // namespace colldsl::mscclpp
