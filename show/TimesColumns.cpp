#include "show/OpTimes.h"

#include <algorithm>
#include <numeric>

namespace colldsl::show {

void addTimes(const Times &times, const OpTable &ops, const std::string &prefix, Columns &columns) {
  std::vector<uint64_t> took(ops.size());
  for (uint32_t op = 0; op < ops.size(); ++op)
    took[op] = times.end[op] - times.begin[op];
  std::vector<uint32_t> order(ops.size());
  std::iota(order.begin(), order.end(), 0);
  for (uint32_t r = 0; r < ops.numRanks(); ++r)
    std::stable_sort(order.begin() + ops.first[r], order.begin() + ops.first[r + 1],
                     [&](uint32_t a, uint32_t b) { return times.begin[a] < times.begin[b]; });
  std::vector<uint32_t> back(ops.size()); // 0: none. Mostly small, and packs well
  for (uint32_t op = 0; op < ops.size(); ++op)
    back[op] = times.after[op] == kNoIndex ? 0 : op - times.after[op];
  columns.add(prefix + "begin", times.begin);
  columns.add(prefix + "took", took);
  columns.add(prefix + "interface", times.interface);
  columns.addSteps(prefix + "order", order);
  columns.addSteps(prefix + "after", back);
  columns.add(prefix + "cause", times.cause);
  columns.addSteps(prefix + "path", times.path);
}

} // namespace colldsl::show
