/// Short messages of an exchange along a graph by the schedule that passes made of it: a plan whose
/// blocks are copied from and to the memory of the call, and have the lengths that come with them.
#pragma once

#include "executor/Plan.h"
#include "mpi/comm/PlanGroup.h"
#include "runtime/GraphExchange.h"

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

  /// Begins a run of this number, which is one of all plans of the group; messages too long for it
  /// are left out. The lengths are the same in each run. An error: memory is short, of which the
  /// other ranks are notified.
  Status start(uint32_t number, const std::vector<FarMessage> &out);
  /// A run that cannot begin here, for this reason, which is returned: the other ranks are
  /// notified.
  Status refuse(uint32_t number, const Status &why);
  bool isDone() const { return !plan_ || !plan_->running(); }
  bool progress() { return plan_ && plan_->progress(); }
  /// Ends a run that is done. An error: a message has another length than `in` has, or a rank
  /// failed.
  Status finish(const std::vector<FarMessage> &in);
  /// Ends a run that cannot be finished, on all ranks.
  void cancel();

private:
  Status open(const std::vector<FarMessage> &out);
  void gather(const std::vector<FarMessage> &out);
  Status deliver(const FarMessage &message, size_t block) const;
  void end();
  const FarMessage *find(const std::vector<FarMessage> &messages, uint32_t peer) const;
  std::byte *blockAt(std::vector<std::byte> &memory, size_t block) const {
    return memory.data() + block * way_->capacityBytes;
  }

  std::shared_ptr<PlanGroup> plans_;
  std::shared_ptr<const GraphExchange> way_;
  bool sendsSame_;
  std::vector<std::byte> sent_, received_; ///< blocks, so far apart as the longest is long
  std::unique_ptr<Plan> plan_;             ///< null: none yet, or the run before failed
  uint32_t run_ = 0;
  bool isUnderWay_ = false;
};

} // namespace colldsl::mpi
