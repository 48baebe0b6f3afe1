/// All connections of one rank to ranks of any machines, over a transport. Both ends name a message
/// by a tag; a connection is made when something is first sent, or comes.
///
/// A failure is one of everything, of a stream, or of a run of it. Failures of everything, and of
/// streams, travel down a tree of all ranks; those of runs go to whom their reporter names. A rank
/// whose process is gone is noticed by those that share a stream with it, and fails everything.
///
/// A rank that cancels a run requests its peers, with Cancel, to drain: to move none of its bytes
/// for that run any more. A rank that learns of a failure drains without a Cancel.
///
/// Threads: one at a time; the caller serialises by the guard. Errors: values.
#pragma once

#include "protocol/Guard.h"
#include "protocol/SendSide.h"
#include "protocol/remote/RemoteReceiver.h"
#include "transports/SpinBudget.h"
#include "transports/network/AddressExchange.h"
#include "transports/network/Multicast.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>

namespace colldsl::protocol {

using RemoteSends = SendSide<RemoteSender>;
using RemoteReceives = ReceiveSide<RemoteReceiver>;

extern template class SendSide<RemoteSender>;
extern template class ReceiveSide<RemoteReceiver>;

/// Polls for the last frames of a peer that left.
inline constexpr int kMaxPolls = 1000;

/// A user of a stream, which exchanges messages in it: the channels of a plan.
class StreamUser {
public:
  virtual std::span<const Rank> peers() const = 0;
  /// True if it takes part in the run, which may be kAllRuns.
  virtual bool hasRun(uint32_t run) const = 0;
  /// Answers a peer's probe: how far this rank is with its end of a message.
  virtual network::Progress progressOf(Rank from, const Tag &tag, network::ProbeBody &body) = 0;
  /// Asks peers, now and then, about messages that it waits for.
  virtual void probe(std::chrono::steady_clock::time_point now) = 0;
  virtual void onProbeReply(Rank from, const Tag &tag, const network::ProbeBody &body) = 0;
  /// Takes the terms of the plan that the peer opened as this stream.
  virtual void onTerms(Rank from, std::string_view terms) = 0;
  /// A frame of a message that goes to several ranks at once.
  virtual void onMulticast(Rank root, const Tag &run, const network::MulticastBody &multicast,
                           std::span<const std::byte> bytes) = 0;
  /// Moves the messages of this rank to several ranks at once. True: something moved.
  virtual bool multicastAll() = 0;

protected:
  ~StreamUser() = default;
};

class RemoteWorker final : network::ActiveMessageHandler, network::MulticastHandler, RunStatus {
public:
  /// `guard`: held by the caller, if there is one. `runs`: those that are over here, where
  /// the users of streams do not know; outlives it.
  static Result<std::unique_ptr<RemoteWorker>> make(Rank self, uint32_t numRanks,
                                                    const network::Options &options,
                                                    std::unique_ptr<network::Transport> transport,
                                                    std::mutex *guard,
                                                    const RunStatus *runs = nullptr);
  /// Waits until peers have taken what it sent, but not for ever.
  ~RemoteWorker() override;
  RemoteWorker(const RemoteWorker &) = delete;

  /// The address at which others find this rank.
  const network::RankAddress &rankAddress() const { return rankAddress_; }
  /// Takes the addresses at which this rank finds others. Nothing is sent. Takes the guard.
  Status start(network::Directory directory);

  Rank rank() const { return self_; }
  uint32_t numRanks() const { return numRanks_; }
  const network::Options &options() const { return options_; }
  network::Transport &transport() { return *transport_; }

  /// Makes the connection, and watches the peer. An error: it cannot be reached.
  Status connect(Rank peer);
  /// After connect().
  RemoteSends *sendsTo(Rank peer) { return &connection(peer).sends; }
  RemoteReceives &receivesFrom(Rank peer) { return connection(peer).receives; }

  /// Registers device memory as Endpoint::registerDevice() does. Takes the guard, as the
  /// registration does when it ends.
  std::shared_ptr<network::DeviceRegistration> registerDevice(const network::DeviceMemory &memory);

  /// Moves what can move. True: something moved.
  bool progress();

