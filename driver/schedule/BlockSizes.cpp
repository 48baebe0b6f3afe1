#include "driver/schedule/BlockSizes.h"

#include "verifier/BlockLengths.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace colldsl::driver {
namespace {

using Random = std::mt19937_64;

uint64_t randomLength(Random &random, uint64_t elements, uint64_t most) {
  bool isEmpty = random() % 4 == 0;
  return isEmpty ? 0 : random() % (std::min(2 * elements, most) + 1);
}

void scatter(BlockTable &table, Random &random) {
  std::vector<uint32_t> order(table.length.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  uint64_t end = 0;
  for (uint32_t i : order) {
    end += random() % 4;
    table.offset[i] = end;
    end += table.length[i];
  }
}

} // namespace

Result<std::vector<Sizes>> chooseSizes(const Schedule &schedule, uint64_t elements, uint64_t seed) {
  Result<proof::BlockLengths> blocks = proof::BlockLengths::of(schedule, elements);
  if (!blocks)
    return blocks.status();
  Random random(seed);
  std::vector<uint64_t> lengths;
  for (uint32_t i = 0; i < blocks->count(); ++i)
    lengths.push_back(randomLength(random, elements, blocks->most(proof::LengthId{i})));
  std::vector<Sizes> sizes = blocks->sizes(lengths);
  for (uint32_t r = 0; r < schedule.numRanks(); ++r)
    for (uint32_t b = 0; b < sizes[r].blocks.size(); ++b) {
      const Buffer &buffer = schedule.ranks[r].buffers[b];
      if (buffer.layout == Layout::CallTime && buffer.aliasOf == kNoBuffer)
        scatter(sizes[r].blocks[b], random);
    }
  return sizes;
}

Result<bool> hasOpenBlocks(const Program &program, const InstantiateRequest &request) {
  Dag dag;
  if (Status s = Instantiator(program, request).instantiate(Rank{0}, dag); !s)
    return s;
  return std::any_of(dag.buffers.begin(), dag.buffers.end(),
                     [](const Buffer &buffer) { return buffer.layout == Layout::CallTime; });
}

} // namespace colldsl::driver
