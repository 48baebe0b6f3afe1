/// The messages of one plan between ranks of a machine. Internal to PlanEndpoint.
#pragma once

#include "protocol/PlanChannels.h"
#include "protocol/PlanEndpoint.h"

namespace colldsl::protocol {

class LocalChannels final : public PlanChannels<PlanEndpoint> {
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
