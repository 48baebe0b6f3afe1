#include "show/OpTimes.h"

#include <algorithm>

namespace colldsl::show {
namespace {

class MeasuredTimes {
public:
  MeasuredTimes(const OpTable &ops, std::vector<uint64_t> begin, std::vector<uint64_t> end)
      : ops_(ops), times_(ops.size()) {
    times_.begin = std::move(begin);
    times_.end = std::move(end);
  }

  Times run() {
    for (uint32_t r = 0; r < ops_.numRanks(); ++r)
      for (uint32_t op = ops_.first[r]; op < ops_.first[r + 1]; ++op)
        explain(op, r);
    auto last = std::max_element(times_.end.begin(), times_.end.end());
    if (last == times_.end.end())
      return std::move(times_);
    times_.completion = *last;
    // Clocks of processors may differ by some ns, so that two ops could wait for each other.
    auto op = static_cast<uint32_t>(last - times_.end.begin());
    for (; op != kNoIndex && times_.path.size() <= ops_.size(); op = times_.after[op])
      times_.path.push_back(op);
    std::reverse(times_.path.begin(), times_.path.end());
    return std::move(times_);
  }

private:
  void explain(uint32_t op, uint32_t rank) {
    const Dag &dag = ops_.schedule->ranks[rank];
    const Op &what = dag.ops[op - ops_.first[rank]];
    uint64_t latest = 0;
    auto consider = [&](uint32_t other, uint64_t at, sim::Cause cause) {
      if (times_.after[op] != kNoIndex && at <= latest)
        return;
      latest = at;
      times_.after[op] = other;
      times_.cause[op] = static_cast<uint8_t>(cause);
    };
    for (const Dep &dep : dag.depsOf(what)) {
      uint32_t other = ops_.first[rank] + index(dep.op);
      bool isWhole = dep.kind == DepKind::Requires;
      consider(other, isWhole ? times_.end[other] : times_.begin[other], sim::Cause::Dependency);
    }
    uint32_t send = ops_.partner[op];
    if (receivesMessage(what.kind) && send != kNoIndex)
      consider(send, times_.begin[send], sim::Cause::Wire);
  }

  const OpTable &ops_;
  Times times_;
};

} // namespace

Times measuredTimes(const OpTable &ops, std::vector<uint64_t> begin, std::vector<uint64_t> end) {
  return MeasuredTimes(ops, std::move(begin), std::move(end)).run();
}

} // namespace colldsl::show
