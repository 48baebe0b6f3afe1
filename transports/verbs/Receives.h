/// The receives of one queue: that which all connections share, or a connection's own. Each has a
/// place, and a frame.
///
/// Queue pairs of one connection may follow each other, under the same number; what comes of one
/// that is gone is known by its generation. So frames and places are free as soon as it is.
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
  /// Where they are posted.
  using Queue = std::variant<ibv_srq *, ibv_qp *>;

  /// Completions carry `handle`. `pool` outlives it.
  Receives(uint64_t handle, network::FramePool &pool) : handle_(handle), pool_(pool) {}

  /// Takes `count` frames, at most kMax, which post() posts. False: there is no memory.
  bool open(uint32_t count);
  /// The queue is gone: gives all back.
  void close();
  /// That have frames.
  uint32_t count() const { return count_; }

  /// Whose completion it is, if it is of a receive.
  static uint64_t handleOf(uint64_t id) { return id >> 33; }
  /// The frame, whose receive is used up; null: of an earlier queue, or reported before.
  network::Frame *take(uint64_t id);
  /// What was taken is to be posted again.
  void giveBack(uint64_t id);
  /// Nothing comes there any more.
  void drop(uint64_t id);

  /// What is not posted; zero, or a number of errno, and the rest still waits.
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
