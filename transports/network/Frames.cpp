#include "transports/network/Frames.h"

namespace colldsl::network {

bool FramePool::grow() {
  Block block;
  block.memory.resize(uint64_t{frameBytes_} * growth_);
  block.frames.resize(growth_);
  if (transport_.capabilities().needsLocalRegistration) {
    iovec memory = {block.memory.data(), block.memory.size()};
    Result<Region> region = transport_.registerMemory({&memory, 1}, access_);
    if (!region)
      return false;
    block.region = region.take();
  }
  for (uint32_t i = 0; i < growth_; ++i) {
    block.frames[i].pool = this;
    block.frames[i].data = block.memory.data() + uint64_t{i} * frameBytes_;
    block.frames[i].descriptor = block.region.descriptor();
    give(block.frames[i]);
  }
  blocks_.push_back(std::move(block));
  return true;
}

Frame *FramePool::take() {
  if (!free_ && !grow())
    return nullptr;
  Frame *frame = free_;
  free_ = frame->next;
  return frame;
}

} // namespace colldsl::network
