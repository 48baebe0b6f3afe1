#include "tools/run/Barrier.h"

namespace colldsl::tools {
namespace {

Op message(OpKind kind, uint32_t peer, uint32_t round) {
  Op op;
  op.kind = kind;
  op.peer = Rank{peer};
  op.message = makeMessageId(round, 0);
  return op;
}

} // namespace

Schedule barrierSchedule(uint32_t ranks) {
  Schedule schedule;
  schedule.name = "barrier";
  schedule.ranks.resize(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Dag &dag = schedule.ranks[rank];
    std::vector<Dep> heard;
    uint32_t round = 0;
    for (uint64_t step = 1; step < ranks; step *= 2, ++round) {
      auto to = static_cast<uint32_t>((rank + step) % ranks);
      auto from = static_cast<uint32_t>((rank + ranks - step) % ranks);
      dag.add(message(OpKind::Signal, to, round), {}, {}, heard);
      // The op requires all rounds before it, not the last one alone: waits may finish in any
      // order.
      heard.push_back({dag.add(message(OpKind::Wait, from, round), {}, {}, {})});
    }
  }
  return schedule;
}

} // namespace colldsl::tools
