#include "driver/schedule/CountTraffic.h"

#include "driver/schedule/BlockSizes.h"
#include "ir/Threads.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace colldsl::driver {
namespace {

/// Adds the messages of one rank to the traffic of each job.
void addRank(Rank rank, const Dag &dag, const Sizes &sizes, bool isPlainGoal,
             std::span<const TrafficJob> jobs, std::span<sim::Traffic> traffic) {
  for (const Op &op : dag.ops) {
    if (!sendsMessage(op.kind))
      continue;
    bool isSized = op.sourceCount > 0;
    uint64_t bytes = isSized ? sim::messageBytes(dag.sources(op), dag.buffers, sizes) : op.amount;
    if (op.kind == OpKind::Send && bytes == 0 && !isPlainGoal)
      continue; // does not travel
    for (size_t i = 0; i < jobs.size(); ++i)
      traffic[i].add(jobs[i].topology->levelsCrossed(rank, op.peer), bytes);
  }
}

std::vector<sim::Traffic> noTraffic(std::span<const TrafficJob> jobs) {
  std::vector<sim::Traffic> none;
  for (const TrafficJob &job : jobs)
    none.emplace_back(job.topology);
  return none;
}

/// Counts a collective whose ranks are instantiated one by one.
class RankCounter {
public:
  RankCounter(const Program &program, const InstantiateRequest &request,
              std::span<const TrafficJob> jobs, Steps &steps, const Watch &watch)
      : program_(program), request_(request), jobs_(jobs), steps_(steps), watch_(watch),
        traffic_(noTraffic(jobs)) {}

  Status run() {
    onThreads(std::thread::hardware_concurrency(), [this] { work(); });
    return error_;
  }
  std::span<const sim::Traffic> traffic() const { return traffic_; }
  bool usedTopology() const { return usedTopology_; }

private:
  void work();

  const Program &program_;
  const InstantiateRequest &request_;
  std::span<const TrafficJob> jobs_;
  Steps &steps_;
  const Watch &watch_;
  std::atomic<uint32_t> next_{0};
  std::mutex mutex_; ///< guards what follows
  std::vector<sim::Traffic> traffic_;
  bool usedTopology_ = false;
  Status error_;
  Rank failed_ = kNoRank; ///< the lowest rank with an error
};

void RankCounter::work() {
  Instantiator instantiator(program_, request_);
  Sizes sizes{request_.elements, {}};
  Dag dag;
  std::vector<sim::Traffic> traffic = noTraffic(jobs_);
  uint32_t rank = 0;
  while (!watch_.isStopped() && (rank = next_.fetch_add(1)) < request_.ranks) {
    if (Status s = instantiator.instantiate(Rank{rank}, dag); !s) {
      next_ = request_.ranks;
      std::lock_guard lock(mutex_);
      if (failed_ == kNoRank || Rank{rank} < failed_) {
        failed_ = Rank{rank};
        error_ = s;
      }
      break;
    }
    addRank(Rank{rank}, dag, sizes, /*isPlainGoal=*/false, jobs_, traffic);
    steps_.step();
  }
  std::lock_guard lock(mutex_);
  usedTopology_ |= instantiator.usedTopology();
  for (size_t i = 0; i < traffic.size(); ++i)
    traffic_[i] += traffic[i];
}

void addTo(std::span<TrafficJob> jobs, std::span<const sim::Traffic> traffic) {
  for (size_t i = 0; i < jobs.size(); ++i)
    jobs[i].traffic += traffic[i];
}

class Counter {
public:
  Counter(Source &source, const Source::Target &target, const SingleRequest &request,
          const Watch &watch)
      : source_(source), target_(target), request_(request), watch_(watch) {}

  Status count(std::span<TrafficJob> jobs);

private:
  Result<bool> countTogether(std::span<TrafficJob> jobs);
  Status countSchedule(const SinglePlan &plan, std::span<TrafficJob> jobs);

  Source &source_;
  const Source::Target &target_;
  SingleRequest request_;
  const Watch &watch_;
};

Status Counter::count(std::span<TrafficJob> jobs) {
  bool isChosen = !target_.schedule && !request_.schedule.passes.pipeline.empty();
  Result<bool> isDone = isChosen && jobs.size() > 1 ? false : countTogether(jobs);
  for (size_t i = 0; i < jobs.size() && isDone && !*isDone; ++i)
    if (Result<bool> one = countTogether(jobs.subspan(i, 1)); !one)
      isDone = one;
  return isDone.status();
}

/// Counts one schedule in all jobs. False, with nothing counted: there are several jobs, and each
/// needs a schedule of its own.
Result<bool> Counter::countTogether(std::span<TrafficJob> jobs) {
  request_.schedule.topology = jobs.front().description;
  Result<SinglePlan> plan = planSingle(source_, target_, request_);
  if (!plan)
    return plan.status();
  if (target_.schedule || request_.schedule.passes.pipeline.has(PassKind::Dag)) {
    Status s = countSchedule(*plan, jobs);
    return s ? Result<bool>(true) : s;
  }
  InstantiateRequest instantiation =
      instantiationOf(target_, request_.schedule, plan->call, plan->shape);
  Result<bool> isOpen = hasOpenBlocks(source_.program(), instantiation);
  if (!isOpen || (*isOpen && jobs.size() > 1))
    return isOpen ? Result<bool>(false) : isOpen;
  if (*isOpen) {
    Status s = countSchedule(*plan, jobs);
    return s ? Result<bool>(true) : s;
  }
  Steps steps(watch_, target_.name, plan->shape.ranks);
  RankCounter counter(source_.program(), instantiation, jobs, steps, watch_);
  if (Status s = counter.run(); !s)
    return s;
  if (counter.usedTopology() && jobs.size() > 1)
    return false;
  addTo(jobs, counter.traffic());
  return true;
}

Status Counter::countSchedule(const SinglePlan &plan, std::span<TrafficJob> jobs) {
  auto schedule = makeSchedule(source_, target_, request_.schedule, plan.call, plan.shape,
                               request_.schedule.passes.verifyEach);
  if (!schedule)
    return schedule.status();
  Result<std::vector<Sizes>> sizes = chooseSizes(**schedule, plan.shape.elements, /*seed=*/0);
  if (!sizes)
    return sizes.status();
  std::vector<sim::Traffic> traffic = noTraffic(jobs);
  Sizes common{(*schedule)->sizeClass.elements, {}};
  Steps steps(watch_, target_.name, plan.shape.ranks);
  for (uint32_t r = 0; r < (*schedule)->numRanks() && !watch_.isStopped(); ++r) {
    addRank(Rank{r}, (*schedule)->ranks[r], r < sizes->size() ? (*sizes)[r] : common,
            (*schedule)->isPlainGoal, jobs, traffic);
    steps.step();
  }
  addTo(jobs, traffic);
  return {};
}

} // namespace

Status countTraffic(Source &source, const Source::Target &target, const SingleRequest &request,
                    std::span<TrafficJob> jobs, const Watch &watch) {
  if (Status s = Counter(source, target, request, watch).count(jobs); !s)
    return s;
  return watch.isStopped() ? Status::error("the count was stopped") : Status();
}

} // namespace colldsl::driver
