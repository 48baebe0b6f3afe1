/// `colldsl tune`: from a machine to its profile.
#pragma once

#include "tools/run/Launch.h"
#include "tools/tune/BuiltLibrary.h"
#include "tools/tune/Interrupt.h"
#include "tools/tune/Sweep.h"

namespace colldsl::tools {

struct TuneOptions {
  std::chrono::nanoseconds time = std::chrono::seconds(60);
  std::vector<uint32_t> ranks;        ///< none: powers of two up to the cores
  std::vector<uint64_t> bytes;        ///< ascending
  std::vector<std::string> functions; ///< none: all
  bool fresh = false;                 ///< the content of the profile is dropped
  uint64_t noisePercent = 50;         ///< times that vary by more are not used
  double noiseLimit() const { return static_cast<double>(noisePercent) / 100; }
};

/// The powers of two below the number of cores of this machine, and that number.
Result<std::vector<uint32_t>> usualRanks();

class Tuner {
public:
  /// `launcher`: of this process, which is one of the ranks; null: they are forked. The options and
  /// the launcher outlive this.
  Tuner(const TuneOptions &options, Launcher *launcher, BuiltLibrary library);

  /// Collective over the ranks that the launcher started. Writes the profile to profilePath(); rank
  /// 0 reports on stdout. An error: the profile is incomplete, because of an interrupt or because
  /// the machine was too busy for any point.
  Status run();

  const MachineProfile &profile() const { return profile_; }

private:
  /// The points to measure with one number of ranks.
  struct Group {
    Topology topology = Topology::flat(1);
    std::vector<CandidatesOfPoint> points;
  };

  bool isFirst() const { return !launch_.launcher || launch_.launcher->rank() == 0; }
  /// Collective over the ranks of a launcher. Returns rank 0's text.
  Result<std::string> agreed(const std::string &mine) const;
  /// Variant of agreed(): an error of rank 0 becomes an error on all ranks.
  Result<std::string> agreed(const Result<std::string> &mine) const;
  Status begin();
  /// The text of the present profile, or of an empty one.
  Result<std::string> known(const MachineFingerprint &machine) const;
  Status makeGroups();
  Result<std::vector<std::string>> functions() const;
  /// Chooses the points that are not measured yet.
  Status choosePoints();
  Status measureAll();
  Status measure(Group &group, std::chrono::nanoseconds time);
  /// Measures the points of decisions once more, in turns with the choice of the rules. Points that
  /// do not win again lose their decision.
  Status verify();
  /// Makes the decisions of the points that are measured.
  Status decide();
  void take(const ComparedRow &row, TuningPoint &point);
  void leaveOutNoise();
  void leaveOut(const TuningPoint &point, const std::string &why);
  double quietBarrierNs(const Topology &topology) const;
  Result<std::vector<ComparedRow>> compare(Group &group);
  /// Rank 0 writes the profile; its error becomes an error on all ranks.
  Status keep() const;
  void report() const;
  std::string verifiedWords() const;
  void note(const std::string &text) const;

  const TuneOptions &settings_;
  BuiltLibrary library_;
  std::string path_;
  std::chrono::steady_clock::time_point begin_;
  LaunchOptions launch_;
  Interrupt interrupt_;
  MachineProfile profile_;
  std::vector<Group> groups_;
  size_t numPoints_ = 0, numNew_ = 0, numMeasured_ = 0, numDropped_ = 0, numLeftOut_ = 0;
};

} // namespace colldsl::tools
