/// Plans over the connections of a RemoteWorker, for a group of ranks of any machines: as
/// LocalEndpoint, whose numbering of plans and runs it has.
#pragma once

#include "protocol/Guard.h"
#include "protocol/RankGroup.h"
#include "protocol/remote/RemoteWorker.h"

namespace colldsl::protocol {

struct MulticastRequest;

class RemoteEndpoint : public Endpoint {
public:
  /// The worker outlives it, and may serve others, too. `guard`: the worker's.
  RemoteEndpoint(RemoteWorker &worker, RankGroup group, std::mutex *guard);

  Rank rank() const override { return group_.self; }
  uint32_t numRanks() const override { return static_cast<uint32_t>(group_.ranks.size()); }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  WakeupEpoch armSleep() override { return worker_.armSleep(); }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) override {
    worker_.sleep(epoch, atMost);
  }
  void wake() override { worker_.wake(); }
  std::shared_ptr<network::DeviceRegistration>
  registerDevice(const network::DeviceMemory &memory) override;

  // For its channels.

  using Sends = RemoteSends;
  using Receives = RemoteReceives;
  /// State that is kept with each end of a message.
  struct EndState {
    network::RegisteredMemory memory;
    MessageId id{};
    MulticastRequest *multicast = nullptr; ///< sent, where it may go to others at the same time
    uint64_t multicastFrames = 0;   ///< of this message, ever, that went to others at the same time
    uint32_t skippedRun = kAllRuns; ///< the last in which it had no bytes
    bool wantsMulticast = false;
    bool isExpected = false; ///< the transport knows that something of the peer is waited for
    bool isProbed = false;   ///< a probe was sent, and no reply has come
  };

  RemoteWorker &worker() const { return worker_; }
  const RankGroup &group() const { return group_; }
  std::unique_lock<std::mutex> hold() const { return lockIf(guard_); }
  std::unique_lock<std::mutex> holdToReport() const { return hold(); }
  Status connect(Rank peer) { return worker_.connect(peer); }
  Status connectFrom(Rank peer) { return worker_.connect(peer); }
  template <typename End> void describe(End &end, MessageId id, const Transfer &way) {
    end.payload.registered = &end.state.memory;
    end.state.id = id;
    network::RegisteredMemory &memory = end.state.memory;
    memory.isStatic =
        way.protocol == Protocol::Static && way.mover != Mover::Reader && keepsMemory();
    memory.mayStay = memory.isStatic && !group_.numbersRuns();
    memory.isAnnounced = memory.mayStay && way.announced;
    memory.hasCanary = memory.mayStay && way.canary;
    end.state.wantsMulticast = way.multicast;
  }
  template <typename End> void expect(End &end) {
    if (!std::exchange(end.state.isExpected, true))
      worker_.expect(group_.rankAt(end.peer));
  }
  template <typename End> void expectNoMore(End &end) {
    if (std::exchange(end.state.isExpected, false))
      worker_.expectLess(group_.rankAt(end.peer));
  }
  void closed(uint32_t stream);
  void report(StreamId plan, uint32_t run, const Fault &fault);
  std::optional<Fault> findFailure(StreamId plan, uint32_t run) const;
  uint32_t numReports() const { return worker_.numReports(); }

private:
  /// False if a key is good for one put: then memory is registered for each message.
  bool keepsMemory() const { return !worker_.transport().capabilities().immediateIsKey; }
  TransferCaps ownTransferCaps() const;
  uint32_t nextStream();

  RemoteWorker &worker_;
  RankGroup group_;
  std::mutex *guard_;
  Caps caps_;
};

} // namespace colldsl::protocol
