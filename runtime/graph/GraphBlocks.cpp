#include "runtime/graph/GraphBlocks.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace colldsl {
namespace {

/// The units before each block, and those of all.
using Places = std::vector<int64_t>;

Places placesOf(const UnitList &blocks) {
  Places places(blocks.size() + 1);
  std::inclusive_scan(blocks.begin(), blocks.end(), places.begin() + 1, std::plus<>(), int64_t{0});
  return places;
}

/// By buffer; a buffer of passes has one block.
std::vector<Places> placesIn(const Dag &dag, const GraphBlocks &blocks) {
  std::vector<Places> places = {placesOf(blocks.sent), placesOf(blocks.received)};
  for (size_t b = places.size(); b < dag.buffers.size(); ++b)
    places.push_back({dag.buffers[b].originScale, dag.buffers[b].endScale});
  return places;
}

} // namespace

void stretch(Dag &dag, const GraphBlocks &blocks) {
  std::vector<Places> places = placesIn(dag, blocks);
  for (Slice &slice : dag.slices)
    for (int64_t *scale : {&slice.beginScale, &slice.endScale})
      *scale = places[index(slice.buffer)][static_cast<size_t>(*scale)];
  for (size_t b = 0; b < dag.buffers.size(); ++b)
    dag.buffers[b].endScale = places[b].back();
}

Result<Dag> withLengths(const Dag &dag, const GraphBlocks &blocks) {
  std::vector<Places> places = placesIn(dag, blocks);
  Dag made;
  made.contract = dag.contract;
  for (size_t b = 0; b < dag.buffers.size(); ++b) {
    Buffer buffer = dag.buffers[b];
    buffer.blocks = static_cast<uint32_t>(places[b].size() - 1);
    buffer.endScale = buffer.blocks;
    buffer.originScale = 0;
    buffer.layout = Layout::Capacity;
    made.addBuffer(buffer);
  }
  bool areWhole = true;
  auto blocksOf = [&](std::span<const Slice> slices) {
    std::vector<Slice> found;
    for (const Slice &slice : slices) {
      const Places &all = places[index(slice.buffer)];
      auto at = std::lower_bound(all.begin(), all.end() - 1, slice.beginScale);
      areWhole =
          areWhole && at != all.end() - 1 && at[0] == slice.beginScale && at[1] == slice.endScale;
      Slice block;
      block.endScale = 1;
      block.buffer = slice.buffer;
      block.block = static_cast<uint32_t>(at - all.begin());
      found.push_back(block);
    }
    return found;
  };
  for (const Op &op : dag.ops)
    made.add(op, blocksOf(dag.sources(op)), blocksOf(dag.targets(op)), dag.depsOf(op));
  if (!areWhole)
    return Status::error("a message of the changed schedule has a part of a block");
  return made;
}

} // namespace colldsl
