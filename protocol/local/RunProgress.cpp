#include "protocol/local/RunProgress.h"

#include <algorithm>
#include <new>

namespace colldsl::protocol {
namespace {

// A peer looks at a counter for nanoseconds; so many more streams must end before it is used again.
constexpr size_t kUnusedAtLeast = 256;

// Runs are numbered modulo 2^32, together with those of other streams of the communicator. A number
// that is so many runs away is of a rank that has not taken part, and says nothing of this run.
constexpr uint32_t kMaxAhead = 1u << 28;

bool isBefore(uint32_t run, uint64_t over) {
  return over == shm::RunCounter::kAllRuns || static_cast<uint32_t>(over) - run - 1 < kMaxAhead;
}

} // namespace

// An entry may go to another stream meanwhile, so its names are compared again after the read.
bool ProgressTable::isOver(Rank rank, const Tag &tag) const {
  if (world_.hasLeft(rank))
    return true;
  uint64_t at = world_.control(rank).progress.load(std::memory_order_acquire);
  while (at != 0) {
    const auto &entry = *reinterpret_cast<const shm::RunCounter *>(world_.at(at));
    auto isIts = [&] {
      return entry.stream.load(std::memory_order_acquire) == streamOf(tag) &&
             entry.message.load(std::memory_order_acquire) == tag.message;
    };
    if (isIts()) {
      uint64_t over = entry.over.load(std::memory_order_acquire);
      return isIts() && isBefore(tag.run, over);
    }
    at = entry.next;
  }
  return false;
}

bool ProgressTable::isOverHere(const Tag &tag) const {
  auto at = std::find_if(streams_.begin(), streams_.end(),
                         [&](const Stream &stream) { return stream.progress->isOf(tag); });
  if (at == streams_.end())
    return isOver(self_, tag);
  return isBefore(tag.run, at->progress->shared_->over.load(std::memory_order_relaxed));
}

shm::RunCounter *ProgressTable::add(const RunProgress &progress) {
  if (ended_.size() > kUnusedAtLeast) {
    streams_.splice(streams_.end(), ended_, ended_.begin());
  } else {
    std::list<Stream> made(1);
    made.front().counter = makeCounter();
    streams_.splice(streams_.end(), made);
  }
  streams_.back().progress = &progress;
  return streams_.back().counter;
}

shm::RunCounter *ProgressTable::makeCounter() {
  uint64_t offset = arena_.allocate(sizeof(shm::RunCounter));
  if (offset == shm::Arena::kNoRoom)
    return nullptr;
  auto *made = new (world_.at(offset)) shm::RunCounter();
  std::atomic<uint64_t> &newest = world_.control(self_).progress;
  made->next = newest.load(std::memory_order_relaxed);
  newest.store(offset, std::memory_order_release);
  return made;
}

void ProgressTable::remove(const RunProgress &progress) noexcept {
  auto at = std::find_if(streams_.begin(), streams_.end(),
                         [&](const Stream &stream) { return stream.progress == &progress; });
  if (isClosed_ || !at->counter)
    streams_.erase(at);
  else
    ended_.splice(ended_.end(), streams_, at);
}

RunProgress::RunProgress(std::shared_ptr<ProgressTable> table, const Tag &stream)
    : table_(std::move(table)), tag_(stream), shared_(table_->add(*this)) {
  if (!shared_)
    shared_ = &own_;
  shared_->stream.store(0, std::memory_order_release);
  shared_->over.store(0, std::memory_order_release);
  shared_->message.store(tag_.message, std::memory_order_release);
  shared_->stream.store(streamOf(tag_), std::memory_order_release);
}

RunProgress::~RunProgress() { table_->remove(*this); }

} // namespace colldsl::protocol
