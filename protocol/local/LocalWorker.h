/// All connections of one rank to the other ranks of its machine. A connection is one FIFO for each
/// direction; the first message makes it, and all that the two ranks do together shares it. Nothing
/// is opened: both ends name a message by a tag, and the end that comes first waits.
///
/// Memory: shm::fifoBytes() per FIFO, of which only the used part is touched; nothing is
/// proportional to the number of pairs of ranks.
///
/// Threads: one at a time; the caller serialises. Errors: values.
#pragma once

#include "protocol/ReceiveSide.h"
#include "protocol/SendSide.h"
#include "protocol/local/LocalOptions.h"
#include "protocol/local/RunProgress.h"
#include "transports/Processor.h"
#include "transports/Yielding.h"
#include "transports/shm/FailureDetector.h"
#include "transports/shm/FifoReceiver.h"
#include "transports/shm/Lender.h"

#include <functional>
#include <memory>
#include <utility>

namespace colldsl::protocol {

using LocalSends = SendSide<shm::FifoSender>;
using LocalReceives = ReceiveSide<shm::FifoReceiver>;

extern template class SendSide<shm::FifoSender>;
extern template class ReceiveSide<shm::FifoReceiver>;

/// Receives that are posted at the next progress(): until then their messages may be taken straight
/// from the wire.
class DeferredReceives {
public:
  virtual void post() = 0;

protected:
  DeferredReceives() = default;
  ~DeferredReceives() = default;
  DeferredReceives(const DeferredReceives &) = delete;
  DeferredReceives &operator=(const DeferredReceives &) = delete;

private:
  friend class LocalWorker;
  DeferredReceives *before_ = nullptr, *next_ = nullptr; ///< among those of the worker
};

/// An operation with outstanding requests, which may find that their messages will never come.
class ProgressProbe {
public:
  /// Called now and then while a rank waits for long.
  virtual void probe() = 0;

protected:
  ProgressProbe() = default;
  ~ProgressProbe() = default;
};

/// The error for a FIFO that could not be made.
Status noMemoryFor(Rank peer);

class LocalWorker {
public:
  /// The world outlives it. This rank's arena is its own: no endpoint is attached. All
  /// ranks' process ids are in the world.
  LocalWorker(shm::World &world, Rank self, LocalOptions options = {});
  ~LocalWorker();
  LocalWorker(const LocalWorker &) = delete;
  LocalWorker &operator=(const LocalWorker &) = delete;

  Rank rank() const { return self_; }
  uint32_t numRanks() const { return world_.numRanks(); }

  /// This rank's ends of the connection to a peer; made at the first use. Null: no
  /// memory is left.
  LocalSends *sendsTo(Rank peer);
  LocalReceives &receivesFrom(Rank peer);

  /// Posts the deferred receives, then moves what can move. True: something moved.
  bool progress();

  /// Defers receives until undefer(), or until progress() posts them.
  void defer(DeferredReceives &receives) {
    receives.before_ = std::exchange(lastDeferred_, &receives);
    receives.next_ = nullptr;
    (receives.before_ ? receives.before_->next_ : firstDeferred_) = &receives;
  }
  void undefer(DeferredReceives &receives) {
    (receives.before_ ? receives.before_->next_ : firstDeferred_) = receives.next_;
    (receives.next_ ? receives.next_->before_ : lastDeferred_) = receives.before_;
  }

  void addProbe(ProgressProbe &probe) { probes_.push_back(&probe); }
  void removeProbe(ProgressProbe &probe) { std::erase(probes_, &probe); }

  /// Cancels the requests of an operation: once it returns, no byte of them moves any more. Waits
  /// for a peer that copies one of them just now.
  void cancel(const CompletionCounter &counter);

  /// As cancel(counter), for the requests to and from one peer, which is over with the run. Returns
  /// their number.
  uint32_t cancel(const CompletionCounter &counter, Rank peer);

  /// The table that tells how far the ranks are with their runs.
  const std::shared_ptr<ProgressTable> &progressTable() const { return table_; }

