/// The handshake by which two ranks agree on a connection, over datagrams that are lost, come twice
/// or late: one rank requests, the other replies, the first confirms. Pure: the caller passes the
/// time and sends the messages that are returned.
///
/// Example: ranks 1 and 2 request at once. The request of the greater rank wins: 2 ignores that of
/// 1, 1 replies to that of 2, 2 confirms.
///
/// Unanswered requests are sent again, for as long as the caller wants: a rank that computes
/// answers nothing, and is well nevertheless.
#pragma once

#include "ir/Ids.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

namespace colldsl::verbs {

/// One end of a connection, as the other one must know it.
struct QueuePairAddress {
  uint32_t number = 0;        ///< of the queue pair
  uint32_t firstSequence = 0; ///< of its packets
  uint32_t mtu = 0;           ///< as ibv_mtu counts
  uint32_t reads = 0;         ///< of its memory that it serves at once
};

struct HandshakeMessage {
  enum class Kind : uint8_t { Request, Reply, Confirm, Last = Confirm };
  uint64_t token = 0; ///< the receiver's: a sender that does not know it is a stranger
  Rank from = kNoRank;
  uint32_t sequence = 0; ///< counts a rank's requests to the other; the same if one is sent again
  uint32_t answers = 0;  ///< a reply or confirmation: which sequence
  QueuePairAddress queue;
  Kind kind = Kind::Request;
  std::array<uint8_t, 3> unused = {};
};
static_assert(sizeof(HandshakeMessage) == 40);

class Handshake {
public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t {
    Idle,
    Requested,
    Replied, ///< the other may send, this one not yet
    Ready
  };

  /// `firstSequence`: best a random one, so that nothing of an earlier job is taken for an answer.
  Handshake(Rank self, Rank peer, uint32_t firstSequence)
      : self_(self), peer_(peer), sequence_(firstSequence) {}

  State state() const { return state_; }

  /// The result of an event: first the queue pair is connected, then a message is sent.
  struct Step {
    bool mayReceive = false; ///< this end must take what the other sends from now on
    bool maySend = false;    ///< and may send
    std::optional<HandshakeMessage> reply;
  };

  /// Begins an idle handshake: returns its request.
  HandshakeMessage begin(Clock::time_point now);

  /// Takes a message of the peer that has the right token.
  Step receive(const HandshakeMessage &message, Clock::time_point now);

  /// The message that must be sent again by now, if any. The next time is `nextAt()`.
  std::optional<HandshakeMessage> again(Clock::time_point now);
  Clock::time_point nextAt() const {
    return state_ == State::Requested || state_ == State::Replied ? nextAt_
                                                                  : Clock::time_point::max();
  }

private:
  Step onRequest(const HandshakeMessage &message, Clock::time_point now);
  Step onReply(const HandshakeMessage &message);
  Step onConfirm(const HandshakeMessage &message);
  HandshakeMessage make(HandshakeMessage::Kind kind, uint32_t answers);
  void expectReply(const HandshakeMessage &sent, Clock::time_point now);

  Rank self_, peer_;
  State state_ = State::Idle;
  uint32_t sequence_;
  HandshakeMessage open_; ///< message that waits for an answer; after the answer, the confirmation
  HandshakeMessage answered_; ///< Replied: the request
  bool isInitiator_ = false;  ///< Ready: this rank's request won
  Clock::time_point nextAt_;
  std::chrono::nanoseconds timeout_ = {};
};

} // namespace colldsl::verbs
