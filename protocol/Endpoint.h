/// The contract between plans and the transports that move their messages.
///
/// An Endpoint is one rank's end of a transport. Channels carry the messages of one
/// plan: one channel per directed edge that the plan uses, never one per pair of
/// ranks. Which messages an edge carries is fixed when the channels are opened, so
/// both ends number them alike and matching is an array access.
///
/// Runs: a plan is run many times. Channels::start() begins the next run on this
/// rank; the k-th run here meets the k-th run of every other rank, however far
/// another rank is ahead. In one run every message is sent at most once and
/// received at most once, in any order; a run is over when both ends of all its
/// messages on this rank are done. No byte of run k + 1 reaches a buffer of this
/// rank before its own receive of that run is posted.
///
/// Threads: the calls on one Channels object are serialised by the caller. Different
/// objects are independent. Of an Endpoint, open() and the destruction of Channels
/// are thread safe against everything but each other's order: all ranks open the
/// same plans in the same order. armSleep(), sleep() and wake() are thread safe.
///
/// Ownership: a Payload's pieces and the bytes that they name belong to the caller
/// and stay as they are until the message is done. Channels are destroyed before
/// their Endpoint.
///
/// Units: bytes, unless a name has another unit.
///
/// Errors: a call that cannot do its work sets fault() and failed(); the channels
/// are then of no use but to be destroyed. The rank that fails first calls abort(), and
/// check() fails on all other ranks of the plan in bounded time.
#pragma once

#include "ir/Ids.h"
#include "ir/Result.h"
#include "ir/Transfer.h"
#include "transports/Fault.h"
#include "transports/Payload.h"
#include "transports/SpinBudget.h"
#include "transports/TransferCaps.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

/// The capabilities of a transport, as data.
struct Caps {
  std::string_view name;
  uint64_t bufferedSendBytes = 0; ///< a longer send may wait until its receive has started,
                                  ///< and a shorter one where ranks exchange
  bool opensAlone = false;        ///< open() waits for no other rank
  bool batches = false;           ///< sends between Channels::hold() and push() cost less
  bool mustBePolled = false;      ///< its events end no sleep: a waiting thread takes naps
  bool tcp = false;               ///< the kernel moves messages between nodes, over TCP or UDP
  bool sharesCores = false; ///< the ranks are of one machine, which has fewer cores than ranks
  TransferCaps transfers = {};
  SpinBudget spinBudget = {};
};

/// A directed edge as one of its ends sees it. `messages` is sorted and without
/// doubles; both ends give the same list.
struct EdgeSpec {
  Rank peer = kNoRank;
  std::vector<MessageId> messages;
  /// The way in which each message is to travel, alike on both ends; a transport may take another
  /// one. Empty: the transport chooses.
  std::vector<Transfer> ways = {};
};

/// The size of one run on this rank.
struct Work {
  uint64_t maxBytes = 0;   ///< of one message, sent or received
  uint64_t movedBytes = 0; ///< sent, received and copied; where ends share work, a hint
  bool combines = false;   ///< some received bytes are combined
};

class Channels;

/// The request of one rank to open a plan.
struct OpenRequest {
  std::span<const EdgeSpec> out, in; ///< an edge may lead to this rank itself
  /// The terms of the plan, as protocol/open/PlanTerms.h writes them, alike on both ends of an
  /// edge. Empty: not compared.
  std::string_view terms = {};
  /// Called once there are channels; its result is this rank's vote on whether the plan can
  /// be run here. May be empty.
  std::function<Status(Channels &)> ready = {};
  /// No message waits for another one, so that one of the wrong length need not keep the others
  /// from being finished first. A hint.
  bool isIndependent = false;
};

/// Names a message: the edge's place in the list given to open(), the message's
/// place in that edge's list.
struct MessageSlot {
  uint32_t edge = 0;
  uint32_t message = 0;
};

enum class Posted : uint8_t {
  Done,    ///< finished already; poll() will not report it
  Pending, ///< poll() will report it
  Failed,  ///< see fault()
};

struct Completion {
  OpId op;
  uint64_t bytes;          ///< of the message
  bool awaitsHost = false; ///< the send has not finished: see Channels::sendFromDevice()
};

/// The messages of one plan on one rank.
class Channels {
public:
  virtual ~Channels() = default;

  /// Makes room for what the next runs send. Between runs; not on the fast path: may
  /// allocate.
  virtual Status prepare(const Work &work) = 0;

  /// Between runs: checks that later receives of a message may use this payload. An error: the
  /// message is announced, so that its receives send no RTR, and its sender would put it into the
  /// buffer that it knows.
  virtual Status mayReceive(MessageSlot, const Payload &) const { return {}; }

  /// Begins the next run. The run before must be over.
  virtual void start() = 0;

  /// Starts a message, which completes `op`. A payload without bytes sends nothing, and is Done,
  /// unless it always travels. Allocates nothing.
  virtual Posted send(MessageSlot slot, OpId op, const Payload &payload) = 0;

  /// A receive with `upTo` set is never Done at once, so that its length is reported.
  virtual Posted recv(MessageSlot slot, OpId op, const Payload &payload) = 0;