  /// Waits until done() is true, and calls move() again and again, which moves what can
  /// move and returns whether something did: polls, then yields the core, then sleeps until a peer
  /// sends something. The progress hook moves meanwhile. An error: a rank died.
  template <typename Done, typename Move> Status waitUntil(Done done, Move move) {
    Yielding yielding(budget_.yielding);
    for (uint32_t idle = 0; !done();) {
      if (move()) {
        idle = 0;
        yielding.restart();
      } else if (++idle < budget_.polls) {
        pauseCore();
        if (options_.progressHook && idle % kPollsPerHook == 0)
          options_.progressHook->progress();
      } else if (Status s = rest(yielding, move); !s) {
        return s;
      }
    }
    return {};
  }

  Status wait(const CompletionCounter &counter) {
    return waitUntil([&] { return counter.outstanding == 0; }, [&] { return progress(); });
  }

  /// Looks for dead ranks; enters the kernel now and then. An error: one died.
  Status check();

  const SpinBudget &spinBudget() const { return budget_; }

  /// Waiting without a core: armSleep(), then progress() once more, then sleep() if nothing moved.
  /// Messages that arrive after armSleep() end the sleep. Both are thread safe.
  WakeupEpoch armSleep();
  void sleep(WakeupEpoch epoch, const Wakeup &wakeup);

  /// Allocates memory that all ranks of the machine share: payloads in it are copied once and
  /// without a system call. Null: none is left.
  void *allocate(uint64_t bytes);
  /// Variant of allocate() for memory beyond the arena, whose address space goes back when it is
  /// released.
  void *lend(uint64_t bytes) { return lender_.lend(bytes); }
  void release(void *memory);
  bool owns(const void *memory) const;

  /// The arena of this rank, for use while nothing else uses the worker; see allocate().
  shm::Arena &arena() { return arena_; }

  /// Throws away all that others send in a stream, or in a run of it.
  void discard(const Tag &scope);

  shm::World &world() const { return world_; }
  const LocalOptions &options() const { return options_; }

  /// Between messages, alike on all ranks. At most what the options gave is eager.
  void setCopyLimits(const CopyLimits &limits);

  /// Until endTrial() a refusal of the kernel is not reported. endTrial() returns false if the
  /// kernel refused: then the first message that meets a refusal again reports it.
  void beginTrial() { isTrial_ = true; }
  bool endTrial();

  /// Peers are watched; others on demand.
  shm::FailureDetector &failureDetector() { return failureDetector_; }

private:
  /// A poll of the connections takes some ten nanoseconds, one of another library several times
  /// that.
  static constexpr uint32_t kPollsPerHook = 4;

  Status rest(Yielding &yielding, const std::function<bool()> &move);
  bool progressHook();
  void postDeferred();
  void warnOfRefusal();
  void acceptConnections();
  uint32_t cancelSends(LocalSends &sends, const CompletionCounter &counter);

  shm::World &world_;
  Rank self_;
  bool sharesCores_ = false; ///< with other ranks of the machine
  SpinBudget budget_;
  LocalOptions options_;
  const uint32_t mostEager_;
  shm::Arena arena_;
  shm::Lender lender_;
  shm::FailureDetector failureDetector_;
  bool canReach_; ///< true if the kernel lets this process reach the memory of others
  bool mayWarn_;  ///< until it has warned of a refusal
  bool isTrial_ = false;
  std::shared_ptr<ProgressTable> table_;
  CancelledRuns discarded_;
  ReceiverContext context_;
  int wakeupFd_ = -1;                                    ///< if the rank sleeps on files
  uint64_t accepted_ = 0;                                ///< the newest accepted connect request
  std::vector<std::unique_ptr<LocalSends>> sends_;       ///< by peer
  std::vector<std::unique_ptr<LocalReceives>> receives_; ///< by peer
  std::vector<LocalSends *> allSends_;
  std::vector<LocalReceives *> allReceives_;
  DeferredReceives *firstDeferred_ = nullptr, *lastDeferred_ = nullptr;
  std::vector<ProgressProbe *> probes_;
  uint32_t checks_ = 0;
};

} // namespace colldsl::protocol
