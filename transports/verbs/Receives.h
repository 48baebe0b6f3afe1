/// The receives of one queue, which all connections share or one connection has. Each has a place,
/// and a frame.
///
/// Queue pairs of one connection may follow each other, under the same number; the generation tells
/// the completions of a pair that is gone. So frames and places are free as soon as the pair is
/// gone.
///
/// Not thread safe.
#pragma once

#include "transports/network/Frames.h"
#include "transports/verbs/VerbsCalls.h"

#include <variant>

namespace colldsl::verbs {

class Receives {
public:
  static constexpr uint32_t kMax = 1 << 16;
  /// The queue where receives are posted.
  using Queue = std::variant<ibv_srq *, ibv_qp *>;

  /// Completions carry `handle`. `pool` outlives it.
  Receives(uint64_t handle, network::FramePool &pool) : handle_(handle), pool_(pool) {}

  /// Takes `count` frames, at most kMax, which post() posts. False: there is no memory.
  bool open(uint32_t count);
  /// Gives all frames back, because the queue is gone.
  void close();
  /// The number of receives that have frames.
  uint32_t count() const { return count_; }

  /// The handle in a completion's id, if the completion is of a receive.
  static uint64_t handleOf(uint64_t id) { return id >> 33; }
  /// Takes the frame of a completed receive. Null: the receive is of an earlier queue, or was
  /// reported before.
  network::Frame *take(uint64_t id);
  /// Gives back a receive that was taken, so that it is posted again.
  void giveBack(uint64_t id);
  /// Drops a receive that was taken, and gives its frame back to the pool.
  void drop(uint64_t id);

  /// Posts the receives that are not posted. Returns zero, or a number of errno: then the rest
  /// still waits.
  int post(Calls &calls, Queue queue);
  uint32_t waiting() const { return static_cast<uint32_t>(waiting_.size()); }

private:
  struct Place {
    network::Frame *frame = nullptr;
    bool isPosted = false;
  };
  uint64_t idOf(size_t place) const {
    return handle_ << 33 | uint64_t{generation_} << 17 | place << 1;
  }
  static size_t placeOf(uint64_t id) { return id >> 1 & (kMax - 1); }
  int post(Calls &calls, Queue queue, size_t place);

  uint64_t handle_;
  network::FramePool &pool_;
  uint16_t generation_ = 0;
  uint32_t count_ = 0;
  std::vector<Place> places_;
  std::vector<size_t> waiting_; ///< places
};

} // namespace colldsl::verbs
