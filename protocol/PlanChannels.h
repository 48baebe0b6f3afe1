/// The messages of one plan. Internal to PlanEndpoint.
#pragma once

#include "protocol/PlanEndpoint.h"

namespace colldsl::protocol {

class PlanChannels : public Channels {
public:
  PlanChannels(PlanEndpoint &endpoint, uint32_t stream);
  ~PlanChannels() override;

  /// An error: no shared memory is left.
  Status connect(const OpenRequest &request);

  Status prepare(const Work &work) override;
  void start() override;
  Posted send(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recv(MessageSlot slot, OpId op, const Payload &payload) override;
  Posted recvCombining(MessageSlot slot, OpId op, const Payload &payload,
                       CombiningTarget &target) override;
  bool sendNow(MessageSlot slot, const Payload &payload) override;
  bool recvNow(MessageSlot slot, const Payload &payload) override;
  std::span<const Completion> poll() override;
  bool check() override;
  void abort(const Fault &fault) override;
  void cancel() override;
  OpId openOp(Rank peer) const override;

private:
  /// One end of a message; its owner is the op.
  struct End : Request {
    Rank peer; ///< in the group
    bool isOpen = false;
  };
  /// The ends of all edges of one direction.
  struct Side {
    std::vector<uint32_t> first; ///< by edge: of its ends
    std::vector<End> ends;
    std::vector<LocalSends *> sends;       ///< by edge; of what is sent
    std::vector<LocalReceives *> receives; ///< by edge; of what is received

    uint32_t numMessages(size_t edge) const {
      size_t end = edge + 1 < first.size() ? first[edge + 1] : ends.size();
      return static_cast<uint32_t>(end) - first[edge];
    }
  };

  void addEdges(Side &side, std::span<const EdgeSpec> edges);
  End &endFor(Side &side, MessageSlot slot, const Payload &payload) const {
    End &end = side.ends[side.first[slot.edge] + slot.message];
    end.tag.run = run_;
    end.payload = payload;
    end.combining = nullptr;
    return end;
  }
  Posted recv(MessageSlot slot, OpId op, const Payload &payload, CombiningTarget *target);
  End &openEnd(Side &side, MessageSlot slot, OpId op, const Payload &payload);
  Posted afterPost(End &end);
  void cancelHeld();
  void takeCompleted();
  void takeReports();
  std::optional<Fault> findFailure() const;
  void failOf(const End &end);
  std::optional<Fault> findDeserted();
  const End *findOpen(Rank peer) const;

  PlanEndpoint &endpoint_;
  uint32_t stream_;
  StreamId plan_;
  uint32_t run_; ///< the last that was started here, or the next
  uint32_t reportsSeen_ = 0;
  CompletionCounter counter_;
  Side out_, in_;
  std::vector<Rank> peers_; ///< in the group, each once
  std::vector<Completion> done_;
  std::optional<uint64_t> reservedBytes_; ///< of each message that comes before it is wanted
  uint32_t checks_ = 0;
  bool told_ = false; ///< the caller has seen what is in done_
};

} // namespace colldsl::protocol
