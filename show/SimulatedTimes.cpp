#include "show/OpTimes.h"

#include <algorithm>

namespace colldsl::show {
namespace {

class SimulatedTimes {
public:
  SimulatedTimes(const OpTable &ops, const sim::Workload &workload, const sim::Outcome &outcome)
      : ops_(ops), workload_(workload), recording_(*outcome.recording), outcome_(outcome),
        opOf_(workload.vertices.size(), kNoIndex), received_(ops.size(), kNoIndex),
        sentBy_(ops.size(), kNoIndex), times_(ops.size()) {}

  Times run() {
    number();
    meet();
    for (uint32_t op = 0; op < ops_.size(); ++op)
      fill(op);
    auto slowest = std::max_element(outcome_.finish.begin(), outcome_.finish.end());
    times_.completion = outcome_.makespan;
    if (slowest != outcome_.finish.end())
      followPath(opAt(recording_.last[slowest - outcome_.finish.begin()]));
    return std::move(times_);
  }

private:
  void number() {
    for (uint32_t r = 0; r < ops_.numRanks(); ++r)
      for (uint32_t i = 0; i < workload_.ranks[r].count; ++i) {
        opOf_[workload_.ranks[r].at(i)] = ops_.first[r] + i;
        vertexOf_.push_back(workload_.ranks[r].at(i));
      }
  }

  /// Pairs each send with its receive: by the schedule, or, where ends match by rank and tag, by
  /// the run.
  void meet() {
    for (uint32_t op = 0; op < ops_.size(); ++op) {
      const sim::ActivityId &after = recording_.ops[vertexOf_[op]].after;
      bool isSend = workload_.vertices[vertexOf_[op]].kind == sim::VertexKind::Send;
      if (isSend && ops_.partner[op] != kNoIndex)
        received_[op] = ops_.partner[op];
      else if (after.isMessage && workload_.vertices[vertexOf_[op]].kind == sim::VertexKind::Recv)
        received_[opOf_[after.vertex]] = op;
    }
    for (uint32_t op = 0; op < ops_.size(); ++op)
      if (received_[op] != kNoIndex)
        sentBy_[received_[op]] = op;
  }

  uint32_t opAt(const sim::ActivityId &id) const {
    if (!id.known())
      return kNoIndex;
    uint32_t op = opOf_[id.vertex];
    return id.isMessage ? received_[op] : op;
  }

  void fill(uint32_t op) {
    uint32_t vertex = vertexOf_[op];
    uint32_t send = sentBy_[op];
    bool isReceived = send != kNoIndex && recording_.messages[vertexOf_[send]].happened;
    const sim::Activity &activity =
        isReceived ? recording_.messages[vertexOf_[send]] : recording_.ops[vertex];
    times_.begin[op] = activity.begin;
    times_.end[op] = std::max(activity.begin, activity.end);
    uint32_t after = opAt(activity.after);
    times_.after[op] = after == op ? kNoIndex : after;
    times_.cause[op] = static_cast<uint8_t>(activity.cause);
    if (activity.interfaceEnd > activity.begin)
      times_.interface[op] = activity.interfaceEnd - activity.begin;
  }

  void followPath(uint32_t op) {
    for (; op != kNoIndex && times_.path.size() <= ops_.size(); op = times_.after[op])
      times_.path.push_back(op);
    std::reverse(times_.path.begin(), times_.path.end());
  }

  const OpTable &ops_;
  const sim::Workload &workload_;
  const sim::Recording &recording_;
  const sim::Outcome &outcome_;
  std::vector<uint32_t> opOf_;     ///< per vertex
  std::vector<uint32_t> vertexOf_; ///< per op
  std::vector<uint32_t> received_; ///< per send: the receive
  std::vector<uint32_t> sentBy_;   ///< per receive: the send
  Times times_;
};

} // namespace

Times simulatedTimes(const OpTable &ops, const sim::Workload &workload,
                     const sim::Outcome &outcome) {
  return SimulatedTimes(ops, workload, outcome).run();
}

} // namespace colldsl::show
