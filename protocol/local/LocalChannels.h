/// The messages of one plan between ranks of a machine. Internal to LocalEndpoint.
#pragma once

#include "protocol/PlanChannels.h"
#include "protocol/local/LocalEndpoint.h"

namespace colldsl::protocol {

class LocalChannels final : public PlanChannels<LocalEndpoint> {
public:
  using PlanChannels::PlanChannels;
  ~LocalChannels() override;

  Status prepare(const Work &work) override;
  void start() override;
  bool check() override;
  Rank findGone() override;

private:
  Status connect(const OpenRequest &request) override;
  void nameStaticRtrs(size_t edge);
  bool findStaticRtrs(size_t edge);
  std::span<End> endsOf(Side &side, size_t edge) const {
    return std::span(side.ends).subspan(side.first[edge], side.numMessages(edge));
  }
  bool isGone(Rank peer);
  std::optional<Fault> findDeserted();

  bool isAnswered_ = false;               ///< a message comes from each peer to which one goes
  std::optional<uint64_t> reservedBytes_; ///< of each message that comes before it is wanted
  uint32_t checks_ = 0;
  std::vector<size_t> unnamed_; ///< edges out with static messages whose RTRs are not known yet
};

} // namespace colldsl::protocol
