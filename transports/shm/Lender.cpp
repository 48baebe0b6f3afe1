#include "transports/shm/Lender.h"

#include <algorithm>
#include <new>

namespace colldsl::shm {

LentBlock *Lender::unusedBlock() {
  if (!unused_.empty())
    return unused_.back();
  uint64_t offset = arena_.allocate(sizeof(LentBlock));
  if (offset == Arena::kNoRoom)
    return nullptr;
  auto *block = new (world_.at(offset)) LentBlock();
  block->next = control_.lentBlocks.load(std::memory_order_relaxed);
  control_.lentBlocks.store(offset, std::memory_order_release);
  unused_.push_back(block);
  return block;
}

void *Lender::lend(uint64_t bytes) {
  uint64_t most = world_.options().lentBytes;
  LentBlock *block = bytes <= most ? unusedBlock() : nullptr;
  if (!block)
    return nullptr;
  uint64_t size = (std::max<uint64_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit;
  uint64_t begin = offsets_.allocate(size);
  if (begin == Arena::kNoRoom)
    return nullptr;
  block->begin.store(begin, std::memory_order_relaxed);
  block->bytes.store(size, std::memory_order_relaxed);
  block->use.fetch_add(1, std::memory_order_release);
  std::byte *memory = world_.reach(begin);
  if (memory) {
    lent_[memory] = block;
    unused_.pop_back();
    return memory;
  }
  block->use.fetch_add(1, std::memory_order_release);
  offsets_.release(begin);
  return nullptr;
}

bool Lender::takeBack(void *memory) {
  auto lent = lent_.find(memory);
  if (lent == lent_.end())
    return false;
  LentBlock &block = *lent->second;
  world_.lentMemory().remove(block);
  block.use.fetch_add(1, std::memory_order_release);
  offsets_.release(block.begin.load(std::memory_order_relaxed));
  unused_.push_back(&block);
  lent_.erase(lent);
  return true;
}

} // namespace colldsl::shm
