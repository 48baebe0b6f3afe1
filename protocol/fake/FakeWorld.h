/// All ranks in one process, for tests: seeded reordering, delays in virtual time,
/// faults on demand, finite first-in first-out edges. The same calls in the same
/// order do the same again.
///
/// Differs from the contract: open() does not wait for the other ranks (so one thread
/// can drive them all), hence a disagreement about an edge is reported to the rank that
/// opens last, and to the others by check(); and it allocates where it likes. A rank is
/// gone when its endpoint is: then the plans that it has not opened fail on all ranks.
///
/// Thread safe: one lock for everything.
#pragma once

#include "protocol/Endpoint.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>

namespace colldsl::fake {

struct Options {
  uint64_t seed = 1;
  bool reorder = true;               ///< messages overtake each other
  uint32_t maxDelayTicks = 8;        ///< between send and arrival; every poll is a tick
  uint64_t bufferedSendBytes = 4096; ///< longer sends finish when they are received
  bool synchronous = false;          ///< all sends do
  uint32_t slotsPerEdge = 0; ///< != 0: so many messages in flight per edge, in order, and the
                             ///< oldest blocks the edge until its receive is posted
  bool batches = false;      ///< messages are kept back as long as may be
  bool startsFirst = false;  ///< to all peers
  uint32_t flushPolls = 0;   ///< by the sender, until a message has left its process
  uint64_t failAt = 0;       ///< the k-th message started by any rank fails; 0: none
  Rank dropRank = kNoRank;   ///< this rank dies
  uint64_t dropAt = 0;       ///< with the k-th message that it starts
};

class FakeChannels;

/// Why all that needs this rank fails.
Fault deathOf(Rank rank, OpId op = kNoOp);

/// Outlives its endpoints, which outlive their channels.
class World {
public:
  explicit World(uint32_t numRanks, Options options = {});

  /// One per rank, at any time.
  std::unique_ptr<Endpoint> attach(Rank rank);

  /// Virtual time: polls so far.
  uint64_t ticks() const { return ticks_; }

  /// Sends and receives that ranks have started, those that failed among them.
  uint64_t started() const { return started_; }

private:
  friend class FakeChannels;
  friend class FakeEndpoint;

  struct InFlight {
    uint32_t run;
    uint32_t message;
    OpId sendOp;
    uint64_t dueTick;
    bool senderWaits; ///< the send finishes when it is received; the bytes are the sender's
    Payload source;
    std::vector<std::byte> copy;
  };
  struct Edge {
    Rank from, to;
    bool hasSender = false, hasReceiver = false;
    bool senderClosed = false, receiverClosed = false;
    std::vector<MessageId> messages;
    std::deque<InFlight> inFlight;
    std::deque<InFlight> waiting; ///< for a slot
    std::vector<Completion> sent; ///< not reported to the sender yet
  };
  struct Plan {
    uint32_t opened = 0;
    std::map<std::pair<Rank, Rank>, Edge> edges;
    bool failed = false;
    Fault fault;
  };

  Edge &edge(uint32_t plan, Rank from, Rank to);
  void join(uint32_t plan, Rank self, const EdgeSpec &spec, bool sends);
  void checkPlan(uint32_t plan);
  void checkPresence(uint32_t plan);
  void failPlan(uint32_t plan, const Fault &fault);
  bool allowed(Rank self, uint32_t plan, Rank peer, OpId op, Fault &fault);
  void launch(Edge &edge, InFlight message);
  uint64_t random(uint64_t below) { return generator_() % below; }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t numRanks_;
  Options options_;
  std::mt19937_64 generator_;
  uint64_t ticks_ = 0;
  uint64_t started_ = 0;
  std::vector<uint64_t> startedBy_;
  std::vector<bool> dead_;
  std::vector<std::optional<uint32_t>> left_; ///< per rank that is gone: the plans it opened
  std::map<uint32_t, Plan> plans_;
};

} // namespace colldsl::fake
