#include "tools/tune/mpi/MpiTuner.h"

#include "driver/Lists.h"
#include "select/Decision.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

namespace colldsl::tools {

using namespace driver;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

// MPICH uses some algorithms only from the fifth call on a communicator on.
constexpr uint32_t kWarmups = 8;
constexpr uint32_t kFirstRounds = 3;
/// The value of ContestLimits::hopeless.
constexpr double kHopeless = 4;
/// The number of starts of the verification's jobs.
constexpr unsigned kStarts = 3;
constexpr uint32_t kLeastVerified = 10;
/// The sweep's share of the time; the rest is for the verification.
constexpr double kSweep = 0.7;

/// The contest of the arms of a call.
class ArmContest : public ContestMeasurer {
public:
  ArmContest(ArmRunner &runner, const MeasuredCall &call, std::function<Status()> interrupted)
      : runner_(runner), call_(call), interrupted_(std::move(interrupted)) {}

  Status warmUp(Contenders &left) override { return run(left); }
  Status measure(Contenders &left, uint32_t rounds) override {
    call_.warmups = 1;
    call_.rounds = rounds;
    return run(left);
  }
  double roundNs(const Contenders &left) const override { return ArmRunner::roundNs(armsOf(left)); }

private:
  static Arms armsOf(const Contenders &contenders) {
    Arms arms;
    for (Contender *contender : contenders)
      arms.push_back(static_cast<Arm *>(contender));
    return arms;
  }
  Status run(Contenders &left) {
    if (Status s = interrupted_(); !s)
      return s;
    Arms arms = armsOf(left);
    Status s = runner_.measure(call_, arms);
    left.assign(arms.begin(), arms.end());
    return s;
  }

  ArmRunner &runner_;
  MeasuredCall call_;
  std::function<Status()> interrupted_;
};

std::string bytesOf(const Decision &d) {
  if (d.maxBytes == UINT64_MAX)
    return "all";
  return bytesWord(d.minBytes) + ".." + bytesWord(d.maxBytes);
}

} // namespace

Status MpiTuner::run() {
  if (Status s = measureAll(); !s)
    return s;
  decideAll();
  if (!decisions_.empty() && !interrupt_.came())
    if (Status s = verify(); !s)
      return s;
  if (Status s = interrupted(); !s)
    return s;
  std::vector<TuningFile> files;
  if (!decisions_.empty())
    files = kind_.files(decisions_, output_);
  if (Status s = writeTogether(files); !s)
    return s;
  report(files);
  return {};
}

Status MpiTuner::interrupted() const {
  return interrupt_.came() ? Status::error("interrupted: no file is written") : Status();
}

std::vector<uint64_t> MpiTuner::sizesOf(const std::string &function) const {
  return function == "barrier" ? std::vector<uint64_t>{0} : settings_.bytes;
}

Nanoseconds MpiTuner::share(double ofAll, size_t pointsLeft) const {
  Nanoseconds end(static_cast<int64_t>(static_cast<double>(settings_.time.count()) * ofAll));
  return (end - (Clock::now() - begin_)) / static_cast<int64_t>(std::max<size_t>(pointsLeft, 1));
}

Status MpiTuner::measureAll() {
  for (const std::string &function : settings_.functions)
    numPoints_ += sizesOf(function).size() * settings_.ranks.size();
  pointsLeft_ = numPoints_;
  note(llvm::formatv("{0}: {1} points are to be measured", kind_.facts().library, numPoints_));
  for (uint32_t ranks : settings_.ranks)
    if (Status s = measureRanks(ranks); !s) {
      if (rows_.empty() || interrupt_.came())
        return s;
      note(llvm::formatv("{0} ranks: {1}: the rest is not measured", ranks, s.message()));
    }
  return {};
}

Status MpiTuner::measureRanks(uint32_t ranks) {
  failed_.clear();
  ArmRunner runner(launch_, kind_.form(), ranks, note);
  for (const std::string &function : settings_.functions) {
    for (uint64_t bytes : sizesOf(function)) {
      if (interrupt_.came() || Clock::now() - begin_ > settings_.time * kSweep)
        return {};
      if (Status s = measurePoint(runner, ranks, {function, bytes, kWarmups, kFirstRounds}); !s)
        return s;
      --pointsLeft_;
    }
    runner.keepOnly(kind_.forcing());
  }
  return {};
}

std::vector<Arm> MpiTuner::armsFor(const MeasuredCall &call) const {
  std::vector<Arm> arms(1);
  arms[0].environment = kind_.forcing();
  for (MpiAlgorithm &algorithm : kind_.algorithms(call.function, call.bytes)) {
    if (failed_.contains({call.function, algorithm.what.words()}))
      continue;
    Arm &arm = arms.emplace_back();
    arm.what = std::move(algorithm.what);
    arm.words = std::move(algorithm.arm);
    arm.environment = kind_.forcing();
    llvm::append_range(arm.environment, algorithm.environment);
  }
  return arms;
}