  /// Cancels as LocalWorker::cancel() does. If a peer does not drain in time, everything fails
  /// here.
  void cancel(const CompletionCounter &counter);
  /// Sets a function that moves other work while cancel() waits.
  void whileWaiting(std::function<void()> moveOthers) { moveOthers_ = std::move(moveOthers); }

  /// Looks for peers that are gone, now and then.
  void checkPeers();

  // Streams: the k-th that is opened in a context here is the k-th everywhere.

  uint32_t openStream(uint32_t context) { return opened_[context]++; }
  void addUser(StreamId stream, StreamUser &user);
  void removeUser(StreamId stream, StreamUser &user);
  void moveMulticasts(StreamUser &user, bool hasMulticasts);
  /// Sends the terms of a plan to a peer, before anything else in the stream.
  void sendTerms(Rank peer, StreamId stream, std::string_view terms);
  /// Forgets the failure of a stream that is closed.
  void closeStream(StreamId stream);
  /// Throws away all that others send in the stream, or in the run.
  void discard(const Tag &scope);
  /// Frames to several ranks at once that a peer reports to have sent before it closed the stream.
  uint64_t numMulticastsBeforeClose(Rank peer, StreamId stream) const;

  // Failures.

  void report(const Tag &scope, const Fault &fault, std::span<const Rank> toWhom);
  void reportAll(const Fault &fault);
  std::optional<Fault> findFailure(const Tag &run) const;
  uint32_t numReports() const { return numReports_; }
  /// The failure of everything; nothing: there is none.
  const std::optional<Fault> &failureOfAll() const { return allFailed_; }

  /// Asks the peer if the other end of a message will ever come. The answer goes to the stream's
  /// users.
  void probe(Rank peer, const Tag &tag, bool sends);

  /// Groups of ranks that a frame goes to at once. Nothing: there can be none.
  std::optional<network::Multicast::Group> groupOf(const std::vector<Rank> &members);
  network::ActiveMessages &am() { return *am_; }
  network::Peer &peer(Rank rank) { return connection(rank).peer; }

  /// Hint: something of this peer is waited for.
  void expect(Rank peer) { transport_->expect(connection(peer).peer); }
  void expectLess(Rank peer) { transport_->expectLess(connection(peer).peer); }

  /// True if nothing of this rank needs its progress any more.
  bool isIdle() const;
  /// All ranks leave together: peers that have left are no failure, and need no disconnect.
  void leaveTogether() { isLeaving_ = true; }
  /// The event to wait for if nothing moves. Nothing: there is an event now.
  std::optional<network::Transport::Wait> wakeup();
  // The load acquires the events before a wake-up, for the look that follows it.
  WakeupEpoch armSleep() { return wakes_.load(std::memory_order_acquire); }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost);
  void wake();

  /// For tests: peers that it knows, bytes of memory for frames, and frames that it ignored.
  size_t numPeers() const { return am_->peers().size(); }
  uint64_t frameBytes() const { return am_->bytes(); }
  uint64_t numRefused() const;
  /// The number of messages that are not at their end.
  size_t numOpen() const;
  size_t numIdsInUse() const;
  size_t numRtrs() const { return context_.rtrs.numInUse(); }

private:
  struct Connection : network::PeerState {
    Connection(RemoteWorker &worker, network::Peer &ofPeer)
        : peer(ofPeer), sends(worker.limits_, worker.context_, ofPeer),
          receives(worker.receiver_, worker.context_, ofPeer, sends.wire()) {
      receives.wire().deliverTo(receives);
    }
    network::Peer &peer;
    RemoteSends sends;
    RemoteReceives receives;
    std::map<StreamId, uint64_t> multicastsBeforeClose; ///< of streams that the peer has closed
  };
  /// A CancelAck that a peer is to get once nothing of it moves any more.
  struct Drain {
    Rank peer;
    Tag scope;
  };

  RemoteWorker(Rank self, uint32_t numRanks, const network::Options &options,
               std::unique_ptr<network::Transport> transport, std::mutex *guard,
               const RunStatus *runs);
  Status openLocalRank();
  Connection &connection(Rank rank);
  Connection &connectionOf(network::Peer &peer);
  bool isOverHere(const Tag &tag) const override;

