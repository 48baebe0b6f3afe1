/// The outgoing channels of one plan on one rank.
///
/// A message takes one line of its channel's ring. Up to kInlineBytes it travels in
/// the line; up to the size of a cell it is copied into a cell if one may be had, and
/// the send is done; else the line is a Request, and the receiver either reads the
/// bytes itself or says that it is ready, whereupon they stream through cells. With
/// the ring full, messages wait here in order. No state is per pair of ranks.
#pragma once

#include "transports/Pieces.h"
#include "transports/shm/CellPool.h"
#include "transports/shm/IndexList.h"
#include "transports/shm/World.h"

namespace colldsl::shm {

class Sender {
public:
  explicit Sender(World &world) : world_(world) {}

  /// Adds the next edge; its channel lies at this offset of the mapping.
  void addChannel(const EdgeSpec &edge, uint64_t offset);

  /// After the last channel.
  void seal();

  CellPool &cells() { return cells_; }

  void start(uint32_t run) { run_ = run; }

  Posted post(MessageSlot slot, OpId op, const Payload &payload);

  /// Appends what finished.
  void poll(std::vector<Completion> &done);

  /// A rank that has sends to receive, but has closed the plan; kNoRank: there is none.
  /// Appends what finished.
  Rank findDeserted(std::vector<Completion> &done);

  OpId openOp(Rank peer) const;

  /// No byte of what is under way leaves this rank any more. False: a receiver copies just now, try
  /// again.
  bool cancel();

  /// Tells the receivers that nothing more comes.
  void close();

private:
  struct Record {
    Payload payload;
    uint64_t sent;
    OpId op;
    uint32_t message;
    uint32_t next;
    uint32_t use = 0; ///< of its state word
  };
  struct Channel {
    ChannelHeader *header;
    FlagLine *ring;
    std::atomic<uint32_t> *states; ///< of messages
    Rank peer;
    uint32_t firstRecord;
    uint32_t lines;
    uint32_t produced = 0;
    uint32_t consumedSeen = 0;
    bool active = false;
    IndexList unsent;   ///< wait for a line
    IndexList awaiting; ///< requested, no answer yet
    IndexList streams;  ///< the receiver is ready
    uint32_t anyRecord() const {
      return !awaiting.empty()  ? awaiting.front()
             : !streams.empty() ? streams.front()
                                : unsent.front();
    }
    bool idle() const { return unsent.empty() && awaiting.empty() && streams.empty(); }
  };
  enum class Published : uint8_t { Done, Requested, NoRoom };

  Rank closedReceiver() const;
  FlagLine *nextLine(Channel &c);
  void commit(Channel &c, FlagLine &line, const Record &r, LineKind kind);
  Published publish(Channel &c, uint32_t record);
  static std::atomic<uint32_t> &stateOf(const Channel &c, const Record &r) {
    return c.states[r.message];
  }
  void finish(const Channel &c, Record &r, std::vector<Completion> &done) const;
  void readAnswers(Channel &c, std::vector<Completion> &done);
  void sendWaiting(Channel &c, std::vector<Completion> &done);
  bool sendFragment(Channel &c, Record &r);
  void stream(Channel &c, std::vector<Completion> &done);
  void activate(Channel &c);

  World &world_;
  uint32_t run_ = 0;
  CellPool cells_;
  std::vector<Channel> channels_;
  std::vector<Record> records_;
  std::vector<uint32_t> active_; ///< channels with open sends
};

} // namespace colldsl::shm
