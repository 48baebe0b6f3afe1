/// The payload cells of one plan on one rank. The sender owns them; a receiver that
/// has emptied one clears its busy word, and the sender finds it when it looks for
/// cells. Not thread safe.
#pragma once

#include "transports/shm/Layout.h"

#include <cstdint>
#include <vector>

namespace colldsl::shm {

class CellPool {
public:
  /// Takes over a block of blockBytes(cells, cellBytes) bytes.
  void init(std::byte *block, uint32_t cells, uint32_t cellBytes);
  static uint64_t blockBytes(uint32_t cells, uint32_t cellBytes) {
    return uint64_t{cells} * (sizeof(CellHeader) + cellBytes);
  }

  uint32_t cellBytes() const { return cellBytes_; } ///< 0: there are no cells

  /// A cell, marked busy, of which `keep` others stay free; null if there is none.
  CellHeader *take(uint32_t keep);

  /// Whether no receiver holds a cell.
  bool allFree();

private:
  void sweep();

  uint32_t cellBytes_ = 0;
  std::vector<CellHeader *> cells_;
  std::vector<CellHeader *> free_; ///< a stack: what was freed last is warm
  std::vector<CellHeader *> busy_;
};

} // namespace colldsl::shm
