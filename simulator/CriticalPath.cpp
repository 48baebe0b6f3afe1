#include "simulator/CriticalPath.h"

#include <algorithm>
#include <cassert>

namespace colldsl::sim {

std::string_view spelling(Cause cause) {
  switch (cause) {
  case Cause::Start:
    return "start";
  case Cause::Dependency:
    return "dependency";
  case Cause::Processor:
    return "processor";
  case Cause::Gap:
    return "gap";
  case Cause::Wire:
    return "wire";
  }
  assert(false && "not a cause");
  return "";
}

Result<std::vector<PathStep>> criticalPath(const Workload &workload, const Recording &recording,
                                           uint32_t rank) {
  std::vector<PathStep> path;
  // Each activity waited for one that began no later; an op and its message once each.
  size_t limit = recording.ops.size() + recording.messages.size();
  for (ActivityId id = recording.last[rank]; id.known() && path.size() <= limit;
       id = recording.of(id).after) {
    const Activity &activity = recording.of(id);
    const Vertex &v = workload.vertices[id.vertex];
    PathStep step;
    uint32_t owner = workload.rankOf(id.vertex);
    step.isMessage = id.isMessage;
    step.rank = id.isMessage ? v.peer : owner;
    step.peer = owner;
    step.begin = activity.begin;
    step.end = activity.end;
    step.cause = activity.cause;
    step.bytes = v.kind == VertexKind::Calc ? 0 : workload.amountOf(v);
    Result<Op> what = workload.describe(Rank{owner}, workload.opOf(id.vertex));
    if (!what)
      return what.status();
    step.what = *what;
    step.op = id.isMessage && v.isByTag ? kNoOp
              : id.isMessage            ? workload.opOf(v.partner)
                                        : workload.opOf(id.vertex);
    path.push_back(step);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

} // namespace colldsl::sim
