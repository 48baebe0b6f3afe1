/// One end of a message on a lane. It belongs to whoever posts it, and stays where it is
/// until it is done.
#pragma once

#include "transports/Transport.h"
#include "transports/lanes/Layout.h"
#include "transports/lanes/Options.h"
#include "transports/shm/World.h"

namespace colldsl::lanes {

struct Message;

/// Counts the messages of one operation that are under way.
struct Tally {
  uint32_t open = 0;
  uint32_t loadKiB = 0;          ///< what this rank has to move for it, as far as is known
  Message *mismatched = nullptr; ///< its peer's end has another length: `moved`
  Message *finished = nullptr;   ///< those that are done, newest first, if `collects`
  bool collects = false;
};

struct Message {
  Key key;
  Payload payload;
  CombiningTarget *combining = nullptr; ///< receive: may take what comes
  Tally *tally = nullptr;
  uint64_t moved = 0; ///< bytes so far; when it is done: of the message
  Message *next = nullptr;
  uint32_t tag = 0; ///< the owner's
  uint16_t ticket = 0;
  Mover mover = Mover::Either; ///< alike on both ends
  Protocol protocol = Protocol::Any;

  void finish() {
    --tally->open;
    if (tally->collects) {
      next = tally->finished;
      tally->finished = this;
    }
  }
};

/// Whether a single copy by the kernel is worth its call, where the bytes lie in so many pieces in
/// the other process. Each piece but the first takes nearly half as long as the call.
inline bool isWorthSingleCopy(const Options &options, uint64_t bytes, uint32_t pieces) {
  return 2 * bytes >= options.singleCopyMinBytes * (uint64_t{pieces} + 1);
}

/// As a peer is told of it.
inline Place placeOf(const shm::World &world, const Payload &payload) {
  if (payload.count != 1)
    return {reinterpret_cast<uint64_t>(payload.pieces), payload.count, false};
  void *bytes = payload.pieces[0].iov_base;
  std::optional<uint64_t> shared = world.offsetOf(bytes, payload.bytes);
  return {shared ? *shared : reinterpret_cast<uint64_t>(bytes), 1, shared.has_value()};
}

/// First in, first out, through Message::next.
class MessageQueue {
public:
  bool empty() const { return !head_; }
  Message *front() const { return head_; }

  void push(Message &message) {
    message.next = nullptr;
    (head_ ? tail_->next : head_) = &message;
    tail_ = &message;
  }

  void pushFront(Message &message) {
    message.next = head_;
    if (!head_)
      tail_ = &message;
    head_ = &message;
  }

  void pop() { head_ = head_->next; }

  /// Takes out those for which take(message) is true; how many. take may put the message elsewhere.
  template <typename Take> uint32_t removeIf(Take take) {
    Message *kept = nullptr;
    uint32_t taken = 0;
    for (Message *m = head_; m;) {
      Message *next = m->next;
      if (!take(*m)) {
        kept = m;
      } else {
        (kept ? kept->next : head_) = next;
        if (!next)
          tail_ = kept;
        ++taken;
      }
      m = next;
    }
    return taken;
  }

  /// Takes out the message with this key; null: there is none.
  Message *take(const Key &key) {
    Message *kept = nullptr;
    for (Message *m = head_; m; kept = m, m = m->next)
      if (m->key == key) {
        (kept ? kept->next : head_) = m->next;
        if (!m->next)
          tail_ = kept;
        return m;
      }
    return nullptr;
  }

private:
  Message *head_ = nullptr;
  Message *tail_ = nullptr;
};

} // namespace colldsl::lanes
