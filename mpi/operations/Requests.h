/// Handles for operations that are under way, or may be started again and again.
///
/// A handle is an inactive persistent request of the MPI below that is never started: distinct from
/// all others. A program can only wait for it, test, start or free it, and this library intercepts
/// these calls. Handles are kept and used again, so starting an operation needs no call of the MPI
/// below.
#pragma once

#include "mpi/Job.h"
#include "mpi/operations/Operation.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>

namespace colldsl::mpi {

/// Under a Guard, unless noted otherwise.
class Requests {
public:
  struct Slot {
    MPI_Request handle = MPI_REQUEST_NULL;
    std::shared_ptr<Operation> operation; ///< null: the handle is free
    MPI_Comm comm = MPI_COMM_NULL;        ///< its error handler is called
    uint64_t since = 0; ///< moment at which the program had `comm`: see FreedComms
    bool isPersistent = false;
    bool isRunning = false;
    bool isFreed = false; ///< the program gave the handle back, but the run goes on

    bool isDone() const { return !isRunning || operation->isDone(); }
    bool await() const { return !isRunning || operation->await(); }
  };

  static Requests &all() { return *all_; }

  /// Starts the run of this number; returns a handle for it.
  MPI_Request start(std::shared_ptr<Operation> operation, MPI_Comm comm, uint32_t number);

  /// A handle for an operation that is to be started.
  MPI_Request persistent(std::shared_ptr<Operation> operation, MPI_Comm comm);

  /// Null: the handle is not one of ours.
  Slot *find(MPI_Request handle) {
    Slot *slot = last_ && last_->handle == handle ? last_ : lookUp(handle);
    return slot && slot->operation && !slot->isFreed ? slot : nullptr;
  }

  // Any thread may call the next five. Relaxed: the program hands a request to another thread
  // behind the call that made it, which counted.

  /// True if no request is ours, and none becomes ours during a call: then the call is the MPI's.
  static bool mayPassOn() {
    return __builtin_expect(used_.load(std::memory_order_relaxed) == 0, 1);
  }

  static bool hasAny() { return used_.load(std::memory_order_relaxed) >= kOne; }

  /// True if one thread may start an operation while another one waits in a call.
  static bool anyThreadMayStart() {
    return (used_.load(std::memory_order_relaxed) & kThreads) != 0;
  }
  static void setAnyThreadMayStart(bool mayStart) {
    used_.store((used_.load(std::memory_order_relaxed) & ~kThreads) | (mayStart ? kThreads : 0),
                std::memory_order_relaxed);
  }

  /// False: the handle is not one of ours. True of few others.
  static bool mayBeOurs(MPI_Request handle) {
    uint32_t place = placeOf(handle);
    return (known_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1) != 0;
  }

  /// True if some operation is under way: then there is a job. Any thread may call it. The order is
  /// explained at Job::moveInBackground().
  static bool anyRunning() { return running_.load(std::memory_order_seq_cst) != 0; }

  /// From now on one operation more counts as under way, until the job ends.
  void keepMoving();

  void start(Slot &slot) { begin(slot, slot.operation->nextRun()); }

  /// Ends a run that is done; the handle becomes MPI_REQUEST_NULL unless it is persistent.
  Status complete(Slot &slot, MPI_Request &handle);

  /// Variant of complete() for a caller that is about to wait; false unless the run is over or a
  /// moment from it and succeeded.
  bool tryComplete(Slot &slot, MPI_Request &handle) {
    if (!slot.isRunning || !slot.operation->tryFinish())
      return false;
    stop(slot, handle);
    return true;
  }

  /// Ends a run that can no longer complete.
  void cancel(Slot &slot, MPI_Request &handle);

  /// As MPI_Request_free.
  void free(Slot &slot, MPI_Request &handle);

  /// Gives all handles back to the MPI below, and abandons runs that are under way.
  void end();

private:
  static constexpr uint32_t kThreads = 1, kMoves = 2, kOne = 4;
  static constexpr uint32_t kPlaceBits = 10;

  /// The product spreads addresses, and numbers, over all places.
  static uint32_t placeOf(MPI_Request handle) {
    uint64_t word = 0;
    std::memcpy(&word, &handle, sizeof handle);
    return static_cast<uint32_t>(word * 0x9e3779b97f4a7c15u >> (64 - kPlaceBits));
  }

  using Count = std::atomic<uint32_t>; ///< written under a Guard
  static void add(Count &count, int more) {
    count.store(count.load(std::memory_order_relaxed) + static_cast<uint32_t>(more),
                std::memory_order_relaxed);
  }

  Slot *lookUp(MPI_Request handle);
  Slot &take();
  void release(Slot &slot);
  void begin(Slot &slot, uint32_t number) {
    slot.isRunning = true;
    add(running_, 1);
    slot.operation->count();
    slot.operation->start(number);
    if (Job &job = *Job::current(); job.isThreaded())
      job.moveInBackground();
  }
  void stop(Slot &slot, MPI_Request &handle) {
    if (slot.isRunning)
      add(running_, -1);
    slot.isRunning = false;
    if (slot.isPersistent)
      return;
    handle = MPI_REQUEST_NULL;
    release(slot);
  }
  void reap();

  std::deque<Slot> slots_;
  std::vector<Slot *> unused_;
  std::vector<Slot *> freed_; ///< freed by the program, still running
  std::unordered_map<MPI_Request, Slot *> byHandle_;
  Slot *last_ = nullptr; ///< given out or found last
  /// kOne for each request that is ours, kThreads, and kMoves after keepMoving().
  [[gnu::visibility("hidden")]] static inline constinit Count used_{0};
  [[gnu::visibility("hidden")]] static inline constinit Count running_{0};
  /// A bit for each place of a handle that was ours once.
  [[gnu::visibility("hidden")]] static inline constinit std::atomic<uint64_t>
      known_[(1 << kPlaceBits) / 64]{};
  static Requests *const all_; ///< never destroyed: a forked child releases nothing at its end
};

} // namespace colldsl::mpi
