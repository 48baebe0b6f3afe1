#include "protocol/RunProgress.h"

#include <algorithm>
#include <new>

namespace colldsl::protocol {
namespace {

// A peer that looks takes nanoseconds; so many streams end later.
constexpr size_t kUnusedAtLeast = 256;

// Runs are numbered modulo 2^32, together with those of other streams of the communicator. What is
// by a rank that has not taken part for so many runs is not about this one.
constexpr uint32_t kMaxAhead = 1u << 28;

bool isBefore(uint32_t run, uint32_t over) { return over - run - 1 < kMaxAhead; }

} // namespace

// An entry may be given to another stream meanwhile: then it is not the one that was looked for.
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
      uint32_t over = entry.over.load(std::memory_order_acquire);
      return isIts() && isBefore(tag.run, over);
    }
    at = entry.next;
  }
  return false;
}

bool ProgressTable::isOverHere(const Tag &tag) const {
  auto at = std::find_if(all_.begin(), all_.end(),
                         [&](const RunProgress *progress) { return progress->isOf(tag); });
  return at == all_.end() ? isOver(self_, tag)
                          : isBefore(tag.run, (*at)->shared_->over.load(std::memory_order_relaxed));
}

// Null: no memory is left. Peers then wait for what does not come.
shm::RunCounter *ProgressTable::add(RunProgress &progress) {
  all_.push_back(&progress);
  if (free_.size() > kUnusedAtLeast) {
    shm::RunCounter *again = free_.front();
    free_.pop_front();
    return again;
  }
  uint64_t offset = arena_.allocate(sizeof(shm::RunCounter));
  if (offset == shm::Arena::kNoRoom)
    return nullptr;
  auto *made = new (world_.at(offset)) shm::RunCounter();
  std::atomic<uint64_t> &newest = world_.control(self_).progress;
  made->next = newest.load(std::memory_order_relaxed);
  newest.store(offset, std::memory_order_release);
  return made;
}

void ProgressTable::remove(RunProgress &progress) {
  std::erase(all_, &progress);
  if (isClosed_ || progress.shared_ == &progress.own_)
    return;
  free_.push_back(progress.shared_);
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
