#include "tools/tune/mpi/Arms.h"

#include "driver/Lists.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace colldsl::tools {

using namespace driver;

namespace {

/// Bounds of a burst: an arm makes calls in a row if the arms are of different jobs, and their
/// median is one time. The first calls suffer from caches that the other job has used.
constexpr double kMostBurst = 9, kBurstNs = 20'000'000;
constexpr double kCommandNs = 1'000'000; // for the ranks of a job to notice a command
constexpr double kMeetNs = 2000;         // for the ranks to meet before a call

bool areTogether(const Arms &arms) {
  return llvm::all_of(arms, [&](const Arm *a) { return a->environment == arms[0]->environment; });
}

uint32_t burstOf(const Arm &arm) {
  return arm.callNs == 0
             ? 1
             : static_cast<uint32_t>(std::clamp(kBurstNs / arm.callNs, 1.0, kMostBurst));
}

} // namespace

std::string pointWords(const std::string &function, uint64_t bytes, uint32_t ranks) {
  return function + (function == "barrier" ? "" : " " + bytesWord(bytes)) + " on " +
         counted(ranks, "rank");
}

Status ArmRunner::measure(const MeasuredCall &call, Arms &arms) {
  for (bool isWhole = false; !isWhole && !arms.empty();) {
    for (Arm *arm : arms) {
      arm->lastTimes.clear();
      arm->verdict = ArmResult::NotRun;
    }
    Result<bool> done = runOnce(call, arms);
    if (!done)
      return done.status();
    isWhole = *done;
    drop(call, arms, isWhole);
  }
  for (Arm *arm : arms) {
    llvm::append_range(arm->times, arm->lastTimes);
    arm->callNs = medianOf(arm->lastTimes);
  }
  return {};
}

// Every other round runs backwards, as in the program.
Result<bool> ArmRunner::runOnce(const MeasuredCall &call, Arms &arms) {
  if (areTogether(arms))
    return run(call, arms, [](Arm &arm, const RoundTimes &times) { arm.lastTimes = times; });
  auto none = [](Arm &, const RoundTimes &) {};
  auto takeMedian = [](Arm &arm, const RoundTimes &times) {
    arm.lastTimes.push_back(medianOf(times));
  };
  for (Arm *arm : arms) {
    Result<bool> isWhole = run({call.function, call.bytes, call.warmups, 0}, {arm}, none);
    if (!isWhole || !*isWhole)
      return isWhole;
  }
  Arms good = arms;
  llvm::erase_if(good, [](const Arm *arm) { return arm->verdict != ArmResult::Right; });
  for (uint32_t round = 0; round < call.rounds; ++round)
    for (size_t i = 0; i < good.size(); ++i) {
      Arm *arm = good[round % 2 == 0 ? i : good.size() - 1 - i];
      if (arm->verdict != ArmResult::Right) // its job ended: it is left out
        continue;
      Result<bool> isWhole = run({call.function, call.bytes, 0, burstOf(*arm)}, {arm}, takeMedian);
      if (!isWhole || !*isWhole)
        return isWhole;
    }
  return true;
}

Result<bool> ArmRunner::run(const MeasuredCall &call, const Arms &arms, Take take) {
  if (arms.empty())
    return true;
  Result<Job *> job = jobOf(arms[0]->environment);
  if (!job)
    return job.status();
  std::vector<std::string> words;
  for (const Arm *arm : arms)
    words.push_back(arm->words);
  Result<std::vector<ArmResult>> results = (*job)->run(call, words);
  if (!results) {
    note_(pointWords(call.function, call.bytes, ranks_) + " is not measured: " + results.message());
    jobs_.clear();
    for (Arm *arm : arms)
      arm->verdict = ArmResult::NotRun;
    return true; // none is left
  }
  bool isWhole = true;
  for (size_t i = 0; i < arms.size(); ++i) {
    arms[i]->verdict = (*results)[i].verdict;
    isWhole &= arms[i]->verdict != ArmResult::Lost;
    if (arms[i]->verdict == ArmResult::Right)
      take(*arms[i], (*results)[i].times);
  }
  if (!isWhole)
    jobs_.clear();
  return isWhole;
}

void ArmRunner::drop(const MeasuredCall &call, Arms &arms, bool isWhole) const {
  for (const Arm *arm : arms)
    if (arm->verdict == ArmResult::Wrong || arm->verdict == ArmResult::Lost)
      note_(
          pointWords(call.function, call.bytes, ranks_) + ": " +
          (arm->what.name.empty() ? "the usual choice" : "'" + arm->what.words() + "'") +
          (arm->verdict == ArmResult::Wrong ? " gives a wrong result" : " crashes, or never ends") +
          ": left out");
  llvm::erase_if(arms, [&](const Arm *arm) {
    return arm->verdict != ArmResult::Right && (isWhole || arm->verdict != ArmResult::NotRun);
  });
}

double ArmRunner::roundNs(const Arms &arms) {
  bool together = areTogether(arms);
  double round = 0;
  for (const Arm *arm : arms) // data takes time, too
    round += medianOf(arm->times) * 2 * (together ? 1 : burstOf(*arm) + 2) +
             (together ? kMeetNs : kCommandNs);
  return round;
}

void ArmRunner::keepOnly(const Environment &environment) {
  std::erase_if(jobs_, [&](const auto &job) { return job.first != environment; });
}

Result<Job *> ArmRunner::jobOf(const Environment &environment) {
  std::unique_ptr<Job> &job = jobs_[environment];
  if (!job) {
    Result<std::unique_ptr<Job>> started = Job::start(launch_, ranks_, form_, environment);
    if (!started)
      return started.status();
    job = started.take();
    nodes_ = job->nodes();
  }
  return job.get();
}

} // namespace colldsl::tools
