/// A send or a receive that was posted. It belongs to the caller that posts it, and stays where it
/// is until it is completed or cancelled.
#pragma once

#include "ir/Transfer.h"
#include "transports/LinkedQueue.h"
#include "transports/Payload.h"
#include "transports/Rendezvous.h"
#include "transports/Tag.h"

namespace colldsl::protocol {

struct Request;

/// Counts the outstanding requests of one operation.
struct CompletionCounter {
  uint32_t outstanding = 0;
  uint32_t copyKiB = 0;   ///< what this rank has to copy for the operation, as far as is known
  bool sendsOnly = false; ///< the operation receives nothing here
  bool exchanges = false; ///< a message comes from each rank that it sends to; combines none
  /// A request whose message has another length at the peer, which is `transferred`, or never
  /// comes.
  Request *mismatched = nullptr;
  Request *completed = nullptr; ///< if `collects`: the newest first
  bool collects = false;

  rendezvous::SenderLoad load() const {
    return {std::min(copyKiB, rendezvous::kMostCopyKiB) & rendezvous::kMostCopyKiB, sendsOnly};
  }
};

struct Request {
  Tag tag;
  RequestPayload payload;
  CombiningTarget *combining = nullptr; ///< receive: may take the payload
  CompletionCounter *counter = nullptr;
  uint64_t transferred = 0; ///< bytes so far; once completed: of the message
  Request *next = nullptr;  ///< in the queue that it is in
  uint32_t owner = 0;       ///< for the owner's use
  uint16_t rendezvousId = 0;
  bool isHeld = false;         ///< send: its receiver waits for fragments, which its owner sends
  bool holdsFragments = false; ///< send: isHeld is set once its receiver waits for fragments
  Mover mover = Mover::Either; ///< alike at both ends, as is `protocol`
  Protocol protocol = Protocol::Any;

  void complete() {
    --counter->outstanding;
    if (counter->collects) {
      next = counter->completed;
      counter->completed = this;
    }
  }
};

class RequestQueue : public LinkedQueue<Request> {
public:
  /// Removes the requests for which take(request) is true. Returns their number. take may put the
  /// request elsewhere.
  template <typename Take> uint32_t removeIf(Take take) {
    Request *kept = nullptr;
    uint32_t taken = 0;
    for (Request *r = head_; r;) {
      Request *next = r->next;
      if (!take(*r)) {
        kept = r;
      } else {
        (kept ? kept->next : head_) = next;
        if (!next)
          tail_ = kept;
        ++taken;
      }
      r = next;
    }
    return taken;
  }

  /// Removes the request with this tag; null: there is none.
  Request *take(const Tag &tag) {
    Request *kept = nullptr;
    for (Request *r = head_; r; kept = r, r = r->next)
      if (r->tag == tag) {
        (kept ? kept->next : head_) = r->next;
        if (!r->next)
          tail_ = kept;
        return r;
      }
    return nullptr;
  }
};

} // namespace colldsl::protocol
