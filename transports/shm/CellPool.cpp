#include "transports/shm/CellPool.h"

#include <new>

namespace colldsl::shm {

void CellPool::init(std::byte *block, uint32_t cells, uint32_t cellBytes) {
  cellBytes_ = cellBytes;
  cells_.reserve(cells);
  free_.reserve(cells);
  busy_.reserve(cells);
  for (uint32_t i = 0; i < cells; ++i) {
    cells_.push_back(new (block + uint64_t{i} * (sizeof(CellHeader) + cellBytes)) CellHeader());
    free_.push_back(cells_.back());
  }
}

void CellPool::sweep() {
  for (size_t i = 0; i < busy_.size();) {
    if (busy_[i]->busy.load(std::memory_order_acquire) != 0) {
      ++i;
      continue;
    }
    free_.push_back(busy_[i]);
    busy_[i] = busy_.back();
    busy_.pop_back();
  }
}

CellHeader *CellPool::take(uint32_t keep) {
  if (free_.size() <= keep)
    sweep();
  if (free_.size() <= keep)
    return nullptr;
  CellHeader *cell = free_.back();
  free_.pop_back();
  busy_.push_back(cell);
  cell->busy.store(1, std::memory_order_relaxed);
  return cell;
}

bool CellPool::allFree() {
  sweep();
  return busy_.empty();
}

} // namespace colldsl::shm
