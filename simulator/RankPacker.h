/// Turns ranks, one after the other, into vertices. Internal to this folder.
#pragma once

#include "ir/RankSchedule.h"
#include "simulator/Workload.h"

namespace colldsl::sim {

/// Consecutive ranks, packed, one behind the other; indices into lists and wide amounts count
/// from the batch's own first ones.
struct PackedRanks {
  std::vector<Vertex> vertices;
  std::vector<MessageId> messages; ///< per vertex; what its ends have in common
  std::vector<uint32_t> lists;
  std::vector<uint64_t> wide;
  std::vector<uint32_t> counts; ///< vertices per rank
  uint64_t sends = 0;
  UInt128 bytes = 0, calcNs = 0;
  uint32_t cpus = 1, nics = 1;
  bool hasWays = false;

  void clear();
};

class RankPacker {
public:
  RankPacker(uint32_t numRanks, const WorkloadOptions &options)
      : numRanks_(numRanks), options_(options) {}

  Status add(const RankView &view, const Sizes &sizes, PackedRanks &into);
  Status add(Rank rank, const Dag &dag, const Sizes &sizes, PackedRanks &into);

private:
  Status addVertex(const RankView &view, uint32_t i, const Sizes &sizes, PackedRanks &into) const;
  Status addMessage(const RankView &view, uint32_t i, uint64_t bytes, Vertex &v) const;
  static uint64_t bytesOf(const RankView &view, std::span<const Slice> slices, const Sizes &sizes);
  static void addSuccessors(const RankView &view, uint32_t i, Vertex &v, PackedRanks &into);

  uint32_t numRanks_;
  const WorkloadOptions &options_;
  SuccessorLinks links_;
  std::vector<ImageOp> ops_; ///< of a rank that came as a DAG
  std::vector<uint32_t> successors_;
};

/// Puts batches together, in the order of ranks, and joins the ends of messages at the end.
class WorkloadBuilder {
public:
  WorkloadBuilder(uint32_t numRanks, const WorkloadOptions &options);

  /// Of the next ranks: kStride, or those that are left.
  Status add(const PackedRanks &batch);
  Result<Workload> finish(std::function<Result<Op>(Rank, OpId)> describe,
                          std::vector<std::string> files);

private:
  static uint32_t strideFor(const PackedRanks &batch);

  const WorkloadOptions &options_;
  Workload workload_;
  PagedArray<MessageId> messages_;
};

/// Finds each message's other end. Where that must wait until they run, both stay by tag.
Status joinEnds(Workload &workload, PagedArray<MessageId> messages, bool isPlainGoal);

} // namespace colldsl::sim
