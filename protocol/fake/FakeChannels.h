/// Endpoint and channels of the fake transport. Internal to it.
#pragma once

#include "protocol/fake/FakeWorld.h"

namespace colldsl::fake {

class FakeEndpoint : public Endpoint {
public:
  FakeEndpoint(World &world, Rank self);
  ~FakeEndpoint() override;

  Rank rank() const override { return self_; }
  uint32_t numRanks() const override { return world_.numRanks_; }
  const Caps &caps() const override { return caps_; }
  bool isOnThisMachine(Rank) const override { return true; }
  bool startsFirst(Rank) const override { return world_.options_.startsFirst; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  WakeupEpoch armSleep() override { return 0; }
  void sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) override;
  void wake() override { world_.changed_.notify_all(); }

private:
  World &world_;
  Rank self_;
  Caps caps_;
  uint32_t plans_ = 0;
};

class FakeChannels : public Channels {
public:
  FakeChannels(World &world, Rank self, uint32_t plan, std::span<const EdgeSpec> out,
               std::span<const EdgeSpec> in);
  ~FakeChannels() override;

  Status prepare(const Work &) override { return {}; }
  void start() override;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  void hold() override { holds_ = world_.options_.batches; }
  void push() override;
  std::span<const Completion> poll() override;
  bool isFlushed() const override { return unflushedPolls_ == 0; }
  bool check() override;
  Rank findGone() override;
  void abort(const Fault &fault) override;
  void cancel() override;
  OpId openOp(Rank peer) const override;

private:
  struct Wanted {
    bool posted = false;
    OpId op = kNoOp;
    Payload payload;
  };

  void pushHeld();
  void sortOutFinished(World::Edge &edge);
  void receive(World::Edge &edge, std::vector<Wanted> &wanted);
  bool deliver(World::Edge &edge, size_t position, std::vector<Wanted> &wanted);
  bool deserted() const;

  World &world_;
  Rank self_;
  uint32_t plan_;
  uint32_t run_ = 0;
  std::vector<World::Edge *> out_, in_;
  std::vector<std::vector<Wanted>> wanted_; ///< parallel to in_
  std::vector<Completion> done_;
  bool holds_ = false;
  uint32_t unflushedPolls_ = 0;
  std::vector<std::pair<World::Edge *, World::InFlight>> kept_;
};

} // namespace colldsl::fake
