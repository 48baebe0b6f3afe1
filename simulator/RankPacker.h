/// Turns ranks, one after the other, into vertices.
#pragma once

#include "ir/RankSchedule.h"
#include "simulator/ReceiveTables.h"
#include "simulator/Workload.h"

#include <atomic>
#include <shared_mutex>

namespace colldsl::sim {

/// Consecutive ranks, packed, one behind the other; indices into lists and wide amounts count
/// from the batch's own first ones.
struct PackedRanks {
  explicit PackedRanks(const Topology *topology) : traffic(topology) {}

  std::vector<Vertex> vertices;
  std::vector<MessageId> messages; ///< per vertex; what its ends have in common
  std::vector<uint32_t> lists;
  std::vector<uint64_t> wide;
  std::vector<uint32_t> counts;   ///< vertices per rank
  std::vector<uint32_t> receives; ///< of these, per rank
  uint64_t sends = 0;
  UInt128 bytes = 0, calcNs = 0;
  Traffic traffic;
  uint32_t cpus = 1, nics = 1;
  bool hasWays = false;

  void clear();
};

class RankPacker {
public:
  RankPacker(uint32_t numRanks, const WorkloadOptions &options)
      : numRanks_(numRanks), options_(options) {}

  Status add(Rank rank, const Dag &dag, const Sizes &sizes, PackedRanks &into);

private:
  Status addVertex(const RankView &view, uint32_t i, const Sizes &sizes, PackedRanks &into) const;
  Status addMessage(const RankView &view, uint32_t i, uint64_t bytes, Vertex &v) const;
  void addTraffic(Rank sender, Rank receiver, uint64_t bytes, PackedRanks &into) const;
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

  /// The place of a batch in the arrays.
  struct Place {
    uint32_t vertices = 0, lists = 0, wide = 0;
    uint32_t firstRank = 0;
    uint32_t stride = 1;
  };

  /// Makes room for the next ranks: kStride, or those that are left. One thread at a time.
  Result<Place> makeRoom(const PackedRanks &batch);
  /// Copies a batch to its place. Any number of threads at once, also while another one makes room.
  void fill(const Place &place, const PackedRanks &batch);
  Status add(const PackedRanks &batch);

  /// Uses up to so many threads.
  Result<Workload> finish(std::function<Result<Op>(Rank, OpId)> describe,
                          std::vector<std::string> files, unsigned threads = 1);

private:
  static uint32_t strideFor(const PackedRanks &batch);
  void growBy(uint64_t vertices, uint64_t lists);
  void fillOne(const Place &place, const PackedRanks &batch, uint32_t rank, uint32_t from,
               uint32_t to);
  void insertReceive(uint32_t rank, uint32_t vertex);

  const WorkloadOptions &options_;
  Workload workload_;
  PagedArray<MessageId> messages_;
  ReceiveTables tables_;
  uint64_t receives_ = 0;
  std::atomic<bool> isAmbiguous_{false}; ///< two receives of a rank have one sender and message
  std::shared_mutex filling_;            ///< held alone, the arrays may move
  struct Room {
    uint64_t vertices = 0, lists = 0, slots = 0;
  } room_; ///< the sizes that the arrays hold without growing
};

/// Finds each message's other end. If the ends can meet only when they run, both stay by tag.
/// `tables`: of all receives; empty if isPlainGoal. `isOneToOne`: there are as many receives as
/// sends, and no two have the same sender and message.
Status joinEnds(Workload &workload, PagedArray<MessageId> messages, ReceiveTables tables,
                bool isOneToOne, bool isPlainGoal, unsigned threads);

} // namespace colldsl::sim
