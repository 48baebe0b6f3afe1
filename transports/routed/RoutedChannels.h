/// The messages of one plan on several transports. Internal to RoutedEndpoint.
#pragma once

#include "transports/routed/RoutedEndpoint.h"

namespace colldsl::routed {

class RoutedChannels : public Channels {
public:
  RoutedChannels(const RoutedEndpoint &endpoint, const OpenRequest &request);

  /// What the next part is to open.
  OpenRequest nextRequest(const OpenRequest &request) const;
  /// The channels of the next part, which may be used before they are given.
  void lend(Channels &channels) { parts_.push_back(&channels); }
  void give(std::unique_ptr<Channels> channels) { owned_.push_back(std::move(channels)); }
  /// Nobody gave what was lent.
  void takeBack() { parts_.resize(owned_.size()); }

  Status prepare(const Work &work) override;
  void start() override;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                       CombiningTarget &target) override;
  void hold() override;
  void push() override;
  bool sendNow(MessageSlot slot, const Payload &payload) override;
  bool recvNow(MessageSlot slot, const Payload &payload) override;
  std::span<const Completion> poll() override;
  bool check() override;
  void abort(const Fault &fault) override;
  void cancel() override;
  OpId openOp(Rank peer) const override;

private:
  /// Where an edge of the plan is.
  struct Way {
    uint8_t part;
    uint32_t edge; ///< of the part
  };
  /// The edges of one direction.
  struct Side {
    std::vector<Way> ways;                    ///< by edge of the plan
    std::vector<std::vector<EdgeSpec>> edges; ///< by part; until they are open
  };

  void addEdges(Side &side, std::span<const EdgeSpec> edges, const RoutedEndpoint &endpoint);
  Channels &partOf(Way way) const { return *parts_[way.part]; }
  Posted after(Posted posted, Way way);

  Side out_, in_;
  std::vector<std::unique_ptr<Channels>> owned_;
  std::vector<Channels *> parts_;
  std::vector<Completion> done_;
};

} // namespace colldsl::routed
