#include "instantiate/graphs/EdgeList.h"

#include "ir/Numbers.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr uint32_t kMaxRank = (1u << 24) - 1;

bool parseInt(std::string_view word, int64_t &value) {
  std::optional<int64_t> given = parseWhole<int64_t>(word);
  value = given.value_or(value);
  return given.has_value();
}

} // namespace

EdgeList EdgeList::of(std::span<const Line> lines, uint32_t numRanks) {
  EdgeList list;
  list.numRanks_ = numRanks;
  list.out_ = rows(lines, numRanks, false);
  list.in_ = rows(lines, numRanks, true);
  return list;
}

Result<EdgeList> EdgeList::read(GraphFileLines &file) {
  std::vector<Line> lines;
  uint32_t numRanks = 0;
  while (file.next()) {
    std::string_view from = file.word(), to = file.word(), weight = file.word();
    if (from.empty() || from[0] == '#' || from[0] == '%')
      continue;
    int64_t f = 0, t = 0, w = 1;
    if (!parseInt(from, f) || !parseInt(to, t) || (!weight.empty() && !parseInt(weight, w)))
      return file.expected("'from to [weight]'");
    if (!file.word().empty())
      return file.error("more than three numbers on a line");
    if (f < 0 || t < 0 || f > kMaxRank || t > kMaxRank)
      return file.error("ranks are 0.." + std::to_string(kMaxRank));
    lines.push_back({static_cast<uint32_t>(f), static_cast<uint32_t>(t), w});
    numRanks = std::max(numRanks, static_cast<uint32_t>(std::max(f, t)) + 1);
  }
  return of(lines, numRanks);
}

EdgeList::Half EdgeList::rows(std::span<const Line> lines, uint32_t numRanks, bool in) {
  Half half;
  half.begin.assign(size_t{numRanks} + 1, 0);
  for (const Line &line : lines)
    ++half.begin[(in ? line.to : line.from) + 1];
  for (uint32_t r = 0; r < numRanks; ++r)
    half.begin[r + 1] += half.begin[r];
  std::vector<uint64_t> next(half.begin.begin(), half.begin.end() - 1);
  half.edges.resize(lines.size());
  for (const Line &line : lines)
    half.edges[next[in ? line.to : line.from]++] = {in ? line.from : line.to, line.weight};
  return half;
}

std::span<const EdgeList::Edge> EdgeList::edges(const Half &half, uint32_t rank) {
  if (rank + 1 >= half.begin.size())
    return {};
  return {half.edges.data() + half.begin[rank], half.begin[rank + 1] - half.begin[rank]};
}

} // namespace colldsl
