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
  bool fresh = false;                 ///< what the profile has is forgotten
  uint64_t noisePercent = 50;         ///< times that vary by more are not used
  double noiseLimit() const { return static_cast<double>(noisePercent) / 100; }
};

/// Powers of two up to the cores of this machine, and these.
Result<std::vector<uint32_t>> usualRanks();

class Tuner {
public:
  /// `launcher`: of this process, which is one of the ranks; null: they are forked. The options and
  /// the launcher outlive this.
  Tuner(const TuneOptions &options, Launcher *launcher, BuiltLibrary library);

  /// Collective over what the launcher started. Writes the profile to profilePath() and tells on
  /// stdout, by rank 0, what has become of it. An error: that is not all that was wanted, since it
  /// was interrupted, or the machine too busy for any point.
  Status run();

  const MachineProfile &profile() const { return profile_; }

private:
  /// Ranks of one number, and the points that are measured with them.
  struct Group {
    Topology topology = Topology::flat(1);
    std::vector<CandidatesOfPoint> points;
  };

  bool isFirst() const { return !launch_.launcher || launch_.launcher->rank() == 0; }
  /// What rank 0 has, on all ranks of a launcher.
  Result<std::string> agreed(const std::string &mine) const;
  /// The same where rank 0 may have an error, which is then one on all ranks.
  Result<std::string> agreed(const Result<std::string> &mine) const;
  Status begin();
  /// What there is already, as text.
  Result<std::string> known(const MachineFingerprint &machine) const;
  Status makeGroups();
  Result<std::vector<std::string>> functions() const;
  /// What is not measured yet.
  Status choosePoints();
  Status measureAll();
  Status measure(Group &group, std::chrono::nanoseconds time);
  /// Rows of decisions once more, each in turns with what the rules choose. What does not win again
  /// loses its decision.
  Status verify();
  void take(const ComparedRow &row, TuningPoint &point);
  void leaveOutNoise();
  void leaveOut(const TuningPoint &point, const std::string &why);
  double quietBarrierNs(const Topology &topology) const;
  Result<std::vector<ComparedRow>> compare(Group &group);
  /// Rank 0 writes for all; an error is one on all ranks.
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
