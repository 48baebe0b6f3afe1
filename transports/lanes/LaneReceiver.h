/// The receiving end of a lane.
///
/// Lines are taken out of the lane in their order, whether their receives are posted or
/// not: what nobody waits for yet is set aside. So no message stands in the way of another.
///
/// Who copies a message that was asked about: whom the schedule names; else whoever of the two has
/// less to move. Where that is the sender, this end announces its memory; if nothing comes while
/// nothing else moves, it takes that back and copies itself, so nobody waits for a sender who is
/// busy elsewhere.
#pragma once

#include "transports/Pieces.h"
#include "transports/cma/RemoteMemory.h"
#include "transports/lanes/Message.h"
#include "transports/lanes/Options.h"
#include "transports/lanes/RunProgress.h"
#include "transports/shm/World.h"

#include <list>

namespace colldsl::lanes {

/// Of what this rank wants to hear nothing.
struct Refused {
  struct Run {
    StreamId stream;
    uint32_t run;
    bool is(const Key &key) const { return streamOf(key) == stream && key.run == run; }
  };
  std::vector<StreamId> streams;
  std::vector<Run> runs; ///< each at its place, as failures are; empty: there were none

  void add(const Run &run) {
    runs.resize(shm::RunFailures::kPlaces);
    runs[shm::RunFailures::placeOf(run.stream, run.run)] = run;
  }
  bool has(const Key &key) const {
    return !runs.empty() && runs[shm::RunFailures::placeOf(streamOf(key), key.run)].is(key);
  }
};

/// Not thread safe.
class LaneReceiver {
public:
  /// `isOwn`: the peer is this rank.
  LaneReceiver(shm::World &world, Rank peer, bool isOwn, const Options &options, bool &canReach,
               const Refused &refused, const RunBook &book, std::vector<std::byte> &part)
      : world_(world), peer_(peer), options_(options), canReach_(canReach), isOwn_(isOwn),
        refused_(refused), book_(book), part_(part) {}

  Rank peer() const { return peer_; }

  /// Has room for so many more messages of at most so many bytes that come before they are wanted,
  /// as far as Options::asideBytes allow, and for sixteen: setting those aside then allocates
  /// nothing.
  void reserve(uint32_t messages, uint64_t bytes);
  /// They do not come any more.
  void unreserve(uint32_t messages);

  /// The sender made the lane. Before, nothing arrives.
  void connect(uint64_t offset);

  /// Receives it if it is here and short. True: done; the message was not kept, and its
  /// tally not touched.
  bool recvNow(const Message &message) {
    if (!lines_)
      return false;
    const Line &line = lines_[taken_ % kLines];
    if (line.stamp.load(std::memory_order_acquire) != taken_ + 1 || line.key != message.key) {
      lookedInVain_ = true;
      return false;
    }
    if (line.kind != LineKind::Inline)
      return takeEager(line, message);
    if (line.inlineBytes != message.payload.bytes)
      return false;
    if (line.inlineBytes > kInlineBytes)
      return takeLines(line, message);
    scatterShort(message.payload, line.body.data);
    advance(1);
    return true;
  }

  /// Whether nothing is here, so that recvNow() may take what comes next.
  bool isIdle() const {
    return aside_.empty() &&
           (!lines_ || lines_[taken_ % kLines].stamp.load(std::memory_order_acquire) != taken_ + 1);
  }

  /// Whether Message::combining may be set: what comes is then whole elements. Short messages are
  /// stored, which takes no longer.
  bool mayCombine(const Payload &payload, const CombiningTarget &target) const {
    return payload.bytes > options_.inlineBytes && !payload.upTo &&
           options_.fragmentBytes % target.elementBytes == 0;
  }

  /// Receives it, now or later; counts it in its tally until it is done.
  void post(Message &message);

  /// Takes what has arrived. True: something moved.
  bool poll();

  /// Before forget(): takes back what was announced. False: the peer is writing just now.
  bool revokeAll(const Tally &tally);

  /// Lets go of the messages of an operation that is given up; how many they were.
  uint32_t forget(const Tally &tally);

  /// Whether the peer said that it has closed the stream, which this rank has not.
  bool hasClosed(StreamId stream) const;

  /// This rank opens a stream that it closes later. That the peer closes it allocates nothing.
  void open() { closedThere_.reserve(++numOpen_); }
  /// This rank has closed the stream. Nothing is kept of it once both have.
  void close(StreamId stream);