Status MpiTuner::measurePoint(ArmRunner &runner, uint32_t ranks, const MeasuredCall &call) {
  std::vector<Arm> arms;
  Result<ContestOutcome> outcome = measureSteadily(
      settings_.noiseLimit(), [&] { return holdOnce(runner, call, arms); },
      [&] { return Result<bool>(Clock::now() - begin_ <= settings_.time * kSweep); });
  if (!outcome)
    return outcome.status();
  if (arms[0].verdict != ArmResult::Right)
    return {};
  TuningPoint point;
  point.function = call.function;
  point.ranks = ranks;
  point.nodes = runner.nodes();
  point.bytes = call.bytes;
  if (isSteady(outcome->noise, settings_.noiseLimit()))
    keep(std::move(point), arms, *outcome);
  else
    leaveOut(point, outcome->noise);
  return {};
}

Result<ContestOutcome> MpiTuner::holdOnce(ArmRunner &runner, const MeasuredCall &call,
                                          std::vector<Arm> &arms) {
  arms = armsFor(call);
  Contenders all;
  for (Arm &arm : arms)
    all.push_back(&arm);
  ArmContest measurer(runner, call, [this] { return interrupted(); });
  Result<ContestOutcome> outcome =
      holdContest(measurer, all, {share(kSweep, pointsLeft_), kHopeless});
  for (const Arm &arm : arms)
    if (arm.verdict == ArmResult::Wrong || arm.verdict == ArmResult::Lost)
      failed_.insert({call.function, arm.what.words()});
  return outcome;
}

void MpiTuner::leaveOut(const TuningPoint &point, const Noise &noise) {
  ++numLeftOut_;
  note(pointWords(point.function, point.bytes, point.ranks) + ": " +
       noiseWords(noise, settings_.noiseLimit()) + ": left out");
}

void MpiTuner::keep(TuningPoint point, std::vector<Arm> &arms, const ContestOutcome &outcome) {
  Contenders all;
  for (Arm &arm : arms)
    all.push_back(&arm);
  fillPoint(point, all, outcome);
  double seen = hasWinner(point) ? point.margin : 1;
  rows_.push_back({std::move(point), seen});
}

void MpiTuner::decideAll() {
  std::vector<TuningPoint> points;
  for (const Row &row : rows_)
    points.push_back(row.point);
  decisions_ = decide(points, [&](const std::string &function) {
    return std::optional(DecidedFunction{mpiFunctionReduces(function), kind_.hasSize(function)});
  });
}

const Decision *MpiTuner::decisionFor(const TuningPoint &point) const {
  auto found = llvm::find_if(decisions_, [&](const Decision &d) {
    return d.function == point.function && d.ranks == point.ranks && d.minBytes <= point.bytes &&
           point.bytes <= d.maxBytes;
  });
  return found == decisions_.end() ? nullptr : &*found;
}

Environment MpiTuner::useOf(const std::vector<TuningFile> &files) const {
  Environment use = kind_.untouched();
  for (const TuningFile &file : files)
    llvm::append_range(use, file.use);
  return use;
}

// Compares jobs with the files to jobs without them: the best of many algorithms may have been
// lucky, and the MPI may ignore its files. The times of two jobs differ by the placement of their
// memory, so both are started a few times.
Status MpiTuner::verify() {
  std::vector<TuningFile> trials = kind_.files(decisions_, output_ + ".trial");
  auto removeTrials = llvm::make_scope_exit([&] {
    for (const TuningFile &file : trials)
      llvm::sys::fs::remove(file.path);
  });
  if (Status s = writeTogether(trials); !s)
    return s;
  Arm own, tuned;
  own.environment = kind_.untouched();
  tuned.environment = useOf(trials);
  tuned.what.name = "the file";
  std::vector<Comparison> comparisons;
  for (Row &row : rows_)
    if (decisionFor(row.point))
      comparisons.push_back({&row, own, tuned});
  note("verifying " + counted(comparisons.size(), "point") + " with the file loaded");
  size_t left = comparisons.size() * kStarts;
  for (uint32_t ranks : settings_.ranks)
    for (unsigned start = 0; start < kStarts; ++start) {
      if (start > 0 && Clock::now() - begin_ > settings_.time) // one start gives an interval, too
        break;
      ArmRunner runner(launch_, kind_.form(), ranks, note);
      for (Comparison &c : comparisons) {
        if (c.row->point.ranks != ranks)
          continue;
        if (interrupt_.came())
          return {};
        if (Status s = compare(runner, c, start % 2 == 1, share(1, left--)); !s)
          return s;
      }
    }
  for (const Comparison &c : comparisons)
    take(c);
  dropLosers();
  return {};
}

