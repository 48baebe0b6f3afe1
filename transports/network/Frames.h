/// Memory for frames, in lists.
#pragma once

#include "transports/LinkedQueue.h"
#include "transports/network/Carrier.h"

namespace colldsl::network {

class FramePool;

struct Frame : Operation {
  Peer *peer = nullptr; ///< its receiver
  Frame *next = nullptr;
  void *descriptor = nullptr;
  std::byte *data = nullptr;
  uint32_t bytes = 0;        ///< of header and body
  FramePool *pool = nullptr; ///< the pool that it belongs to
  bool isLong = false;
};

using FrameQueue = LinkedQueue<Frame>;

/// Frames of one size. Grows by `growth` when there is none left; what was given back is used
/// again.
class FramePool {
public:
  FramePool(Carrier &carrier, uint32_t frameBytes, uint32_t growth, Access access)
      : carrier_(carrier), frameBytes_((frameBytes + 63) / 64 * 64), growth_(growth),
        access_(access) {}

  /// Null: no memory could be registered.
  Frame *take();
  bool hasMore() { return free_ || grow(); }
  void give(Frame &frame) {
    frame.next = free_;
    free_ = &frame;
  }

  uint32_t frameBytes() const { return frameBytes_; }
  uint64_t bytes() const { return blocks_.size() * growth_ * (frameBytes_ + sizeof(Frame)); }

private:
  struct Block {
    std::vector<std::byte> memory;
    std::vector<Frame> frames;
    Region region;
  };
  bool grow();

  Carrier &carrier_;
  uint32_t frameBytes_;
  uint32_t growth_;
  Access access_;
  Frame *free_ = nullptr;
  std::vector<Block> blocks_;
};

} // namespace colldsl::network
