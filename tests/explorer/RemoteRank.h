/// A rank that takes part in a scenario over a network: what an executor does with the channels of
/// its plans, in steps.
#pragma once

#include "protocol/remote/RemoteEndpoint.h"
#include "tests/explorer/Fiber.h"
#include "tests/explorer/Scenario.h"
#include "tests/explorer/ScriptedTransport.h"

#include <optional>

namespace colldsl::test {

/// One end of a message, and its memory.
struct MessageEnd {
  static constexpr uint64_t kMaxBytes = 16;
  std::array<std::byte, kMaxBytes> memory;
  std::array<iovec, 2> pieces;
  uint8_t message = 0;
  uint8_t plan = 0;
  bool sends = false;
  bool isPosted = false;
  bool isOver = false; ///< of this run; the owner was told so: the memory is its own
  bool isDone = false; ///< and it succeeded
  MessageSlot slot;
};

class RemoteRank {
public:
  static constexpr uint8_t kPlans = 2;
  static constexpr std::chrono::nanoseconds kLinger = std::chrono::seconds(10);

  RemoteRank(const Scenario &scenario, uint8_t self, ScriptedNetwork &network);
  ~RemoteRank();
  RemoteRank(const RemoteRank &) = delete;

  std::vector<MessageEnd> ends;

  // Steps. They wait where the protocol does: isWaiting() then, until poll().

  bool mayPost(const MessageEnd &end) const;
  bool hasPosted(uint8_t message, uint8_t run) const;
  uint8_t runOf(const MessageEnd &end) const { return plans_[end.plan].run; }
  void post(MessageEnd &end);
  /// Takes what has arrived, while it waits too.
  void poll();
  /// Whether its next poll begins reads or writes.
  bool hasRmas() const { return !hasLeft() && test::hasRmas(*worker_); }
  bool isDeaf() const { return isDeaf_; }
  bool mayFail() const { return isOpen(0) && !plans_[0].channels->failed() && !isWaiting(); }
  void fail();
  bool mayOpen(uint8_t plan) const;
  void open(uint8_t plan);
  /// Begins its next run.
  bool mayRun(uint8_t plan) const;
  void run(uint8_t plan);
  bool mayCancel(uint8_t plan) const;
  void cancel(uint8_t plan);
  bool mayClose(uint8_t plan) const;
  void close(uint8_t plan);
  bool mayLeave() const;
  void leave();
  bool isLeaving() const { return isWaiting() && !waiting_; }
  bool hasLeft() const { return worker_ == nullptr; }
  bool isWaiting() const { return fiber_.isUnderWay(); }

  /// Takes no further step; whatever it waits for it gives up.
  void end();

  /// Whether it has closed all its plans, and has left if it is to.
  bool isGone() const { return scenario_.disconnects ? hasLeft() : isClosed(); }
  bool isClosed() const;
  bool isOpen(uint8_t plan) const { return plans_[plan].channels != nullptr; }
  /// Whether it knows that a stream failed; null: that everything did.
  bool knowsFailure(const Tag *scope) const {
    if (hasLeft())
      return true;
    return scope ? worker_->findFailure(*scope).has_value() : worker_->failureOfAll().has_value();
  }
  /// What everything failed for, if it did.
  std::optional<std::string> failureOfAll() const;
  /// What it has kept though all its plans are closed; empty: nothing.
  std::string leftover() const;
  /// What it got that its sender did not send, or lost.
  std::string wrong;

  /// Null: it has left.
  const protocol::RemoteWorker *worker() const { return worker_.get(); }
  /// Eager messages to a peer that it has sent, and of a peer that it has taken: in units of the
  /// window.
  uint32_t sentTo(uint8_t peer) const { return peerOf(peer).sent; }
  uint32_t takenFrom(uint8_t peer) const { return peerOf(peer).consumed; }
  bool knows(uint8_t peer) const;
  /// Appends all that it knows; of a rank that is dead, what its memory holds.
  void describe(StateWords &words, const WorkerOf &workerOf) const;

private:
  struct Plan {
    std::unique_ptr<Channels> channels;
    const protocol::RemoteChannels *described = nullptr; ///< the same, while they close too
    uint8_t run = 0;
    bool wasOpened = false;
    bool isCancelled = false;
  };

  void noteWait(bool isNew);
  void describeWait(StateWords &words) const;
  const network::Peer &peerOf(uint8_t peer) const {
    return *worker_->am().peers().find(Rank{peer})->second;
  }
  void fill(MessageEnd &end);
  void addEnd(uint8_t message, std::vector<EdgeSpec> &edges);
  void wait(uint8_t plan, std::function<void()> what);
  void pollAll();
  void take(uint8_t plan);
  void complete(MessageEnd &end);
  void giveBack(MessageEnd &end);
  bool isOver(uint8_t plan) const;

  const Scenario &scenario_;
  uint8_t self_;
  ScriptedNetwork &network_;
  std::unique_ptr<protocol::RemoteWorker> worker_;
  std::unique_ptr<protocol::RemoteEndpoint> endpoint_;
  std::array<Plan, kPlans> plans_;
  Fiber fiber_;
  const protocol::RemoteChannels *waiting_ = nullptr;
  std::chrono::steady_clock::time_point waitsSince_ = {};
  Rank waitsFor_ = kNoRank;
  uint64_t framesDone_ = 0;
  bool wasLost_ = false; ///< when it began to wait for it
  bool isDeaf_ = false;  ///< it polls, and takes nothing
};

} // namespace colldsl::test
