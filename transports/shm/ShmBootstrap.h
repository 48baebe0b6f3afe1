/// Bootstrap through the shared mapping.
#pragma once

#include "transports/shm/Arena.h"
#include "transports/shm/Health.h"
#include "wireup/Bootstrap.h"

namespace colldsl::shm {

class ShmBootstrap : public Bootstrap {
public:
  /// `arenaMutex` guards the arena, which others use too.
  /// `whileWaiting`, if it is not empty, is called again and again by whoever waits.
  ShmBootstrap(World &world, Rank self, Arena &arena, std::mutex &arenaMutex, Health &health,
               const std::function<void()> &whileWaiting)
      : world_(world), self_(self), arena_(arena), arenaMutex_(arenaMutex), health_(health),
        whileWaiting_(whileWaiting) {}

  /// Waits until all ranks have told their process ids.
  Status meet();

  Status exchange(std::span<const BootstrapData> out, std::span<BootstrapData> in) override;
  Status barrier() override;

  /// A barrier, and what had failed in the plan by then: the same on all ranks, whatever
  /// fails afterwards.
  Result<std::optional<Fault>> agree(uint32_t plan);

private:
  template <typename Condition> Status waitFor(Rank rank, Condition condition);
  Status arrive(std::optional<uint32_t> plan);
  Status giveUp(Rank rank, const std::string &what) const;
  Result<uint64_t> putOut(std::span<const BootstrapData> out);
  void fetch(BootstrapData &parcel) const;

  World &world_;
  Rank self_;
  Arena &arena_;
  std::mutex &arenaMutex_;
  Health &health_;
  const std::function<void()> &whileWaiting_;
  uint32_t exchanges_ = 0;
  uint32_t barriers_ = 0;
};

} // namespace colldsl::shm