  /// Variant of recv() in which the transport may combine the incoming bytes with `target` instead
  /// of storing them. `target` then records that.
  virtual Posted recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                               CombiningTarget &) {
    return recv(slot, op, payload);
  }

  /// Variant of send() for bytes that are in device memory, as TransferCaps::deviceFrom allows. The
  /// payload's own pieces need not have them. If the receiver cannot take the message from there,
  /// poll() reports it with Completion::awaitsHost; the caller then fills these pieces, and calls
  /// sendFromHost().
  virtual Posted sendFromDevice(MessageSlot slot, OpId op, const Payload &payload,
                                DevicePayload &device);
  virtual void sendFromHost(MessageSlot) {}
  /// Variant of recv() for bytes that may come to device memory; DevicePayload::isUsed tells, once
  /// it is done.
  virtual Posted recvIntoDevice(MessageSlot slot, OpId op, const Payload &payload,
                                DevicePayload &device);

  /// Sends and receives from now on may be kept back, also if they are Done, until push() or
  /// poll(): what leads to one peer may leave at once. A caller that holds pushes soon. A hint.
  virtual void hold() {}
  virtual void push() {}

  /// In place of send(), a send that can be done at once, or has nothing to do. False: nothing
  /// happened. Allocates nothing.
  virtual bool sendNow(MessageSlot, const Payload &) { return false; }

  /// In place of recv(), a receive of a message that is here already, or that has no bytes and does
  /// not travel. False: it is not here, and nothing happened. Allocates nothing.
  virtual bool recvNow(MessageSlot, const Payload &) { return false; }

  /// Moves what can move. Returns the messages that finished since the last poll; valid until the
  /// next call. Never waits. Allocates nothing but memory for messages that come before they are
  /// wanted, if the transport does not limit them; it is kept and used again.
  virtual std::span<const Completion> poll() = 0;

  /// False: something that was sent waits in this process, and goes on with a poll only. A rank
  /// whose run is over may not poll for long, so a run is over once this is true.
  virtual bool isFlushed() const { return true; }

  /// Looks for dead peers and for failures of other ranks; may enter the kernel now
  /// and then. Call it while nothing moves. False: failed.
  virtual bool check() = 0;

  /// A rank with edges of the plan that has closed it or left; kNoRank: none is known of.
  virtual Rank findGone() { return kNoRank; }

  /// Notifies all ranks of the plan that it failed here.
  virtual void abort(const Fault &fault) = 0;

  /// Ends all messages that are under way, of channels that failed: once it returns, no byte moves
  /// into or out of memory that payloads name. Waits for copies that have begun. Not needed
  /// before the destructor.
  virtual void cancel() = 0;

  /// An op whose message to or from `peer` (kNoRank: any rank) is under way, kNoOp if
  /// there is none. For error messages.
  virtual OpId openOp(Rank peer) const = 0;

  bool failed() const { return failed_; }
  const Fault &fault() const { return fault_; }

protected:
  /// The first fault counts.
  void fail(Fault fault) {
    if (failed_)
      return;
    fault_ = std::move(fault);
    failed_ = true;
  }

private:
  Fault fault_;
  bool failed_ = false;
};

// Overridden where TransferCaps::deviceFrom is a length.
inline Posted Channels::sendFromDevice(MessageSlot, OpId op, const Payload &, DevicePayload &) {
  fail({kNoRank, op, "the transport reaches no device memory"});
  return Posted::Failed;
}
inline Posted Channels::recvIntoDevice(MessageSlot slot, OpId op, const Payload &payload,
                                       DevicePayload &device) {
  device.isUsed = false;
  return recv(slot, op, payload);
}

/// One rank's end of a transport.
class Endpoint {
public:
  virtual ~Endpoint() = default;

  virtual Rank rank() const = 0;
  virtual uint32_t numRanks() const = 0;
  virtual const Caps &caps() const = 0;

  /// Opens the channels of one plan. Collective: every rank calls it, also one
  /// without edges. If the ends of an edge disagree, a rank is not ready or is gone, it
  /// fails on every rank. If ranks open alone (Caps::opensAlone), it succeeds on the others
  /// nevertheless: check() then finds that a rank was not ready or is gone. Over a network the rank
  /// that receives first finds that ends disagree about terms; nothing finds that they disagree
  /// about messages alone.
  virtual Result<std::unique_ptr<Channels>> open(const OpenRequest &request) = 0;

  /// Takes part in the next open() only to fail it, on all ranks and for this reason.
  virtual void refuse(const std::string &reason) = 0;

  /// The attributes of messages that the wire to and from this peer executes.
  virtual const TransferCaps &transferCaps(Rank) const { return caps().transfers; }

  /// True if the payload is one piece, in memory that all ranks of this machine have mapped.
  virtual bool isShared(const Payload &) const { return false; }
  /// Allocates memory that all ranks of this machine have mapped, in whole cache lines; its content
  /// is undefined. Null: none is left. Thread safe, as is releaseShared().
  virtual void *allocateShared(uint64_t) { return nullptr; }
  virtual void releaseShared(void *) {}

  /// Registers an allocation of device memory, for messages of the lengths that
  /// TransferCaps::deviceFrom and deviceUpTo allow. All that ask for the same allocation share its
  /// registration, which ends with the last of them, before the endpoint does. Null: the transport
  /// cannot reach it. Thread safe.
  virtual std::shared_ptr<network::DeviceRegistration>
  registerDevice(const network::DeviceMemory &) {
    return nullptr;
  }

  /// True if the peer runs on this machine, as both ends know.
  virtual bool isOnThisMachine(Rank) const { return false; }

  /// True if messages with this peer take longer than others, and had better start before them.
  virtual bool startsFirst(Rank) const { return false; }

  /// Sets a function that is called again and again while open() waits for other ranks. Not to be
  /// set during an open().
  void whileOpening(std::function<void()> doThis) { whileOpening_ = std::move(doThis); }

  /// Waiting without a core: armSleep(), then poll once more all that is in flight,
  /// then sleep() if nothing moved. Events after armSleep() end the sleep of the thread
  /// that called it, however many threads of the rank sleep.
  virtual WakeupEpoch armSleep() = 0;
  virtual void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) = 0;

  /// Ends the sleep of all threads of this rank.
  virtual void wake() = 0;

protected:
  std::function<void()> whileOpening_;
};

} // namespace colldsl
