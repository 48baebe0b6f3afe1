/// Lends memory of one rank beyond its arena. Not thread safe.
#pragma once

#include "transports/shm/Arena.h"
#include "transports/shm/World.h"

#include <unordered_map>
#include <vector>

namespace colldsl::shm {

class Lender {
public:
  /// `arena` has the LentBlocks, which the other ranks read.
  Lender(World &world, Rank self, Arena &arena)
      : world_(world), control_(world.control(self)), arena_(arena),
        offsets_(world.lentBegin(self), world.options().lentBytes) {}

  /// A block that all ranks of the machine can reach, at the begin of a page. Null: there is none.
  void *lend(uint64_t bytes);
  /// False: it did not lend this memory.
  bool takeBack(void *memory);

private:
  /// Address space and files have pages of at most this size.
  static constexpr uint64_t kUnit = 64 << 10;

  LentBlock *unusedBlock();

  World &world_;
  RankControl &control_;
  Arena &arena_;
  Arena offsets_;
  std::vector<LentBlock *> unused_;
  std::unordered_map<void *, LentBlock *> lent_;
};

} // namespace colldsl::shm
