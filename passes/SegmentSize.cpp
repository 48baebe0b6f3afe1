#include "passes/SegmentSize.h"

#include "passes/Holes.h"

#include <algorithm>
#include <bit>

namespace colldsl {

void SegmentSize::describe(PassOptions &options) {
  options.choice("by", "model|table|search", "where sizes come from (default: search)", by,
                 {"model", "table", "search"});
  options.number("children", "N", "model: messages that a rank sends for each segment (default: 2)",
                 children, 1, 1 << 20);
}

uint64_t pipelineNs(const LogGop &p, uint64_t bytes, uint64_t segment, uint64_t depth,
                    uint64_t children) {
  uint64_t segments = std::max<uint64_t>(1, (bytes + segment - 1) / segment);
  uint64_t each = std::min(bytes, segment);
  uint64_t network = children * p.gapNs(each);
  uint64_t processor = p.receiveNs(each) + children * p.sendNs(each);
  uint64_t stage = std::max(network, processor);
  return depth * (p.endToEndNs(each) + (children - 1) * p.nextSendNs(each)) +
         (segments - 1) * stage;
}

namespace {

Result<uint64_t> simulatedNs(const HoleContext &context, uint32_t param, uint64_t segment) {
  InstantiateRequest request = context.request;
  request.values.resize(context.program.decl(request.collective).params.size());
  request.values[param] = static_cast<int64_t>(segment);
  return context.cost.makespanNs(context.program, request);
}

} // namespace

Result<HoleOutcome> chooseSegment(const HoleContext &context, const SegmentSize &options) {
  std::optional<uint32_t> hole = holeNamed(context, "segment", ValueType::Bytes);
  if (!hole)
    return HoleOutcome{{}, nullptr, "no hole for a segment"};
  auto [least, most] = intervalOf(context, *hole);
  uint64_t bytes = bytesOf(context);
  uint64_t depth = std::max<uint64_t>(1, std::bit_width(context.request.ranks) - 1);
  const LogGop &p = farthestFrom(Rank{0}, context);
  uint64_t best = 0, bestNs = UINT64_MAX;
  for (uint64_t segment = 1024; segment <= uint64_t{1} << 26; segment *= 2) {
    if (segment < least || segment > most)
      continue;
    uint64_t ns = 0;
    if (options.by == SegmentSize::By::Model) {
      ns = pipelineNs(p, bytes, segment, depth, options.children);
    } else if (options.by == SegmentSize::By::Table) {
      uint64_t wanted = bytes < 2 << 20 ? 16 << 10 : 512 << 10;
      ns = std::max(segment, wanted) / std::min(segment, wanted);
    } else {
      Result<uint64_t> time = simulatedNs(context, *hole, segment);
      if (!time) // what cannot be made is told of where it is made
        return HoleOutcome{{}, nullptr, "not chosen: " + time.message()};
      ns = *time;
    }
    if (ns < bestNs) {
      best = segment;
      bestNs = ns;
    }
  }
  if (best == 0)
    return HoleOutcome{{}, nullptr, "no power of two is a candidate"};
  std::string size = std::to_string(best >> 10) + "KiB";
  return HoleOutcome{{{*hole, size}}, nullptr, "segment = " + size};
}

} // namespace colldsl
