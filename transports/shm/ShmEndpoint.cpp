#include "transports/shm/ShmEndpoint.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <unistd.h>

namespace colldsl::shm {
ShmEndpoint::ShmEndpoint(World &world, Rank self)
    : world_(world), self_(self), arena_(world.arenaBegin(self), world.options().arenaBytes),
      open_(world, self), health_(world, self),
      bootstrap_(world, self, arena_, mutex_, health_, whileOpening_),
      singleCopy_(world.options()) {
  caps_.name = "shm";
  caps_.maxInlineBytes = kInlineBytes;
  caps_.eagerBytes = world.options().cellBytes;
  caps_.slotsPerEdge = world.options().maxRingLines;
  caps_.canRead = world.options().singleCopy == SingleCopy::On;
  caps_.patience = patienceAmong(world.numRanks());
}

ShmEndpoint::~ShmEndpoint() { world_.control(self_).left.store(1, std::memory_order_release); }

Status ShmEndpoint::join() {
  registerWaker();
  cma::allowPeers();
  world_.control(self_).pid.store(getpid(), std::memory_order_release);
  if (Status s = bootstrap_.meet(); !s)
    return s;
  health_.watch(Rank{(index(self_) + 1) % numRanks()});
  return bootstrap_.barrier();
}

SleepTicket ShmEndpoint::armSleep() { return world_.armSleep(self_, RankControl::kOnWord); }

void ShmEndpoint::sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) {
  auto longest = longestSleepAmong(world_.numRanks(), world_.options().watchInterval);
  world_.sleepOnWord(self_, ticket, std::min(atMost, longest));
}

Result<uint64_t> ShmEndpoint::allocate(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  reclaim();
  uint64_t block = arena_.allocate(bytes);
  if (block == Arena::kNoRoom)
    return Status::error(ErrorKind::NoMemory, "no shared memory left for " + std::to_string(bytes) +
                                                  " bytes (" + std::to_string(arena_.bytesInUse()) +
                                                  " in use)");
  return block;
}

void ShmEndpoint::release(std::span<const uint64_t> blocks) {
  std::lock_guard lock(mutex_);
  for (uint64_t block : blocks)
    arena_.release(block);
}

void ShmEndpoint::bury(Buried buried) {
  std::lock_guard lock(mutex_);
  buried_.push_back(std::move(buried));
  reclaim();
}

void ShmEndpoint::closed(uint32_t plan) {
  std::lock_guard lock(mutex_);
  open_.close(plan);
}

void ShmEndpoint::reclaim() {
  for (Buried &b : buried_) {
    std::erase_if(b.channels, [&](uint64_t offset) {
      bool free = Receiver::reclaimable(world_, offset);
      if (free)
        arena_.release(offset);
      return free;
    });
    if (b.cellBlock != Arena::kNoRoom && b.cells.allFree()) {
      arena_.release(b.cellBlock);
      b.cellBlock = Arena::kNoRoom;
    }
  }
  std::erase_if(
      buried_, [](const Buried &b) { return b.channels.empty() && b.cellBlock == Arena::kNoRoom; });
}

} // namespace colldsl::shm
