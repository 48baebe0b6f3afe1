/// The costs of time on a machine: LogGOP parameters per distance class, and rates of memory.
/// Kept as JSON (docs/simulator.md has the schema); the simulator runs on it, and the passes that
/// choose between schedules count with it.
#pragma once

#include "ir/Int128.h"
#include "topology/Topology.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace colldsl {

/// Nanoseconds per byte, in steps of 2^-24. Whole numbers are exact.
class PerByte {
public:
  static constexpr unsigned kFractionBits = 24;
  static constexpr uint64_t kMaxNs = uint64_t{1} << 32;

  constexpr PerByte() = default;
  /// ns between 0 and kMaxNs.
  static constexpr PerByte fromNs(double ns) {
    PerByte rate;
    rate.fixed_ = static_cast<uint64_t>(ns * (uint64_t{1} << kFractionBits) + 0.5);
    return rate;
  }
  constexpr double ns() const {
    return static_cast<double>(fixed_) / static_cast<double>(uint64_t{1} << kFractionBits);
  }
  /// Rounded down.
  constexpr uint64_t times(uint64_t bytes) const {
    return static_cast<uint64_t>((UInt128{bytes} * fixed_) >> kFractionBits);
  }
  bool operator==(const PerByte &) const = default;
  auto operator<=>(const PerByte &) const = default;

private:
  uint64_t fixed_ = 0;
};

/// The way in which the bytes of a message get to their receiver.
enum class MovedBy : uint8_t {
  Processors, ///< LogGOPS: the receiver's processor takes them as they arrive
  Reader,     ///< messages longer than S: the receiver copies them, once its receive has started
  Interfaces, ///< the receiver's processor learns of the message when all of it is there
};

/// The parameters of Hoefler, Schneider, Lumsdaine, LogGOPSim (2010). Times in nanoseconds.
/// The default values are those of its program.
struct LogGop {
  uint64_t L = 2500;              ///< latency of the wire
  uint64_t o = 1500;              ///< processor time per message, at each end
  uint64_t g = 1000;              ///< from one message of an interface to the next
  PerByte G = PerByte::fromNs(6); ///< the interface's time per byte, from the second on
  PerByte O;                      ///< processor time per byte, from the second on
  uint64_t S = 65535;             ///< longer messages wait for their receive
  uint64_t notice = 0;            ///< processor time of a sender to learn that a receiver is ready
  MovedBy movedBy = MovedBy::Processors;
  bool operator==(const LogGop &) const = default;

  static constexpr uint64_t furtherBytes(uint64_t bytes) { return bytes > 0 ? bytes - 1 : 0; }
  uint64_t sendNs(uint64_t bytes) const { return o + O.times(furtherBytes(bytes)); }
  uint64_t receiveNs(uint64_t bytes) const {
    return o + (O > G ? O : G).times(furtherBytes(bytes));
  }
  uint64_t gapNs(uint64_t bytes) const { return g + G.times(furtherBytes(bytes)); }
  /// From the start of a send to the earliest start of the next one.
  uint64_t nextSendNs(uint64_t bytes) const { return std::max(sendNs(bytes), gapNs(bytes)); }
  /// From the start of a send to the end of its receive, with nothing in the way.
  uint64_t endToEndNs(uint64_t bytes) const { return o + L + receiveNs(bytes); }
};

/// Costs that differ by size: those from a number of bytes on.
template <typename Costs> struct FromBytes {
  uint64_t bytes = 0;
  Costs costs;
  bool operator==(const FromBytes &) const = default;
};

/// Costs of all sizes: those of the shortest, and others from some sizes on, in ascending order.
template <typename Costs>
const Costs &costsOf(const Costs &shortest, const std::vector<FromBytes<Costs>> &longer,
                     uint64_t bytes) {
  const Costs *found = &shortest;
  for (const FromBytes<Costs> &next : longer) {
    if (bytes < next.bytes)
      break;
    found = &next.costs;
  }
  return *found;
}

/// The time that a copy or a reduction within one rank takes.
struct MemoryRate {
  uint64_t latencyNs = 0;
  PerByte perByte;
  uint64_t ns(uint64_t bytes) const { return latencyNs + perByte.times(bytes); }
  bool operator==(const MemoryRate &) const = default;
};

struct MemoryCosts {
  MemoryRate shortest;
  std::vector<FromBytes<MemoryRate>> longer;
  uint64_t ns(uint64_t bytes) const { return costsOf(shortest, longer, bytes).ns(bytes); }
  bool operator==(const MemoryCosts &) const = default;
};

/// The way in which the interfaces of a node are given out.
enum class Spread : uint8_t {
  Ranks,    ///< each rank has one of them, by turns
  Messages, ///< each message takes the one that is free first
};

/// The parts of a node that its ranks share.
struct NodeCosts {
  uint32_t interfaces = 0; ///< towards other nodes; 0: each rank has its own
  uint64_t g = 0;          ///< from one message of an interface to the next, in each direction
  PerByte G;               ///< an interface's time per byte, in each direction
  bool isFair = false;     ///< long messages that an interface sends share it; else one by one
  uint32_t copiers = 0;    ///< ranks that copy at once and saturate the memory; 0: any number
  Spread spread = Spread::Ranks;
  bool operator==(const NodeCosts &) const = default;
};

/// Factors by which an implementation of an algorithm takes longer than its schedule says, at some
/// sizes, in ascending order.
using ImplementationFactors = std::vector<std::pair<uint64_t, double>>;

struct MachineModel {
  std::string name = "flat";
  std::array<LogGop, kMaxDistance + 1> distances; ///< index: Topology::distance()
  std::array<std::vector<FromBytes<LogGop>>, kMaxDistance + 1> longer; ///< for longer messages
  MemoryCosts copy;                                                    ///< per byte copied
  MemoryCosts combine;                                                 ///< per byte of the result
  NodeCosts node;
  /// Measured ones by function and algorithm: "allreduce ring_ompi". The simulator takes no notice.
  std::map<std::string, ImplementationFactors> implementations;
  bool operator==(const MachineModel &) const = default;

  const LogGop &costs(unsigned distance, uint64_t bytes) const {
    return costsOf(distances[distance], longer[distance], bytes);
  }
  /// Calls change(LogGop &) for the parameters of all distances and sizes.
  template <typename Change> void changeAll(Change change) {
    for (unsigned d = 0; d <= kMaxDistance; ++d)
      changeAll(d, change);
  }
  template <typename Change> void changeAll(unsigned distance, Change change) {
    change(distances[distance]);
    for (FromBytes<LogGop> &next : longer[distance])
      change(next.costs);
  }

  /// A model with these parameters at all distances, and memory that costs nothing.
  static MachineModel flat(const LogGop &parameters = {});
  bool isFlat() const;

  /// Reads JSON. An error names the fault and its place: line and column, or the member.
  static Result<MachineModel> parse(std::string_view json);
  /// JSON from which parse() reads an equal model. `description`: text for people.
  std::string toJson(std::string_view description = {}) const;
};

} // namespace colldsl
