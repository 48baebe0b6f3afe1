#include "tools/tune/Sweep.h"

#include "select/Function.h"
#include "tools/tune/Contest.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr uint32_t kWarmup = 3;

int64_t nsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

/// A collective that competes.
struct Runner : Contender {
  std::unique_ptr<TimedCall> call;
};

/// The common part of all measurements of a library.
class Measuring {
public:
  Measuring(Communicator &communicator, Library &library, const SweepOptions &options)
      : communicator_(communicator), library_(library), options_(options), begin_(Clock::now()) {}

  Status open() {
    Result<std::unique_ptr<Alternation>> made = Alternation::make(communicator_, library_);
    if (!made)
      return made.status();
    alternation_ = made.take();
    return {};
  }

  /// The time left for each of so many points, equal on all ranks; nothing: no time is left.
  Result<std::optional<std::chrono::nanoseconds>> share(size_t pointsLeft) {
    bool isStopped = options_.stop && options_.stop->load() != 0;
    Result<int64_t> gone = alternation_->greatest(isStopped ? INT64_MAX : nsSince(begin_));
    if (!gone)
      return gone.status();
    if (*gone >= options_.limit.count())
      return std::optional<std::chrono::nanoseconds>();
    return std::optional((options_.limit - std::chrono::nanoseconds(*gone)) /
                         static_cast<int64_t>(pointsLeft));
  }

  Result<CallMemory> memoryFor(const CandidatesOfPoint &point) {
    const Program &program = **library_.program();
    const Decl &model = program.decl(modelOf(**library_.rules(), point.function));
    return CallMemory::make(program, model, communicator_.rank(), communicator_.numRanks(),
                            point.bytes);
  }

  /// Commits a call; nothing: it is not possible here.
  std::optional<Runner> enter(Library &library, const std::string &name,
                              const TunedCollective &what, const CallMemory &memory) {
    Runner runner;
    runner.call = std::make_unique<TimedCall>(communicator_, library, name);
    if (!runner.call->commit(memory, what.values))
      return std::nullopt;
    runner.what = runner.call->what();
    return runner;
  }

  /// The estimated ns of a round, from the times so far; equal on all ranks.
  static double roundNs(const Contenders &runners) {
    double round = 0;
    for (const Contender *runner : runners)
      round += medianOf(runner->times) * 2 + 2000; // data and barrier take time, too
    return round;
  }

  /// The noise of the Runners that ran last. If the time of a quiet barrier is unknown, the
  /// quietest barrier so far stands for it.
  Noise noiseOf(const Contender &usual, const Contender &other) const {
    bool isKnown = options_.quietNs > 0 && !communicator_.engine().endpoint().caps().sharesCores;
    double quiet = isKnown ? options_.quietNs : quietest_;
    return tools::noiseOf(usual.lastTimes, other.lastTimes, alternation_->barriers(), quiet);
  }

  /// True if there is time to measure a point once more.
  Result<bool> goesOn() {
    auto left = share(1);
    if (!left)
      return left.status();
    return left->has_value();
  }

  /// Runs the contenders, all of which are Runners, in turns.
  Status run(const Contenders &runners, CallMemory &memory, uint32_t rounds) {
    std::vector<TimedCall *> calls;
    std::vector<RoundTimes *> times;
    for (Contender *runner : runners) {
      calls.push_back(static_cast<Runner *>(runner)->call.get());
      runner->lastTimes.clear();
      times.push_back(&runner->lastTimes);
    }
    if (Status s = alternation_->run(calls, memory, rounds, times); !s)
      return s;
    double barrier = medianOf(alternation_->barriers());
    quietest_ = quietest_ > 0 ? std::min(quietest_, barrier) : barrier;
    for (Contender *runner : runners)
      runner->times.insert(runner->times.end(), runner->lastTimes.begin(), runner->lastTimes.end());
    return {};
  }

  /// Runs the warm-up, whose last round gives the first times.
  Status warmUp(const Contenders &runners, CallMemory &memory) {
    if (Status s = run(runners, memory, kWarmup); !s)
      return s;
    for (Contender *runner : runners)
      runner->times = {runner->times.back()};
    return {};
  }

private:
  Communicator &communicator_;
  Library &library_;
  const SweepOptions &options_;
  Clock::time_point begin_;
  std::unique_ptr<Alternation> alternation_;
  double quietest_ = 0; ///< the least median of barriers so far
};

/// The measurement of one point.
class PointContest : public ContestMeasurer {
public:
  PointContest(Measuring &measuring, Communicator &communicator, Library &library,
               const CandidatesOfPoint &point)
      : measuring_(measuring), communicator_(communicator), library_(library), point_(point) {}

