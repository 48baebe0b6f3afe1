#include "transports/shm/Arena.h"

#include <cassert>
#include <iterator>

namespace colldsl::shm {

uint64_t Arena::allocate(uint64_t bytes) {
  if (bytes > UINT64_MAX - 63)
    return kNoRoom;
  uint64_t wanted = bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    auto [offset, size] = *block;
    if (size < wanted)
      continue;
    if (size > wanted)
      free_.emplace_hint(std::next(block), offset + wanted, size - wanted);
    block->second = wanted;
    used_.insert(free_.extract(block));
    return offset;
  }
  return kNoRoom;
}

uint64_t Arena::release(uint64_t offset) {
  auto block = used_.find(offset);
  assert(block != used_.end() && "not a block of this arena");
  uint64_t bytes = block->second;
  auto here = free_.insert(used_.extract(block)).position;
  auto next = std::next(here);
  if (next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin())
    return bytes;
  auto before = std::prev(here);
  if (before->first + before->second == here->first) {
    before->second += here->second;
    free_.erase(here);
  }
  return bytes;
}

uint64_t Arena::bytesInUse() const {
  uint64_t bytes = 0;
  for (auto [offset, size] : used_)
    bytes += size;
  return bytes;
}

} // namespace colldsl::shm
