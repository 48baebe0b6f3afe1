#include "simulator/TagMatcher.h"

#include <algorithm>

namespace colldsl::sim {

void TagQueue::enter(uint64_t number, const TagEnd &end) {
  queues_[{Index::RankAndTag, end.rank, end.tag}].push_back(number);
}

void TagQueue::enterAll(uint64_t number, const TagEnd &end) {
  queues_[{Index::Rank, end.rank, 0}].push_back(number);
  queues_[{Index::Tag, 0, end.tag}].push_back(number);
  queues_[{Index::All, 0, 0}].push_back(number);
}

void TagQueue::add(const TagEnd &end) {
  waiting_.emplace(next_, end);
  enter(next_, end);
  if (isFull_)
    enterAll(next_, end);
  ++next_;
}

/// Sets `first` to the queue's first end that is still waiting, if that came earlier.
void TagQueue::consider(const Key &key, uint64_t &first) {
  auto found = queues_.find(key);
  if (found == queues_.end())
    return;
  Queue &queue = found->second;
  while (!queue.empty() && !waiting_.contains(queue.front()))
    queue.pop_front();
  if (queue.empty())
    queues_.erase(found);
  else
    first = std::min(first, queue.front());
}

std::vector<uint64_t> TagQueue::numbers() const {
  std::vector<uint64_t> numbers;
  for (const auto &[number, end] : waiting_)
    numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<TagEnd> TagQueue::inOrder() const {
  std::vector<TagEnd> ends;
  for (uint64_t number : numbers())
    ends.push_back(waiting_.at(number));
  return ends;
}

std::optional<TagEnd> TagQueue::take(uint32_t rank, uint32_t tag) {
  bool isWild = rank == kAnyOne || tag == kAnyOne;
  if (isWild && !isFull_) {
    isFull_ = true;
    for (uint64_t number : numbers())
      enterAll(number, waiting_.at(number));
  }
  uint64_t first = UINT64_MAX;
  if (rank == kAnyOne && tag == kAnyOne) {
    consider({Index::All, 0, 0}, first);
  } else if (rank == kAnyOne) {
    consider({Index::Tag, 0, tag}, first);
    consider({Index::Tag, 0, kAnyOne}, first);
  } else if (tag == kAnyOne) {
    consider({Index::Rank, rank, 0}, first);
    consider({Index::Rank, kAnyOne, 0}, first);
  } else {
    for (uint32_t r : {rank, kAnyOne})
      for (uint32_t t : {tag, kAnyOne})
        consider({Index::RankAndTag, r, t}, first);
  }
  auto found = waiting_.find(first);
  if (found == waiting_.end())
    return std::nullopt;
  TagEnd end = found->second;
  waiting_.erase(found);
  return end;
}

} // namespace colldsl::sim