  /// Drops what came for a run that nobody here wants any more.
  void drop(const Refused::Run &run);

private:
  static constexpr size_t kSweepAtLeast = 64;

  struct Aside {
    Key key;
    LineKind kind;
    uint16_t ticket;
    RequestBody request;
    std::vector<std::byte> bytes;
  };

  bool takeEager(const Line &line, const Message &message);
  bool takeLines(const Line &line, const Message &message);
  const More *awaitMore(uint32_t position) const;
  bool isWhole(const Line &line) const;
  bool unpackLines(std::byte *to, const Line &line) const;
  const std::byte *bytesOf(const Line &line, std::byte *room, uint64_t &bytes) const;
  // The sender looks only when it runs out of lines, so it need not know at once.
  void advance(uint32_t lines) {
    taken_ += lines;
    if (taken_ - published_ >= kLines / 4)
      publish();
  }
  void freeBytes(const Line &line);
  void publish();
  void take(const Line &line);
  void setAside(const Line &line);
  bool takeFromAside(Message &message);
  static void store(const Message &message, uint64_t offset, const std::byte *bytes,
                    uint64_t count);
  void deliver(Message &message, const std::byte *bytes, uint64_t count);
  bool answer(Message &message, const RequestBody &request, uint16_t ticket);
  bool isSendersWork(const Message &message, const RequestBody &request, const Place &place) const;
  bool copyDirectly(Message &message, const RequestBody &request);
  bool copyHere(const Message &message, const RequestBody &request) const;
  bool combineDirectly(Message &message, const RequestBody &request);
  void awaitSender(Message &message, const RequestBody &request, uint16_t ticket);
  void announce(const RequestBody &request, uint16_t ticket, const Place &place);
  bool mayReach(uint64_t bytes, uint32_t pieces) const {
    return canReach_ && isWorthSingleCopy(options_, bytes, pieces);
  }
  bool takeBack();
  void takeFragment(const Line &line);
  void takeWritten(const Line &line);
  void takeCancelled(const Line &line);
  std::atomic<uint32_t> &stateOf(const RequestBody &request) const {
    return reinterpret_cast<Answer *>(world_.at(request.answer))->state;
  }
  bool isCancelled(const Aside &aside) const;
  size_t numReserved() const;
  void leave(const RequestBody &request, rendezvous::State state);
  void decline(const RequestBody &request);
  void takeClosed(StreamId stream);
  template <typename IsGone> void dropAside(IsGone isGone);
  void sweep();
  void setBehind(bool isBehind);
  void noteTime(uint64_t bytes, bool isLate);
  void letGo(std::list<Aside>::iterator aside);
  uint64_t keptBytes(const Aside &aside) const {
    return aside.kind == LineKind::Request ? 0 : sizeof(Aside) + aside.bytes.size();
  }
  bool fits(Message &message, uint64_t bytes);

  shm::World &world_;
  Rank peer_;
  const Options &options_;
  bool &canReach_;   ///< whether the kernel lets this process reach others' memory
  const bool isOwn_; ///< the peer is this rank
  LaneHeader *header_ = nullptr;
  const Line *lines_ = nullptr;
  const std::byte *ring_ = nullptr;
  uint32_t taken_ = 0;
  uint32_t published_ = 0; ///< lines that the sender knows to be taken
  MessageQueue posted_;
  struct Stream {
    Message *message = nullptr; ///< null: nothing comes
    RequestBody request;
  };
  std::vector<Stream> streams_;     ///< by ticket; what the sender moves
  std::vector<uint16_t> announced_; ///< tickets, oldest first
  uint32_t idlePolls_ = 0;          ///< since something moved
  std::list<Aside> aside_;
  std::list<Aside> spare_; ///< their memory is used again
  uint32_t reserved_ = 0;  ///< messages
  uint64_t roomBytes_ = 0; ///< of each
  uint64_t asideBytes_ = 0;
  bool isBehind_ = false;
  bool isLate_ = false;
  uint32_t lateness_ = 0;     ///< goes up with each message that waited, and down with the others
  bool lookedInVain_ = false; ///< since the last eager message
  const Refused &refused_;
  const RunBook &book_;
  std::vector<std::byte> &part_;      ///< of a message that is combined
  size_t sweepAt_ = kSweepAtLeast;    ///< messages aside
  size_t numOpen_ = 0;                ///< streams that were opened here
  std::vector<StreamId> closedThere_; ///< and not here
  std::vector<StreamId> closedHere_;  ///< and not there
};

} // namespace colldsl::lanes
