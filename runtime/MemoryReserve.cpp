#include "runtime/MemoryReserve.h"

#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace colldsl {
namespace {

// A size that the allocator keeps when a block is freed. It unmaps larger blocks, which does not
// help a process whose address space is limited.
constexpr size_t kBlockBytes = 32 << 10;
constexpr size_t kBlocks = 32;

struct Reserve {
  std::mutex lock;
  void *blocks[kBlocks] = {};
  void *last = nullptr; ///< not freed: free memory behind it goes back to the system
  bool isBegun = false, isWhole = false;
  std::new_handler before = nullptr;
};
Reserve reserve;

/// Gives the reserve back to the allocator. False: there was none.
bool giveBack() {
  std::lock_guard lock(reserve.lock);
  bool had = reserve.isWhole;
  for (void *&block : reserve.blocks)
    std::free(std::exchange(block, nullptr));
  reserve.isWhole = false;
  return had;
}

} // namespace

// No exception is thrown into a destructor that runs because of an earlier one.
void MemoryReserve::onFailedNew() {
  bool mayThrow = Sparing::depth_ > 0 && std::uncaught_exceptions() == 0;
  bool hasMore = giveBack();
  if (hasMore && !mayThrow)
    return;
  if (!hasMore && reserve.before)
    return reserve.before();
  throw std::bad_alloc();
}

void MemoryReserve::begin() {
  {
    std::lock_guard lock(reserve.lock);
    if (std::exchange(reserve.isBegun, true))
      return;
  }
  (void)isWhole();
  reserve.before = std::set_new_handler(onFailedNew);
}

void MemoryReserve::end() {
  if (std::get_new_handler() == onFailedNew)
    std::set_new_handler(reserve.before);
  reserve.isBegun = false;
  giveBack();
  std::free(std::exchange(reserve.last, nullptr));
}

bool MemoryReserve::isWhole() {
  std::unique_lock lock(reserve.lock);
  if (reserve.isWhole || !reserve.isBegun)
    return true;
  bool isThere = true;
  for (void *&block : reserve.blocks) {
    if (!block)
      block = std::malloc(kBlockBytes);
    isThere &= block != nullptr;
  }
  if (!reserve.last)
    reserve.last = std::malloc(kBlockBytes);
  reserve.isWhole = isThere;
  lock.unlock();
  if (!isThere)
    giveBack();
  return isThere;
}

} // namespace colldsl
