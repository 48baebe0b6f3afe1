/// Short messages of an exchange along a graph, sent by the schedule that passes made of it: a plan
/// that copies its blocks from and to the memory of the call. The length of a block travels with
/// it.
#pragma once

#include "executor/Plan.h"
#include "mpi/comm/PlanGroup.h"
#include "runtime/graph/GraphExchange.h"

#include <sys/uio.h>

namespace colldsl::mpi {

/// All that goes to one peer, or comes from it, in one run.
struct FarMessage {
  Rank peer;
  std::vector<iovec> pieces;
  uint64_t bytes;
};

/// Under a Guard.
class RelayedExchange {
public:
  RelayedExchange(std::shared_ptr<PlanGroup> plans, std::shared_ptr<const GraphExchange> way,
                  bool sendsSame);
  ~RelayedExchange() { cancel(); }
  RelayedExchange(const RelayedExchange &) = delete;
  RelayedExchange &operator=(const RelayedExchange &) = delete;

  /// Begins a run of this number, which all plans of the group share; leaves out messages that are
  /// too long. The lengths are the same in each run. An error: memory is short; the other ranks are
  /// notified.
  Status start(uint32_t number, const std::vector<FarMessage> &out);
  /// Refuses a run that cannot begin here, and returns the reason; the other ranks are notified.
  Status refuse(uint32_t number, const Status &why);
  bool isDone() const { return !plan_ || !plan_->running(); }
  bool progress() { return plan_ && plan_->progress(); }
  /// Ends a run that is done. An error: the length of a message differs from that in `in`, or a
  /// rank failed.
  Status finish(const std::vector<FarMessage> &in);
  /// Ends a run that cannot be finished, on all ranks.
  void cancel();

private:
  Status open(const std::vector<FarMessage> &out);
  void copyIn(const std::vector<FarMessage> &out);
  Status deliver(const FarMessage &message, size_t block) const;
  void end();
  const FarMessage *find(const std::vector<FarMessage> &messages, uint32_t peer) const;
  std::byte *blockAt(std::vector<std::byte> &memory, size_t block) const {
    return memory.data() + block * way_->capacityBytes;
  }

  std::shared_ptr<PlanGroup> plans_;
  std::shared_ptr<const GraphExchange> way_;
  bool sendsSame_;
  std::vector<std::byte> sent_, received_; ///< blocks, each in capacityBytes
  std::unique_ptr<Plan> plan_;             ///< null: before the first run, or after a failed one
  uint32_t run_ = 0;
  bool isUnderWay_ = false;
};

} // namespace colldsl::mpi
