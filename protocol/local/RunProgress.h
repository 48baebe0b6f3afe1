/// Completed runs: how far a rank is with the runs of a stream. The number stands in shared memory,
/// where peers read it. So it costs a store per run, and a peer that waits for a message can find
/// that it will never come.
#pragma once

#include "protocol/RunStatus.h"
#include "transports/shm/Arena.h"
#include "transports/shm/RunCounter.h"
#include "transports/shm/World.h"

#include <list>
#include <memory>
#include <vector>

namespace colldsl::protocol {

class RunProgress;

/// The streams of one rank. Not thread safe.
class ProgressTable final : public RunStatus {
public:
  ProgressTable(shm::World &world, Rank self, shm::Arena &arena)
      : world_(world), self_(self), arena_(arena) {}

  /// True if a rank needs nothing more for the run of this tag, or has left.
  bool isOver(Rank rank, const Tag &tag) const;
  /// Variant of isOver() for this rank itself, also for streams that ended not long ago.
  bool isOverHere(const Tag &tag) const override;

  /// Before the world goes.
  void close() { isClosed_ = true; }

private:
  friend class RunProgress;

  struct Stream {
    const RunProgress *progress = nullptr;
    shm::RunCounter *counter = nullptr; ///< null: it has none in shared memory
  };

  /// Null: no shared memory is left. Peers then wait for what does not come. If this throws, the
  /// table is as before.
  shm::RunCounter *add(const RunProgress &progress);
  void remove(const RunProgress &progress) noexcept;
  shm::RunCounter *makeCounter();

  shm::World &world_;
  Rank self_;
  shm::Arena &arena_;
  std::list<Stream> streams_;
  std::list<Stream> ended_; ///< their counters are used again late: peers may still look at them
  bool isClosed_ = false;
};

/// The progress of one stream: its runs begin in their order here, and may end in any.
class RunProgress {
public:
  /// `stream`: a tag of it, of any run. The table may go first.
  RunProgress(std::shared_ptr<ProgressTable> table, const Tag &stream);
  ~RunProgress();
  RunProgress(const RunProgress &) = delete;
  RunProgress &operator=(const RunProgress &) = delete;

  /// A tag of the stream.
  const Tag &stream() const { return tag_; }

  /// Notes a run after all others that has begun and ended.
  void whole(uint32_t run) {
    last_ = run;
    if (open_.empty())
      shared_->over.store(run + 1, std::memory_order_release);
  }
  /// Notes that this rank needs nothing more for any run, of whatever number. It has sent nothing
  /// for them.
  void endAll() { shared_->over.store(shm::RunCounter::kAllRuns, std::memory_order_relaxed); }
  void begin(uint32_t run) {
    last_ = run;
    open_.push_back(run);
  }
  /// All runs before the oldest open one are over, also where some run is open at all times.
  void end(uint32_t run) {
    std::erase(open_, run);
    uint32_t over = open_.empty() ? last_ + 1 : open_.front();
    shared_->over.store(over, std::memory_order_release);
  }

private:
  friend class ProgressTable;
  bool isOf(const Tag &tag) const {
    return streamOf(tag) == streamOf(tag_) && tag.message == tag_.message;
  }

  std::shared_ptr<ProgressTable> table_;
  Tag tag_;
  shm::RunCounter own_; ///< used if no shared memory is left
  shm::RunCounter *shared_;
  uint32_t last_ = 0;
  std::vector<uint32_t> open_; ///< runs, oldest first
};

} // namespace colldsl::protocol