  Result<SweptPoint> hold(std::chrono::nanoseconds time) {
    Result<CallMemory> memory = measuring_.memoryFor(point_);
    if (!memory)
      return memory.status();
    memory_ = memory.take();
    if (Status s = enterAll(); !s)
      return s;
    Contenders all;
    for (Runner &runner : runners_)
      all.push_back(&runner);
    Result<ContestOutcome> outcome = holdContest(*this, all, {time});
    if (!outcome)
      return outcome.status();
    TuningPoint point;
    point.function = point_.function;
    point.ranks = communicator_.numRanks();
    point.nodes = communicator_.topology().numGroups(Level::Node);
    point.bytes = point_.bytes;
    point.shipped = runners_.front().what;
    fillPoint(point, all, *outcome);
    return SweptPoint{std::move(point), outcome->noise};
  }

  Status warmUp(Contenders &left) override { return measuring_.warmUp(left, memory_); }
  Status measure(Contenders &left, uint32_t rounds) override {
    return measuring_.run(left, memory_, rounds);
  }
  double roundNs(const Contenders &left) const override { return Measuring::roundNs(left); }
  Noise noiseOf(const Contender &usual, const Contender &other) const override {
    return measuring_.noiseOf(usual, other);
  }

private:
  /// Enters the rules' choice first, then the other candidates.
  Status enterAll() {
    auto shipped = measuring_.enter(library_, point_.function, {}, memory_);
    if (!shipped)
      return Status::error("the rules have nothing for " + point_.function + " of " +
                           std::to_string(point_.bytes) + " bytes on " +
                           std::to_string(communicator_.numRanks()) + " ranks");
    runners_.push_back(std::move(*shipped));
    for (const TunedCollective &what : point_.candidates) {
      if (what == runners_.front().what)
        continue;
      if (auto runner = measuring_.enter(library_, what.name, what, memory_))
        runners_.push_back(std::move(*runner));
    }
    return {};
  }

  Measuring &measuring_;
  Communicator &communicator_;
  Library &library_;
  const CandidatesOfPoint &point_;
  CallMemory memory_;
  std::vector<Runner> runners_;
};

} // namespace

Result<std::vector<SweptPoint>> sweep(Endpoint &endpoint, const Topology &topology,
                                      Library &library,
                                      const std::vector<CandidatesOfPoint> &points,
                                      const SweepOptions &options) {
  Communicator communicator(endpoint, topology);
  Measuring measuring(communicator, library, options);
  if (Status s = measuring.open(); !s)
    return s;
  std::vector<SweptPoint> measured;
  for (size_t i = 0; i < points.size(); ++i) {
    auto time = measuring.share(points.size() - i);
    if (!time)
      return time.status();
    if (!*time)
      break;
    Result<SweptPoint> point = measureSteadily(
        options.noiseLimit,
        [&] { return PointContest(measuring, communicator, library, points[i]).hold(**time); },
        [&] { return measuring.goesOn(); });
    if (!point)
      return point.status();
    measured.push_back(point.take());
    if (communicator.rank() == Rank{0} && options.progress)
      options.progress(measured.size(), measured.back());
  }
  return measured;
}

Result<std::vector<ComparedRow>> compareLibraries(Endpoint &endpoint, const Topology &topology,
                                                  Library &shipped, Library &tuned,
                                                  const std::vector<CandidatesOfPoint> &points,
                                                  const SweepOptions &options) {
  Communicator communicator(endpoint, topology);
  Measuring measuring(communicator, shipped, options);
  if (Status s = measuring.open(); !s)
    return s;
  std::vector<ComparedRow> rows;
  for (size_t i = 0; i < points.size(); ++i) {
    auto time = measuring.share(points.size() - i);
    if (!time)
      return time.status();
    if (!*time)
      break;
    Result<CallMemory> memory = measuring.memoryFor(points[i]);
    if (!memory)
      return memory.status();
    auto before = measuring.enter(shipped, points[i].function, {}, *memory);
    auto after = measuring.enter(tuned, points[i].function, {}, *memory);
    if (!before || !after)
      return Status::error("a decision for " + points[i].function + " cannot be followed");
    Contenders both = {&*before, &*after};
    if (Status s = measuring.warmUp(both, *memory); !s)
      return s;
    uint32_t rounds =
        roundsIn(**time, Measuring::roundNs(both), kLeastFinalRounds, kMostFinalRounds);
    auto compare = [&]() -> Result<ComparedRow> {
      if (Status s = measuring.run(both, *memory, rounds); !s)
        return s;
      return ComparedRow{i, medianOf(before->lastTimes), medianOf(after->lastTimes),
                         ratioOf(before->lastTimes, after->lastTimes),
                         measuring.noiseOf(*before, *after)};
    };
    Result<ComparedRow> row =
        measureSteadily(options.noiseLimit, compare, [&] { return measuring.goesOn(); });
    if (!row)
      return row.status();
    rows.push_back(*row);
  }
  return rows;
}

} // namespace colldsl::tools
