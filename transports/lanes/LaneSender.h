/// The sending end of a lane.
///
/// Up to inlineBytes a message travels in lines; up to eagerBytes in the ring of bytes,
/// and the send is done; else its line is a Request, and the receiver copies the bytes itself, or
/// says where it wants them, or says that it is ready, whereupon they stream through the ring. A
/// receiver that has set too much aside is asked about every message. Any number of Requests may
/// wait for answers, so that they stand in nobody's way. Without room, messages wait here in order.
#pragma once

#include "transports/Pieces.h"
#include "transports/cma/RemoteMemory.h"
#include "transports/lanes/Message.h"
#include "transports/lanes/Options.h"
#include "transports/shm/Arena.h"
#include "transports/shm/World.h"

namespace colldsl::lanes {

/// Not thread safe.
class LaneSender {
public:
  /// The lane at this offset of the mapping, new and zero. `arena`: for answers to Requests.
  LaneSender(shm::World &world, Rank peer, uint64_t offset, const Options &options, bool &canReach,
             shm::Arena &arena);

  Rank peer() const { return peer_; }

  /// Has tickets for so many Requests, if there is shared memory left.
  void reserve(uint32_t messages);

  /// Sends it if that can be done without waiting for the receiver. True: done; the message
  /// was not kept, and its tally not touched.
  bool sendNow(const Message &message) { return waiting_.empty() && send(message); }

  /// Sends it, now or later; counts it in its tally until it is done.
  void post(Message &message);

  /// Tells the peer that nothing more is said, or heard, in the stream; now or later.
  void close(uint32_t context, uint32_t stream);

  bool isBusy() const {
    return !(waiting_.empty() && asked_.empty() && streams_.empty() && closing_.empty() &&
             cancelled_.empty());
  }

  /// Moves what can move. True: something moved.
  bool poll();

  /// Cancels the messages of an operation: no byte of them leaves this rank any more. Adds to
  /// `cancelled` how many they were. False: the peer copies one of them just now, which stays.
  bool cancel(const Tally &tally, uint32_t &cancelled);

private:
  bool send(const Message &message) {
    if (message.payload.bytes > kInlineBytes)
      return sendLonger(message);
    if (!hasLines(1) || (isHeldBack_ && (isHeldBack_ = isBehind())))
      return false;
    putInline(message);
    return true;
  }
  bool isBehind() const { return header_->isBehind.load(std::memory_order_relaxed) != 0; }
  bool isLate() const { return header_->isLate.load(std::memory_order_relaxed) != 0; }
  bool mayBeEager(const Message &message) const;
  bool hasLines(uint32_t lines) {
    return produced_ + lines - consumedSeen_ <= kLines || refreshLines(lines);
  }
  bool refreshLines(uint32_t lines);
  Line &fill(const Key &key, LineKind kind) {
    Line &line = lines_[produced_ % kLines];
    line.key = key;
    line.kind = kind;
    return line;
  }
  More &nextMore() { return reinterpret_cast<More &>(lines_[produced_ % kLines]); }
  void commit(Line &line) {
    line.stamp.store(++produced_, std::memory_order_release);
    world_.wake(peer_);
  }
  void putInline(const Message &message) {
    Line &line = fill(message.key, LineKind::Inline);
    line.inlineBytes = static_cast<uint16_t>(message.payload.bytes);
    gatherShort(line.body.data, message.payload);
    commit(line);
  }
  bool sendLonger(const Message &message);
  void putInLines(const Message &message);
  void ownRingAhead(uint64_t bytes);
  bool putInRing(const Message &message, LineKind kind, uint64_t offset, uint64_t bytes);
  bool makeTickets();
  bool ask(Message &message);
  bool publish(Message &message);
  bool readAnswers();
  bool write(Message &message);
  cma::Outcome writeTo(const Place &place, const Payload &payload);
  void finish(Message &message);
  bool stream();
  bool sayClosed();
  bool sayCancelled();
  void reuse(uint16_t ticket);

  shm::World &world_;
  Rank peer_;
  const Options &options_;
  bool &canReach_; ///< whether the kernel lets this process reach others' memory
  shm::Arena &arena_;
  LaneHeader *header_;
  Line *lines_;
  std::byte *ring_;
  uint32_t produced_ = 0;
  uint32_t consumedSeen_ = 0;
  bool isHeldBack_ = false; ///< what was seen of isBehind with consumedSeen_
  uint64_t bytesProduced_ = 0;
  uint64_t bytesConsumedSeen_ = 0;
  struct Ticket {
    Answer *answer;
    uint32_t use = 0; ///< how often it was used before
  };
  std::vector<Ticket> tickets_;
  std::vector<uint16_t> freeTickets_;
  std::vector<uint16_t> cancelled_; ///< tickets of which the peer is to be told
  MessageQueue waiting_;            ///< for room
  MessageQueue asked_;              ///< Requests, no answer yet
  MessageQueue streams_;            ///< the receiver is ready
  std::vector<Key> closing_;        ///< streams of which the peer is to be told
};

} // namespace colldsl::lanes
