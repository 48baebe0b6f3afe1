#include "tools/tune/Sweep.h"

#include "runtime/Decide.h"
#include "runtime/Decisions.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr uint32_t kWarmup = 3;
// Rounds: fewer say nothing; more say nothing new.
constexpr uint32_t kLeastRounds = 5, kMostRounds = 100;
constexpr uint32_t kLeastFinal = 25, kMostFinal = 400;

int64_t nsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

/// A collective that competes.
struct Runner {
  std::unique_ptr<TimedCall> call;
  TunedCollective what;
  RoundTimes times;     ///< of all rounds
  RoundTimes lastTimes; ///< of the last rung
};

/// All that measures of a library have in common.
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

  /// What is left for each of so many points, alike on all ranks; nothing: there is no time.
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

  /// Nothing: it cannot be done here.
  std::optional<Runner> enter(Library &library, const std::string &name,
                              const TunedCollective &what, const CallMemory &memory) {
    Runner runner{std::make_unique<TimedCall>(communicator_, library, name), what, {}, {}};
    if (!runner.call->commit(memory, what.values))
      return std::nullopt;
    runner.what = runner.call->what();
    return runner;
  }

  /// Rounds that take so long, by what they took so far, alike on all ranks.
  static uint32_t roundsIn(std::chrono::nanoseconds time, std::span<Runner *const> runners,
                           uint32_t least, uint32_t most) {
    double round = 0;
    for (const Runner *runner : runners)
      round += medianOf(runner->times) * 2 + 2000; // data and barrier take time, too
    double rounds = static_cast<double>(time.count()) / round;
    return static_cast<uint32_t>(std::clamp<double>(rounds, least, most));
  }

  Status run(std::span<Runner *const> runners, CallMemory &memory, uint32_t rounds) {
    std::vector<TimedCall *> calls;
    std::vector<RoundTimes *> times;
    for (Runner *runner : runners) {
      calls.push_back(runner->call.get());
      runner->lastTimes.clear();
      times.push_back(&runner->lastTimes);
    }
    if (Status s = alternation_->run(calls, memory, rounds, times); !s)
      return s;
    for (Runner *runner : runners)
      runner->times.insert(runner->times.end(), runner->lastTimes.begin(), runner->lastTimes.end());
    return {};
  }

  Status warmUp(std::span<Runner *const> runners, CallMemory &memory) {
    if (Status s = run(runners, memory, kWarmup); !s)
      return s;
    for (Runner *runner : runners) // the first round is no measure
      runner->times.erase(runner->times.begin());
    return {};
  }

private:
  Communicator &communicator_;
  Library &library_;
  const SweepOptions &options_;
  Clock::time_point begin_;
  std::unique_ptr<Alternation> alternation_;
};

/// One point.
class Contest {
public:
  Contest(Measuring &measuring, Communicator &communicator, Library &library,
          const CandidatesOfPoint &point)
      : measuring_(measuring), communicator_(communicator), library_(library), point_(point) {}

  Result<TuningPoint> hold(std::chrono::nanoseconds time) {
    Result<CallMemory> memory = measuring_.memoryFor(point_);
    if (!memory)
      return memory.status();
    if (Status s = enterAll(*memory); !s)
      return s;
    std::vector<Runner *> left = all();
    if (Status s = measuring_.warmUp(left, *memory); !s)
      return s;
    for (Runner *runner : left)
      runner->times.erase(runner->times.begin(), runner->times.end() - 1);
    size_t rungs = 1;
    for (size_t n = left.size() - 1; n > 1; n = (n + 1) / 2)
      ++rungs;
    while (left.size() > 2) {
      uint32_t rounds = Measuring::roundsIn(time / static_cast<int64_t>(rungs + 1), left,
                                            kLeastRounds, kMostRounds);
      if (Status s = measuring_.run(left, *memory, rounds); !s)
        return s;
      halve(left);
    }
    if (left.size() < 2)
      return outcome({}, {});
    uint32_t rounds = Measuring::roundsIn(2 * time / static_cast<int64_t>(rungs + 1), left,
                                          kLeastFinal, kMostFinal);
    if (Status s = measuring_.run(left, *memory, rounds); !s)
      return s;
    return outcome(left[1], ratioOf(left[0]->lastTimes, left[1]->lastTimes));
  }

private:
  std::vector<Runner *> all() {
    std::vector<Runner *> runners;
    for (Runner &runner : runners_)
      runners.push_back(&runner);
    return runners;
  }

  /// The rules' choice first.
  Status enterAll(const CallMemory &memory) {
    auto shipped = measuring_.enter(library_, point_.function, {}, memory);
    if (!shipped)
      return Status::error("the rules have nothing for " + point_.function + " of " +
                           std::to_string(point_.bytes) + " bytes on " +
                           std::to_string(communicator_.numRanks()) + " ranks");
    runners_.push_back(std::move(*shipped));
    for (const TunedCollective &what : point_.candidates) {
      if (what == runners_.front().what)
        continue;
      if (auto runner = measuring_.enter(library_, what.name, what, memory))
        runners_.push_back(std::move(*runner));
    }
    return {};
  }

  /// Those behind the first one.
  static void halve(std::vector<Runner *> &left) {
    std::stable_sort(left.begin() + 1, left.end(), [](const Runner *a, const Runner *b) {
      return medianOf(a->times) < medianOf(b->times);
    });
    left.resize(1 + left.size() / 2);
  }

  TuningPoint outcome(const Runner *best, const Ratio &ratio) const {
    TuningPoint point;
    point.function = point_.function;
    point.ranks = communicator_.numRanks();
    point.nodes = communicator_.topology().numGroups(Level::Node);
    point.bytes = point_.bytes;
    point.shipped = runners_.front().what;
    point.shippedNs = medianOf(runners_.front().times);
    for (const Runner &runner : runners_)
      if (&runner != &runners_.front())
        point.entries.push_back({runner.what, medianOf(runner.times)});
    // The one that was left in the end is the fastest, whatever fewer rounds have of others.
    sortEntries(point, best ? &best->what : nullptr);
    point.margin = best ? ratio.median : 1;
    point.least = best ? ratio.least : 1;
    return point;
  }

  Measuring &measuring_;
  Communicator &communicator_;
  Library &library_;
  const CandidatesOfPoint &point_;
  std::vector<Runner> runners_;
};

} // namespace

Result<std::vector<TuningPoint>> sweep(Endpoint &endpoint, const Topology &topology,
                                       Library &library,
                                       const std::vector<CandidatesOfPoint> &points,
                                       const SweepOptions &options) {
  Communicator communicator(endpoint, topology);
  Measuring measuring(communicator, library, options);
  if (Status s = measuring.open(); !s)
    return s;
  std::vector<TuningPoint> measured;
  for (size_t i = 0; i < points.size(); ++i) {
    auto time = measuring.share(points.size() - i);
    if (!time)
      return time.status();
    if (!*time)
      break;
    Result<TuningPoint> point = Contest(measuring, communicator, library, points[i]).hold(**time);
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
    std::vector<Runner *> both = {&*before, &*after};
    if (Status s = measuring.warmUp(both, *memory); !s)
      return s;
    uint32_t rounds = Measuring::roundsIn(**time, both, kLeastFinal, kMostFinal);
    if (Status s = measuring.run(both, *memory, rounds); !s)
      return s;
    rows.push_back({i, medianOf(before->lastTimes), medianOf(after->lastTimes),
                    ratioOf(before->lastTimes, after->lastTimes)});
  }
  return rows;
}

} // namespace colldsl::tools
