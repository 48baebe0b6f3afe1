/// All ranks' ops as the event loop takes them: compact, their messages' ends joined. Made
/// from a schedule, or rank by rank (RankPacker.h).
#pragma once

#include "ir/Image.h"
#include "ir/PagedArray.h"
#include "simulator/Traffic.h"
#include "simulator/Vertex.h"
#include "topology/MachineModel.h"

#include <functional>

namespace colldsl::sim {

struct WorkloadOptions {
  const MachineModel *model = nullptr; ///< the times of local ops, and who moves messages; null:
                                       ///< local ops take no time
  const Topology *topology = nullptr;  ///< null: all ranks are equally far apart (distance 0)
  bool isPlainGoal = false; ///< ends meet by rank and tag, also wildcards; empty messages travel
  uint64_t maxOps = uint64_t{1} << 30; ///< of all ranks
};

/// The vertices of a rank's ops.
struct RankVertices {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t stride = 1;
  uint32_t at(uint32_t op) const { return first + op * stride; }
};

class Workload {
public:
  PagedArray<Vertex> vertices; ///< some belong to no rank
  PagedArray<uint32_t> lists;  ///< see Vertex::successors
  std::vector<uint64_t> wide;  ///< amounts of 32 bits and more
  std::vector<RankVertices> ranks;
  uint64_t numOps = 0;
  uint32_t cpus = 1, nics = 1; ///< of each rank
  uint64_t messages = 0;       ///< sends
  UInt128 bytes = 0;           ///< of all messages, each counted once
  Traffic traffic;             ///< of the same, by the levels of the topology
  UInt128 calcNs = 0;
  bool isPlainGoal = false; ///< messages take the receiver's ports that the send names
  bool hasTags = false;     ///< some ends meet when they run
  bool hasWays = false;     ///< some messages have another way than the usual one

  /// An op as its rank's DAG has it, for messages to people. May take as long as making the rank.
  std::function<Result<Op>(Rank, OpId)> describe;
  std::vector<std::string> files; ///< see SourceLoc::file

  uint32_t numRanks() const { return static_cast<uint32_t>(ranks.size()); }
  uint64_t amountOf(const Vertex &v) const { return v.isWide ? wide[v.amount] : v.amount; }
  uint32_t rankOf(uint32_t vertex) const;
  OpId opOf(uint32_t vertex) const {
    const RankVertices &rank = ranks[rankOf(vertex)];
    return OpId{(vertex - rank.first) / rank.stride};
  }
};

/// "rank 3: op 4, send to rank 5," and where it comes from; for messages to people.
std::string nameOf(const Workload &workload, uint32_t vertex);
SourceLoc locOf(const Workload &workload, uint32_t vertex);

/// An error has a note for each further message whose ends do not meet or disagree in size,
/// up to a number. The schedule outlives the workload. `sizes`: per rank, for blocks whose
/// length is known at call time only; empty: there are none.
Result<Workload> packSchedule(const Schedule &schedule, std::span<const Sizes> sizes,
                              const WorkloadOptions &options);

} // namespace colldsl::sim
