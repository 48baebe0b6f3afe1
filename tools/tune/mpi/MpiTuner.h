/// `colldsl tune --mpi`: from an MPI to its file of rules.
#pragma once

#include "tools/tune/Interrupt.h"
#include "tools/tune/Tuner.h"
#include "tools/tune/mpi/Arms.h"
#include "tools/tune/mpi/MpiKind.h"

#include <set>

namespace colldsl::tools {

class MpiTuner {
public:
  /// `output`: an absolute path, from which MpiKind::files() derives names. `options` have
  /// functions and ranks; all references outlive this object.
  MpiTuner(const TuneOptions &options, const MpiLaunch &launch, const MpiKind &kind,
           std::string output)
      : settings_(options), launch_(launch), kind_(kind), output_(std::move(output)) {}

  /// Measures, writes files, loads them, measures again, and reports on stdout. An error, such as
  /// an interrupt, leaves the files as they were.
  Status run();

private:
  /// A point, and the ratio of the time of the MPI's own choice to the best time; 1: nothing was
  /// better beyond noise.
  struct Row {
    TuningPoint point;
    double seen = 1;
  };
  /// A point in jobs without the files and with them.
  struct Comparison {
    Row *row;
    Arm own, tuned;
    bool hasFailed = false;
  };

  Status measureAll();
  Status measureRanks(uint32_t ranks);
  Status measurePoint(ArmRunner &runner, uint32_t ranks, const MeasuredCall &call);
  /// The arms of a call. The MPI's own choice is the first one, as everywhere.
  std::vector<Arm> armsFor(const MeasuredCall &call) const;
  /// Holds the contest of the MPI's own choice with its algorithms, and returns these in `arms`.
  Result<ContestOutcome> holdOnce(ArmRunner &runner, const MeasuredCall &call,
                                  std::vector<Arm> &arms);
  void keep(TuningPoint point, std::vector<Arm> &arms, const ContestOutcome &outcome);
  void leaveOut(const TuningPoint &point, const Noise &noise);
  Status interrupted() const;
  std::vector<uint64_t> sizesOf(const std::string &function) const;
  /// The time for each of `pointsLeft` points, until the fraction `ofAll` of all time is used up.
  std::chrono::nanoseconds share(double ofAll, size_t pointsLeft) const;

  Status verify();
  /// Runs more rounds of a point. `backwards`: the job with the files starts first.
  static Status compare(ArmRunner &runner, Comparison &comparison, bool backwards,
                        std::chrono::nanoseconds time);
  void take(const Comparison &comparison);
  void decideAll();
  void dropLosers();
  /// The decision for the point; null: none.
  const Decision *decisionFor(const TuningPoint &point) const;
  Environment useOf(const std::vector<TuningFile> &files) const;

  void report(const std::vector<TuningFile> &files) const;
  void reportRegret() const;
  static void note(const std::string &text);

  const TuneOptions &settings_;
  const MpiLaunch &launch_;
  const MpiKind &kind_;
  std::string output_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Interrupt interrupt_;
  std::set<std::pair<std::string, std::string>> failed_; ///< functions, algorithms; for these ranks
  std::vector<Row> rows_;
  std::vector<Decision> decisions_;
  size_t numPoints_ = 0, pointsLeft_ = 0, numDropped_ = 0, numLeftOut_ = 0;
};

} // namespace colldsl::tools
