/// How far a rank is with the runs of a stream, for its peers to look at: it stands in the memory
/// that all share, and nobody is told. So it costs a store per run, and a peer that waits for a
/// message can find that it will never come.
#pragma once

#include "transports/lanes/Layout.h"
#include "transports/shm/Arena.h"
#include "transports/shm/World.h"

#include <deque>
#include <memory>
#include <vector>

namespace colldsl::lanes {

class RunProgress;

/// Those of one rank. Not thread safe.
class RunBook {
public:
  RunBook(shm::World &world, Rank self, shm::Arena &arena)
      : world_(world), self_(self), arena_(arena) {}

  /// Whether a rank said that it needs nothing more for this run, or has left.
  bool isOver(Rank rank, const Key &key) const;
  /// The same of this rank itself, also of streams that ended not long ago.
  bool isOverHere(const Key &key) const;

  /// Before the world goes.
  void close() { isClosed_ = true; }

private:
  friend class RunProgress;

  Progress *add(RunProgress &progress);
  void remove(RunProgress &progress);

  shm::World &world_;
  Rank self_;
  shm::Arena &arena_;
  std::vector<RunProgress *> all_;
  std::deque<Progress *> free_; ///< used again late, for peers may still look at them
  bool isClosed_ = false;
};

/// Of a stream: its runs begin in their order here, and may end in any.
class RunProgress {
public:
  /// `stream`: a key of it, whatever its run. The book may go first.
  RunProgress(std::shared_ptr<RunBook> book, const Key &stream);
  ~RunProgress();
  RunProgress(const RunProgress &) = delete;
  RunProgress &operator=(const RunProgress &) = delete;

  /// A key of it.
  const Key &stream() const { return key_; }

  /// A run after all others, from its beginning to its end.
  void whole(uint32_t run) {
    last_ = run;
    if (open_.empty())
      shared_->over.store(run + 1, std::memory_order_release);
  }
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
  friend class RunBook;
  bool isOf(const Key &key) const {
    return streamOf(key) == streamOf(key_) && key.message == key_.message;
  }

  std::shared_ptr<RunBook> book_;
  Key key_;
  Progress own_; ///< where no shared memory is left
  Progress *shared_;
  uint32_t last_ = 0;
  std::vector<uint32_t> open_; ///< runs, oldest first
};

} // namespace colldsl::lanes
