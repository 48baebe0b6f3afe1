/// All lanes of one rank: one-way connections to other ranks of the machine, one per pair
/// of ranks that have something to say to each other, made by the first message and shared
/// by everything that the two do together. Nothing is opened: both ends name a message
/// by a Key, and whoever comes first waits.
///
/// Memory: per lane laneBytes(), of which only what is used is touched; nothing is
/// proportional to the number of pairs of ranks.
///
/// Threads: one at a time; the caller serialises. Errors: values.
#pragma once

#include "transports/Yielding.h"
#include "transports/lanes/LaneReceiver.h"
#include "transports/lanes/LaneSender.h"
#include "transports/shm/Arena.h"
#include "transports/shm/Health.h"

#include <memory>
#include <utility>

namespace colldsl::lanes {

/// Receives that were put off, for what comes may be taken straight from its lane.
class PutOff {
public:
  virtual void post() = 0;

protected:
  PutOff() = default;
  ~PutOff() = default;
  PutOff(const PutOff &) = delete;
  PutOff &operator=(const PutOff &) = delete;

private:
  friend class Lanes;
  PutOff *before_ = nullptr, *next_ = nullptr; ///< among those of the lanes
};

/// Somebody whose messages are under way, and who may find that they will never arrive.
class Doubter {
public:
  virtual void doubt() = 0;

protected:
  Doubter() = default;
  ~Doubter() = default;
};

/// What is wrong where there is no sender.
Status noRoomFor(Rank peer);

class Lanes {
public:
  /// The world outlives it. This rank's arena is its own: no endpoint is attached. All
  /// ranks' process ids are in the world.
  Lanes(shm::World &world, Rank self, Options options = {});
  ~Lanes();
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;

  Rank rank() const { return self_; }
  uint32_t numRanks() const { return world_.numRanks(); }

  /// The ends of this rank; made when they are first asked for. Null: no memory is left.
  LaneSender *sender(Rank peer);
  LaneReceiver &receiver(Rank peer);

  /// Moves what can move; what was put off is posted first. True: something moved.
  bool poll();

  /// Until takeUp(), or until the lanes are polled.
  void putOff(PutOff &receives) {
    receives.before_ = std::exchange(lastPutOff_, &receives);
    receives.next_ = nullptr;
    (receives.before_ ? receives.before_->next_ : firstPutOff_) = &receives;
  }
  void takeUp(PutOff &receives) {
    (receives.before_ ? receives.before_->next_ : firstPutOff_) = receives.next_;
    (receives.next_ ? receives.next_->before_ : lastPutOff_) = receives.before_;
  }

  /// Between these it is asked to doubt now and then while somebody waits for long.
  void beginDoubting(Doubter &doubter) { doubters_.push_back(&doubter); }
  void endDoubting(Doubter &doubter) { std::erase(doubters_, &doubter); }

  /// Lets go of those messages of an operation that go to this peer or come from there; how many
  /// they were.
  uint32_t forget(const Tally &tally, Rank peer);

  /// How far the ranks are.
  const std::shared_ptr<RunBook> &book() const { return book_; }

  /// Waits until done() is true, and calls move() again and again, which moves what can
  /// move and says whether something did: spins, then gives the core away, then sleeps
  /// until a peer has news. The progress hook moves meanwhile. An error: a rank died.
  template <typename Done, typename Move> Status waitUntil(Done done, Move move) {
    Yielding yielding(patience_.yielding);
    for (uint32_t idle = 0; !done();) {
      if (move()) {
        idle = 0;
        yielding.restart();
      } else if (++idle < patience_.looks) {
        pauseCore();
        if (options_.progressHook && idle % kLooksPerProgress == 0)
          options_.progressHook->progress();
      } else if (Status s = rest(yielding, move); !s) {
        return s;
      }
    }
    return {};
  }

  Status wait(const Tally &tally) {
    return waitUntil([&] { return tally.open == 0; }, [&] { return poll(); });
  }

  /// Looks for dead ranks; enters the kernel now and then. An error: one died.
  Status check();

  const Patience &patience() const { return patience_; }

  /// Waiting without a core: armSleep(), then poll() once more, then sleep() if nothing moved.
  /// News that arrive after armSleep() end the sleep. Both are thread safe.
  SleepTicket armSleep();
  void sleep(SleepTicket ticket, const News &news);

  /// Memory that all ranks of the machine share: what is sent from it is copied once and
  /// without a system call. Null: none is left.
  void *allocate(uint64_t bytes);
  void release(void *memory);
  bool owns(const void *memory) const;

  /// Lets go of the messages of an operation that is given up: no byte of them moves any more.
  /// Waits for a peer that is copying one of them just now.
  void forget(const Tally &tally);

  /// What others say in this stream is thrown away.
  void refuse(StreamId stream);
  /// The same of a single run.
  void refuseRun(StreamId stream, uint32_t run);

  /// Of this rank, for those who have the lanes for themselves; see allocate().
  shm::Arena &arena() { return arena_; }

  shm::World &world() const { return world_; }
  const Options &options() const { return options_; }

  /// Between messages, alike on all ranks: Options::singleCopyMinBytes. Shorter messages alone are
  /// eager from then on.
  void setSingleCopyMin(uint64_t bytes);

  /// Who is at the other end of a lane is watched; others on demand.
  shm::Health &health() { return health_; }

private:
  /// A look at the lanes takes some ten nanoseconds, a look at another library several times that.
  static constexpr uint32_t kLooksPerProgress = 4;

  static void pauseCore() { __builtin_ia32_pause(); }
  Status rest(Yielding &yielding, const std::function<bool()> &move);
  bool progressHook();
  void postAll();
  void warnOfRefusal();
  void answerKnocks();
  uint32_t cancelSends(LaneSender &sender, const Tally &tally);

  shm::World &world_;
  Rank self_;
  Patience patience_;
  Options options_;
  const uint32_t mostEager_;
  shm::Arena arena_;
  shm::Health health_;
  bool canReach_;               ///< the memory of others, as far as is known
  bool mayWarn_;                ///< of that, once
  std::vector<std::byte> part_; ///< what receivers combine by way of
  std::shared_ptr<RunBook> book_;
  int bell_ = -1;                                        ///< where the rank sleeps on files
  uint64_t answered_ = 0;                                ///< the newest knock that was
  std::vector<std::unique_ptr<LaneSender>> senders_;     ///< by peer
  std::vector<std::unique_ptr<LaneReceiver>> receivers_; ///< by peer
  std::vector<LaneSender *> allSenders_;
  std::vector<LaneReceiver *> allReceivers_;
  PutOff *firstPutOff_ = nullptr, *lastPutOff_ = nullptr;
  std::vector<Doubter *> doubters_;
  uint32_t checks_ = 0;
  Refused refused_;
};

} // namespace colldsl::lanes