  void onFrame(network::Peer &from, const network::Header &header,
               std::span<const std::byte> body) override;
  void onNotify(Connection &from, const network::Header &header);
  void onTerms(Rank from, const Tag &tag, std::span<const std::byte> body);
  void onProbe(network::Peer &from, const network::Header &header, network::ProbeBody body);
  void onProbeReply(Connection &from, const network::Header &header,
                    const network::ProbeBody &body);
  void onRmaDone(network::RmaOperation &rma) override;
  void onRemoteWrite(uint32_t rtrId) override;
  void onLost(network::Peer &peer, const std::string &reason) override;
  void onBroken(const std::string &reason) override;
  void onNeglected() override;
  void onMulticast(network::Peer &root, std::span<const std::byte> frame) override;
  void sendFor(network::Peer &to, std::span<const std::byte> bytes) override;

  bool startRmas();
  std::chrono::nanoseconds linger() const;
  template <typename IsOver>
  bool waitUntil(std::chrono::steady_clock::time_point deadline, IsOver isOver);
  void cancel(Connection &at, const CompletionCounter &counter,
              std::chrono::steady_clock::time_point deadline);
  void freeze(Rank peer);
  void disconnect();
  bool allHaveDisconnected() const;
  void onEvent(const network::ProcessMonitor::Event &event);

  void drain(Connection &at, const Tag &scope);
  void sendCancelAcks();
  bool note(const Tag *scope, const Fault &fault);
  void onFailed(const Tag &scope, std::span<const std::byte> body);
  void passOn(const Tag *scope, network::FailureBody body);
  void passDown(const Tag &scope, const network::FailureBody &body, uint32_t below);
  void sendFailure(Rank rank, const Tag &scope, const network::FailureBody &body);

  Rank self_;
  uint32_t numRanks_;
  network::Options options_;
  Limits limits_;
  network::RankAddress rankAddress_;
  network::Directory directory_;
  std::mutex *guard_;
  const RunStatus *runs_; ///< may be null
  int waker_ = -1;
  std::mutex sleepMutex_; ///< held while a sleeper comes or goes
  // A sleeper counts itself and then reads wakes_; a waker counts there and then reads sleepers_.
  // These four accesses are sequentially consistent, so sleeper or waker sees the other. A sleeper
  // that goes is counted relaxed: a thread that misses that writes to waker_ once more.
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> wakes_{0};
  std::unique_ptr<network::Transport> transport_;
  std::unique_ptr<network::ProcessMonitor> monitor_; ///< null: the transport notices itself
  CancelledRuns discarded_;
  RemoteContext context_;
  ReceiverContext receiver_;
  std::optional<network::ActiveMessages> am_;
  std::vector<Connection *> connections_;
  /// By the ids of allocations.
  std::unordered_map<uint64_t, std::weak_ptr<network::DeviceRegistration>> deviceMemory_;
  bool isFrozen_ = false;
  bool isLeaving_ = false; ///< peers need nothing of it any more but the frames that it has sent
  std::function<void()> moveOthers_;
  std::unordered_map<uint32_t, uint32_t> opened_; ///< by context: streams
  std::unordered_multimap<StreamId, StreamUser *> users_;
  std::vector<StreamUser *> multicasting_;
  struct EarlyMulticast {
    Rank root;
    Tag run;
    network::MulticastBody multicast;
    std::vector<std::byte> bytes;
  };
  std::map<StreamId, std::vector<EarlyMulticast>> early_; ///< of streams that have no user yet
  std::map<StreamId, std::vector<std::pair<Rank, std::string>>> earlyTerms_;     ///< as early_
  std::map<std::vector<Rank>, std::optional<network::Multicast::Group>> groups_; ///< by members
  std::map<StreamId, Fault> failedStreams_;
  std::map<std::pair<StreamId, uint32_t>, Fault> failedRuns_;
  std::deque<std::pair<StreamId, uint32_t>> failedRunsInOrder_; ///< the newest last
  std::optional<Fault> allFailed_;
  uint32_t numReports_ = 0;
  std::vector<Drain> draining_;
  std::vector<network::ProcessMonitor::Event> events_;
  struct Lost {
    Rank rank;
    std::string reason;
  };
  std::vector<Lost> lost_; ///< not reported yet: perhaps they died
  std::chrono::steady_clock::time_point nextPeerCheck_ = {};
};

} // namespace colldsl::protocol
