/// Frames that the ends of a connection may have on the way, where each must find a receive: iWARP
/// makes no sender wait, and a frame that finds none ends the connection.
///
/// Each end promises the other so many receives. A frame uses one up, and when half of them were
/// used and are free again, a note to the other end gives them back. It uses no credit, or
/// two ends without any would wait for each other; so each end has two receives more than it
/// promises: before the peer can send a third note it must have had frames from an end that has
/// taken the first.
///
/// Example: 4 are promised. After 4 frames the sender waits; when the receiver has taken 2 it gives
/// back 2 credits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace colldsl::verbs {

class Credits {
public:
  static constexpr uint32_t kSpare = 2; ///< receives for notes

  /// `promised`: the receives that this end promises.
  explicit Credits(uint32_t promised) : promised_(promised) {}

  /// Sets the receives that the other end promises.
  void setPromised(uint32_t frames) { left_ = frames; }
  /// True if this end may send so many frames. It may not while `missing` receives of its own, from
  /// which frames were taken, are not posted again: the other end's note about the frames could
  /// find no receive.
  bool has(uint32_t frames, uint32_t missing) const {
    return frames == 0 || (missing == 0 && left_ >= frames);
  }
  void use(uint32_t frames) { left_ -= frames; }
  /// Adds credits that the other end gives back.
  void add(uint32_t frames) { left_ += frames; }

  /// Counts a frame that came from the other end.
  void owe() { ++owed_; }
  /// True if credits are to be given back. Only credits whose receive is posted again are given.
  bool mustGive(uint32_t missing) const { return owed_ >= (promised_ + 1) / 2 + missing; }
  uint32_t give(uint32_t missing) {
    uint32_t kept = std::min(owed_, missing);
    return std::exchange(owed_, kept) - kept;
  }

private:
  uint32_t promised_;
  uint32_t left_ = 0;
  uint32_t owed_ = 0;
};

/// A note about credits, or about a write, in a few bytes: shorter than any frame.
struct Note {
  uint32_t immediate = 0; ///< of a write, whose last byte came before
  uint16_t credits = 0;
  bool hasId = false; ///< and uses a credit
  uint8_t unused = 0;
};
static_assert(sizeof(Note) == 8);

} // namespace colldsl::verbs
