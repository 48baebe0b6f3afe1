/// Plans over the connections of a worker, for a group of ranks of the machine.
///
/// open() waits for no rank: the k-th plan that is opened here belongs to the k-th that is
/// opened by every other rank of the group. It is the k-th stream of the group's context, and
/// a message of its run r has the tag {context, k, r, place in its edge's list}. So two ranks
/// that open different plans are not distinguished.
///
/// Or else the group numbers the runs of all its plans together: they share one stream, and the
/// caller that starts a run numbers it. Then it does not matter which plans a rank has, or when it
/// opened them, as long as the same run is of the same schedule everywhere. A failure then is one
/// of that run alone: a rank that closes the failed plan and opens it again may go on.
///
/// Failures travel by the tables of the world, where the plan is named by context and stream.
/// A rank that closes a plan of its own stream notifies its peers, so that they do not wait for it
/// in vain.
#pragma once

#include "protocol/Guard.h"
#include "protocol/RankGroup.h"
#include "protocol/local/LocalWorker.h"
#include "transports/shm/OpenPlans.h"

#include <mutex>

namespace colldsl::protocol {

class LocalEndpoint : public Endpoint {
public:
  /// The worker outlives it, and may serve others, too. `guard` keeps other threads out of the
  /// worker; null: the caller lets one thread at a time use it and its plans.
  LocalEndpoint(LocalWorker &worker, RankGroup group, std::mutex *guard);

  Rank rank() const override { return group_.self; }
  uint32_t numRanks() const override { return static_cast<uint32_t>(group_.ranks.size()); }
  const Caps &caps() const override { return caps_; }
  /// The limits of the worker have changed, before a plan is opened.
  void refreshCaps();
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  bool isShared(const Payload &payload) const override {
    return payload.count == 1 &&
           worker_.world().offsetOf(payload.pieces[0].iov_base, payload.bytes).has_value();
  }
  void *allocateShared(uint64_t bytes) override {
    auto held = hold();
    return worker_.allocate(bytes);
  }
  void releaseShared(void *memory) override {
    auto held = hold();
    worker_.release(memory);
  }
  bool isOnThisMachine(Rank) const override { return true; }
  void refuse(const std::string &reason) override;
  WakeupEpoch armSleep() override { return worker_.armSleep(); }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) override;
  void wake() override;

  // For its channels.

  using Sends = LocalSends;
  using Receives = LocalReceives;
  struct EndState {
    shm::StaticEnd fixed;
  };

  LocalWorker &worker() const { return worker_; }
  const RankGroup &group() const { return group_; }
  std::unique_lock<std::mutex> hold() const { return lockIf(guard_); }
  /// Tables of the world need no guard.
  std::unique_lock<std::mutex> holdToReport() const { return {}; }
  Status connect(Rank peer);
  Status connectFrom(Rank) { return {}; }
  /// Runs that are numbered over all plans of a group do not name a plan, whose messages then have
  /// no RTR that stays.
  template <typename End> void describe(End &end, MessageId, const Transfer &way) {
    bool isStatic =
        way.protocol == Protocol::Static && !group_.numbersRuns() && end.peer != group_.self;
    shm::StaticEnd &fixed = end.state.fixed;
    end.payload.fixed = isStatic ? &fixed : nullptr;
    fixed.isWriterNamed = way.mover == Mover::Writer;
    fixed.isPut = fixed.isWriterNamed || (way.canary && way.mover != Mover::Reader);
    fixed.usesCanary = way.canary;
  }
  template <typename End> void expect(End &) {}
  template <typename End> void expectNoMore(End &) {}
  /// The guard is held.
  void closed(uint32_t stream);
  /// Reports a failure of this run alone if the group numbers the runs, else of the plan. The
  /// fault's rank is one of the group.
  void report(StreamId plan, uint32_t run, const Fault &fault) const;
  std::optional<Fault> findFailure(StreamId plan, uint32_t run) const;
  uint32_t numReports() const { return worker_.world().numReports(); }

private:
  uint32_t nextStream();

  LocalWorker &worker_;
  RankGroup group_;
  std::mutex *guard_;
  Caps caps_;
  uint32_t opened_ = 0; ///< held
  shm::OpenPlans open_; ///< held
};

} // namespace colldsl::protocol
