/// Memory for frames, and the operations that libfabric knows by their address.
#pragma once

#include "transports/ofi/Fabric.h"
#include "transports/ofi/Wire.h"

namespace colldsl::ofi {

struct Peer;

/// What is under way in the provider. Its context comes back when it is done.
struct Operation {
  enum class Kind : uint8_t { Receive, Send, Move };
  fi_context2 context = {}; ///< first: its address is the operation's
  Kind kind;
  bool isOpen = false; ///< else what comes back was told before
};

struct Frame : Operation {
  Peer *peer = nullptr; ///< where it goes
  Frame *next = nullptr;
  void *descriptor = nullptr;
  std::byte *data = nullptr;
  uint32_t bytes = 0; ///< of header and body
  bool isLong = false;
};

/// First in, first out, through Frame::next.
class FrameQueue {
public:
  bool empty() const { return !head_; }
  void push(Frame &frame) {
    frame.next = nullptr;
    (head_ ? tail_->next : head_) = &frame;
    tail_ = &frame;
  }
  void pushFront(Frame &frame) {
    frame.next = head_;
    if (!head_)
      tail_ = &frame;
    head_ = &frame;
  }
  Frame *front() const { return head_; }
  void pop() { head_ = head_->next; }

private:
  Frame *head_ = nullptr;
  Frame *tail_ = nullptr;
};

/// Frames of one size. Grows by `growth` when there is none left; what was given back is used
/// again.
class FramePool {
public:
  FramePool(Fabric &fabric, uint32_t frameBytes, uint32_t growth, uint64_t access)
      : fabric_(fabric), frameBytes_((frameBytes + 63) / 64 * 64), growth_(growth),
        access_(access) {}

  /// Null: no memory could be registered.
  Frame *take();
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

  Fabric &fabric_;
  uint32_t frameBytes_;
  uint32_t growth_;
  uint64_t access_;
  Frame *free_ = nullptr;
  std::vector<Block> blocks_;
};

} // namespace colldsl::ofi
