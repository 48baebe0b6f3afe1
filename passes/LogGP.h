/// The LogGP model: a message of s bytes keeps its sender's processor busy for o, its network
/// interface for g + (s - 1) G, arrives L later and keeps the receiver's processor busy for o +
/// (s - 1) G. Copies take time by the KiB.
/// source: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long
/// messages into the LogP model", 1995; T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim", 2010
#pragma once

#include "passes/Cost.h"
#include "passes/PassOptions.h"

namespace colldsl {

/// In ns; the defaults are those of LogGOPSim.
struct LogGP {
  uint64_t L = 2500;
  uint64_t o = 1500;
  uint64_t g = 1000; ///< per message
  uint64_t G = 6;    ///< per byte
  uint64_t copyNsPerKiB = 100;

  void describe(PassOptions &options);

  uint64_t bytesNs(uint64_t bytes) const { return bytes == 0 ? 0 : (bytes - 1) * G; }
  /// From the start of one send to the earliest start of the next one.
  uint64_t sendNs(uint64_t bytes) const { return std::max(o, g + bytesNs(bytes)); }
  /// From the start of a send until its receiver may use what came.
  uint64_t messageNs(uint64_t bytes) const { return 2 * o + L + bytesNs(bytes); }
};

/// Runs a schedule in this model, event by event.
/// Example: rank 0 sends 1 byte each to ranks 1 and 2: o + L + o = 5500 ns, and 1500 more.
/// Bound: (ops + messages) log.
class LogGPCost : public CostModel {
public:
  explicit LogGPCost(const LogGP &model) : model_(model) {}

  Result<uint64_t> makespanNs(const Schedule &schedule,
                              const std::vector<Sizes> &sizes) const override;

  /// The same, rank by rank.
  Result<std::vector<uint64_t>> finishNs(const Schedule &schedule,
                                         const std::vector<Sizes> &sizes) const;

private:
  LogGP model_;
};

} // namespace colldsl