Status MpiTuner::compare(ArmRunner &runner, Comparison &c, bool backwards, Nanoseconds time) {
  Arms both = {&c.own, &c.tuned};
  if (backwards)
    std::swap(both[0], both[1]);
  MeasuredCall call{c.row->point.function, c.row->point.bytes, kWarmups, kFirstRounds};
  Arm warm[2] = {*both[0], *both[1]};
  Arms warming = {&warm[0], &warm[1]};
  if (Status s = runner.measure(call, warming); !s)
    return s;
  c.hasFailed |= warming.size() != 2;
  if (c.hasFailed)
    return {};
  call.rounds = roundsIn(time, ArmRunner::roundNs(warming), kLeastVerified, kMostFinalRounds);
  for (size_t i = 0; i < both.size(); ++i)
    both[i]->callNs = warming[i]->callNs;
  Status s = runner.measure(call, both);
  c.hasFailed |= both.size() != 2;
  return s;
}

void MpiTuner::take(const Comparison &c) {
  TuningPoint &point = c.row->point;
  Ratio ratio = c.hasFailed ? Ratio{0, 0, 0} : ratioOf(c.own.times, c.tuned.times);
  Noise noise; // no drift: each start places the memory elsewhere
  noise.spread = std::max(spreadOf(c.own.times), spreadOf(c.tuned.times));
  if (!c.hasFailed && !isSteady(noise, settings_.noiseLimit())) {
    leaveOut(point, noise);
    ratio = {1, 0, 0};
  }
  point.isVerified = true;
  point.margin = ratio.median;
  point.least = ratio.least;
  if (hasWinner(point))
    c.row->seen = std::max(c.row->seen, ratio.median);
  // The times are of the decision's algorithm, which need not have won at this point.
  const TunedCollective &use = decisionFor(point)->use;
  llvm::stable_sort(point.entries, [&](const auto &a, const auto &b) {
    return a.what == use && !(b.what == use);
  });
}

// A decision that was not verified gets no rule, even if it is the best of those that are left.
void MpiTuner::dropLosers() {
  std::vector<Decision> before = std::move(decisions_);
  decideAll();
  llvm::erase_if(decisions_, [&](const Decision &d) {
    return llvm::none_of(before, [&](const Decision &b) {
      return b.function == d.function && b.ranks == d.ranks && b.use == d.use &&
             b.minBytes <= d.minBytes && d.maxBytes <= b.maxBytes;
    });
  });
  for (const Row &row : rows_) {
    const TuningPoint &p = row.point;
    if (!p.isVerified || decisionFor(p))
      continue;
    ++numDropped_;
    if (p.margin < 1)
      note(pointWords(p.function, p.bytes, p.ranks) + ": " + factorWord(p.margin) +
           " times as fast when measured again: dropped");
  }
}

void MpiTuner::report(const std::vector<TuningFile> &files) const {
  if (!decisions_.empty()) {
    Table table({"function", "ranks", "bytes", "algorithm", "faster"});
    for (const Decision &d : decisions_)
      table.addRow(
          {d.function, std::to_string(d.ranks), bytesOf(d), d.use.words(), factorWord(d.margin)});
    table.print(resultStream());
  }
  std::string names;
  for (const TuningFile &file : files)
    names += (names.empty() ? "" : ", ") + file.path;
  resultStream() << llvm::formatv(
      "{0}: {1} of {2} points, {3}\n", kind_.facts().library, rows_.size(), numPoints_,
      files.empty() ? "no rule: no file is written"
                    : counted(decisions_.size(), "rule") + ", verified: " + names);
  reportRegret();
  if (rows_.size() < numPoints_)
    resultStream() << "a longer --time measures the rest\n";
  if (files.empty())
    return;
  resultStream() << "programs follow it with";
  for (const TuningFile &file : files)
    resultStream() << " " << llvm::join(file.use, " ");
  resultStream() << "\n";
}

// Regret: the ratio of a time to the best time at its point.
void MpiTuner::reportRegret() const {
  if (rows_.empty())
    return;
  auto write = [&](const char *when, llvm::function_ref<double(const Row &)> regret) {
    double sum = 0, worst = 0;
    const Row *worstRow = nullptr;
    for (const Row &row : rows_) {
      sum += std::log(regret(row));
      if (!worstRow || regret(row) > worst)
        worstRow = &row, worst = regret(row);
    }
    const TuningPoint &p = worstRow->point;
    resultStream() << llvm::formatv("regret {0}: {1:f2}, worst {2:f2} ({3})\n", when,
                                    std::exp(sum / static_cast<double>(rows_.size())), worst,
                                    pointWords(p.function, p.bytes, p.ranks));
  };
  write("before", [](const Row &row) { return row.seen; });
  write("after", [&](const Row &row) {
    return decisionFor(row.point) ? row.seen / row.point.margin : row.seen;
  });
  if (numDropped_ > 0)
    resultStream() << counted(numDropped_, "point") << " dropped\n";
  if (numLeftOut_ > 0)
    resultStream() << counted(numLeftOut_, "point") << " left out, as the machine is busy\n";
}

void MpiTuner::note(const std::string &text) { errorStream() << "colldsl: " << text << "\n"; }

} // namespace colldsl::tools
