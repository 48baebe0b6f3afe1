/// The incoming channels of one plan on one rank.
///
/// Headers of the current run are always taken out of the rings, whether their
/// receives are posted or not, into one record per message, made when the plan was
/// opened. So no message stands in the way of another, and a ring is never full for
/// longer than this rank goes without a poll. Headers of later runs stay in the ring.
#pragma once

#include "transports/Pieces.h"
#include "transports/cma/RemoteMemory.h"
#include "transports/shm/World.h"

namespace colldsl::shm {

/// Whether single copy still works in this process; shared by all plans.
class SingleCopyState {
public:
  explicit SingleCopyState(const Options &options);
  bool usable() const { return usable_.load(std::memory_order_relaxed); }

  /// Reads unless the kernel, or a test, forbids it; warns the first time.
  cma::Outcome read(const cma::RemotePayload &from, const Payload &to);

private:
  const Options &options_;
  std::atomic<bool> usable_;
};

class Receiver {
public:
  Receiver(World &world, SingleCopyState &singleCopy);

  /// Adds the next edge; lays out its channel at this offset of the mapping.
  void addChannel(const EdgeSpec &edge, uint64_t offset);

  /// After the last channel.
  void seal();

  void start(uint32_t run) {
    run_ = run;
    open_ = static_cast<uint32_t>(order_.size());
  }

  Posted post(MessageSlot slot, OpId op, const Payload &payload, std::vector<Completion> &done);

  /// Appends what finished.
  void poll(std::vector<Completion> &done);

  /// Set when a message could not be received; peer == kNoRank: nothing happened.
  const Fault &fault() const { return fault_; }

  /// A rank whose message is waited for, but which has closed the plan; kNoRank: there is
  /// none. Appends what finished.
  Rank findDeserted(std::vector<Completion> &done);

  OpId openOp(Rank peer) const;

  /// Frees the cells that senders lent and tells them that nobody receives.
  void close();

  /// Whether all senders are done with the channels' memory. After close().
  static bool reclaimable(World &world, uint64_t offset);

private:
  enum class State : uint8_t {
    Empty,
    Posted,    ///< waits for its message
    Arrived,   ///< waits for its receive
    Streaming, ///< fragments are coming
  };
  struct Record {
    State state = State::Empty;
    LineKind kind = LineKind::Inline;
    uint16_t inlineBytes = 0;
    OpId op = kNoOp;
    Payload payload;
    uint64_t bytes = 0;    ///< Streaming: of the message
    uint64_t received = 0; ///< Streaming: so far
    LineBody body;         ///< Arrived
  };
  struct Channel {
    ChannelHeader *header;
    FlagLine *ring;
    std::atomic<uint32_t> *states; ///< of messages
    Rank peer;
    uint32_t firstRecord;
    uint32_t messages;
    uint32_t lines;
    uint32_t taken = 0;     ///< lines taken out of the ring
    uint32_t published = 0; ///< what the sender knows of that
    uint32_t missing = 0;   ///< messages of the run at hand that are not done
    uint32_t finishedRun = 0;
  };

  OpId openReceive(const Channel &c) const;
  void drain(Channel &c, std::vector<Completion> &done);
  void take(Channel &c, const FlagLine &line, std::vector<Completion> &done);
  void hold(Channel &c, Record &record, const FlagLine &line);
  void deliver(Channel &c, Record &record, LineKind kind, uint16_t inlineBytes,
               const LineBody &body, std::vector<Completion> &done);
  void deliverRequest(Channel &c, Record &record, const RequestBody &request,
                      std::vector<Completion> &done);
  bool readDirectly(Channel &c, Record &record, const RequestBody &request);
  void takeFragment(Channel &c, Record &record, const CellBody &body,
                    std::vector<Completion> &done);
  void freeCell(Channel &c, uint64_t offset);
  std::atomic<uint32_t> &stateOf(const Channel &c, const Record &record) const {
    return c.states[&record - &records_[c.firstRecord]];
  }
  void leave(Channel &c, const Record &record, uint32_t use, rendezvous::State state);
  void finish(Channel &c, Record &record, uint64_t bytes, std::vector<Completion> &done);
  void refuse(Fault fault);

  World &world_;
  SingleCopyState &singleCopy_;
  pid_t self_;
  uint32_t run_ = 0;
  std::vector<Channel> channels_;
  std::vector<Record> records_;
  std::vector<uint32_t> order_; ///< channels; those at and behind open_ are through
  uint32_t open_ = 0;
  Fault fault_;
};

} // namespace colldsl::shm
