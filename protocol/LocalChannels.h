/// The messages of one plan between ranks of a machine. Internal to LocalEndpoint.
#pragma once

#include "protocol/LocalEndpoint.h"
#include "protocol/PlanChannels.h"

namespace colldsl::protocol {

class LocalChannels final : public PlanChannels<LocalEndpoint> {
public:
  using PlanChannels::PlanChannels;
  ~LocalChannels() override;

  Status prepare(const Work &work) override;
  bool check() override;

private:
  std::optional<Fault> findDeserted();

  std::optional<uint64_t> reservedBytes_; ///< of each message that comes before it is wanted
  uint32_t checks_ = 0;
};

} // namespace colldsl::protocol
