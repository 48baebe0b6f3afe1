/// The results of `colldsl tune` on a machine: the costs of time there, and for each function the
/// collective of the standard library that serves it best for so many ranks and bytes. Kept as JSON
/// (docs/tuning.md has the schema).
#pragma once

#include "topology/MachineModel.h"

#include <string>
#include <vector>

namespace colldsl {

/// The identity of the machine that a profile was measured on.
struct MachineFingerprint {
  std::string processor;     ///< its model
  uint32_t cores = 0;        ///< all of the machine, not those that this process may use
  uint64_t topologyHash = 0; ///< Topology::hash() of a rank per hardware thread
  bool operator==(const MachineFingerprint &) const = default;
  /// "Intel(R) Xeon(R) CPU, 8 cores, topology 0123456789abcdef"
  std::string words() const;
};

/// The fingerprint of the machine of this process. Takes milliseconds.
Result<MachineFingerprint> fingerprintOfThisMachine();

/// A collective and its tuning parameters: "bcast_chain segment=65536".
struct TunedCollective {
  struct Value {
    std::string parameter;
    int64_t value = 0; ///< of a bool 0 or 1
    bool operator==(const Value &) const = default;
  };
  std::string name;
  std::vector<Value> values;
  bool operator==(const TunedCollective &) const = default;

  std::string words() const;
  /// Reads words() back. An error says what is wrong.
  static Result<TunedCollective> parse(std::string_view words);
};

/// The collective that serves a function, in place of the one that the rules of the standard
/// library choose. Both ends of the range of bytes are included.
struct Decision {
  std::string function;
  uint32_t ranks = 0, nodes = 1;
  uint64_t minBytes = 0, maxBytes = UINT64_MAX;
  TunedCollective use;
  bool needsCommutative = false;
  double margin = 1;       ///< so many times faster than the rules' choice: the median
  bool isVerified = false; ///< measured once more, by itself against the rules' choice
  bool isLearned = false;  ///< by a job, between its own calls
  double noise = 0;        ///< the greatest spread or drift of its points
};

/// The times of a function with different collectives.
struct TuningPoint {
  struct Entry {
    TunedCollective what;
    double ns = 0; ///< median of the calls, of each the slowest rank
  };
  std::string function;
  uint32_t ranks = 0, nodes = 1;
  uint64_t bytes = 0;
  /// The time of the collective that the rules choose. In learned points all times are the mean
  /// over the ranks of the time that each spent in the call, not the time of the slowest.
  double shippedNs = 0;
  TunedCollective shipped;    ///< the collective that the rules choose
  std::vector<Entry> entries; ///< of the others, fastest first
  double margin = 1;          ///< of the fastest over the shipped one, in turns with it: the median
  double least = 1;           ///< and the lower end of its interval of confidence (95 %)
  double spread = 0;       ///< of their times: median absolute deviation by median, the greater one
  double drift = 0;        ///< and from the first third of the rounds to the last: ratio less 1
  bool isVerified = false; ///< these two were measured once more, through the rules
  bool isLearned = false;  ///< by a job, between its own calls

  /// True if both have the same function, ranks, nodes and bytes.
  bool isAt(const TuningPoint &other) const {
    return function == other.function && ranks == other.ranks && nodes == other.nodes &&
           bytes == other.bytes;
  }
};

struct MachineProfile {
  std::string tool;        ///< "colldsl 0.1.0"
  std::string measured;    ///< the day of the last measurement, "2026-11-27"; empty: there was none
  double noiseLimit = 0.5; ///< parse() refuses decisions with more, which tune does not write
  /// Library::programHash() of the standard library that was measured. Points of another library
  /// are not compared.
  uint64_t libraryHash = 0;
  MachineFingerprint machine;
  MachineModel model;
  uint64_t singleCopyFrom = 0;     ///< bytes from which on the kernel's copy is faster; 0: never
  PerByte singleCopy;              ///< the time of the kernel's copy
  uint64_t wakeupNs = 0;           ///< until a rank that sleeps has noticed a message
  std::vector<Decision> decisions; ///< the first that fits counts
  std::vector<TuningPoint> points;

  /// Reads JSON. An error names the fault and its place, such as a decision by times that vary too
  /// much.
  static Result<MachineProfile> parse(std::string_view json);
  /// JSON from which parse() reads an equal profile.
  std::string toJson() const;
  /// A hash of the parts that affect a job: the decisions and the costs.
  uint64_t hash() const;
};

} // namespace colldsl
