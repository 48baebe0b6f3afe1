/// Bootstrap through the shared mapping.
#pragma once

#include "transports/shm/Arena.h"
#include "transports/shm/FailureDetector.h"
#include "wireup/Bootstrap.h"

namespace colldsl::shm {

class ShmBootstrap : public Bootstrap {
public:
  /// `arenaMutex` guards the arena, which others use too.
  ShmBootstrap(World &world, Rank self, Arena &arena, std::mutex &arenaMutex,
               FailureDetector &failureDetector)
      : world_(world), self_(self), arena_(arena), arenaMutex_(arenaMutex),
        failureDetector_(failureDetector) {}

  /// Publishes this rank's process id and waits for those of all ranks.
  Status exchangePids();

  Status exchange(std::span<const BootstrapData> out, std::span<BootstrapData> in) override;
  Status barrier() override;

private:
  template <typename Condition> Status waitFor(Rank rank, Condition condition);
  Status fail(Rank rank, const std::string &what) const;
  Result<uint64_t> putOut(std::span<const BootstrapData> out);
  void fetch(BootstrapData &data) const;

  World &world_;
  Rank self_;
  Arena &arena_;
  std::mutex &arenaMutex_;
  FailureDetector &failureDetector_;
  uint32_t exchanges_ = 0;
  uint32_t barriers_ = 0;
};

/// Publishes this process as a rank of the world and waits until all ranks have done so.
Status exchangePids(World &world, Rank self);

} // namespace colldsl::shm
