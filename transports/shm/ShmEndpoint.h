/// One rank's end of the shared-memory transport.
#pragma once

#include "transports/shm/OpenPlans.h"
#include "transports/shm/Receiver.h"
#include "transports/shm/Sender.h"
#include "transports/shm/ShmBootstrap.h"

#include <mutex>

namespace colldsl::shm {

class ShmChannels;

class ShmEndpoint : public Endpoint {
public:
  ShmEndpoint(World &world, Rank self);
  ~ShmEndpoint() override;

  /// Tells the others that this rank is here and waits for them.
  Status join();

  Rank rank() const override { return self_; }
  uint32_t numRanks() const override { return world_.numRanks(); }
  const Caps &caps() const override { return caps_; }
  Result<std::unique_ptr<Channels>> open(const OpenRequest &request) override;
  void refuse(const std::string &reason) override;
  SleepTicket armSleep() override;
  void sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) override;
  void wake() override { world_.wake(self_); }

private:
  friend class ShmChannels;

  /// Memory of closed channels: a channel is free when its sender has closed it too,
  /// the cells of a plan when no receiver holds one any more.
  struct Buried {
    std::vector<uint64_t> channels;
    uint64_t cellBlock = Arena::kNoRoom;
    CellPool cells;
  };

  std::unique_ptr<ShmChannels> openNext();
  Status openWithAll(ShmChannels &channels, Status own, const OpenRequest &request);
  Result<uint64_t> allocate(uint64_t bytes);
  void release(std::span<const uint64_t> blocks);
  void bury(Buried buried);
  void reclaim();
  void closed(uint32_t plan);

  World &world_;
  Rank self_;
  Caps caps_;
  std::mutex mutex_; ///< arena_, buried_, open_
  Arena arena_;
  std::vector<Buried> buried_;
  OpenPlans open_;
  Health health_;
  std::mutex openMutex_; ///< bootstrap_, plans_
  ShmBootstrap bootstrap_;
  uint32_t plans_ = 0;
  SingleCopyState singleCopy_;
};

/// The messages of one plan on one rank.
class ShmChannels : public Channels {
public:
  ShmChannels(ShmEndpoint &endpoint, uint32_t plan);
  ~ShmChannels() override;

  Status prepare(const Work &work) override;
  void start() override;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  std::span<const Completion> poll() override;
  bool check() override;
  void abort(const Fault &fault) override;
  void cancel() override;
  OpId openOp(Rank peer) const override;

private:
  friend class ShmEndpoint;
  Status layOut(std::span<const EdgeSpec> in);
  Status connect(const OpenRequest &request);
  void forgetTold();
  void hearNews();
  void checkDeserted();
  void failAsReceiver();

  ShmEndpoint &endpoint_;
  uint32_t plan_;          ///< the same number on all ranks
  bool connected_ = false; ///< all ranks opened the plan
  uint32_t run_ = 0;
  uint32_t reportsSeen_ = 0;
  Sender sender_;
  Receiver receiver_;
  std::vector<Completion> done_;
  bool told_ = false; ///< the caller has seen what is in done_
  std::vector<uint64_t> ownChannels_;
  uint64_t cellBlock_ = Arena::kNoRoom;
};

} // namespace colldsl::shm
