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

class SegmentChooser {
public:
  SegmentChooser(const HoleContext &context, const SegmentSize &options)
      : context_(context), options_(options), request_(context.request) {}

  /// One hole after the other, each with what was chosen before it.
  Result<HoleOutcome> run() {
    HoleOutcome outcome;
    for (uint32_t hole : holesOf(context_, ValueType::Bytes)) {
      std::optional<HoleFilling> best = choose(hole);
      if (!best)
        continue;
      fillIn(*best, request_);
      outcome.remark +=
          (outcome.remark.empty() ? "" : "; ") + nameOf(hole) + " = " + wordOf(context_, *best);
      outcome.fillings.push_back(*best);
    }
    if (outcome.remark.empty())
      outcome.remark = why_.empty() ? "no hole for a segment" : "not chosen: " + why_;
    return outcome;
  }

private:
  std::string nameOf(uint32_t param) const {
    const Decl &decl = context_.program.decl(request_.collective);
    return context_.program.nameOf(decl.params[param]);
  }

  std::optional<HoleFilling> choose(uint32_t hole) {
    std::optional<HoleFilling> best;
    uint64_t bestNs = UINT64_MAX;
    for (const HoleFilling &candidate : candidatesOf(context_, hole)) {
      Result<uint64_t> ns = costOf(candidate);
      if (!ns) { // what cannot be made is told of where it is made
        why_ = ns.message();
        return std::nullopt;
      }
      if (*ns < bestNs) {
        best = candidate;
        bestNs = *ns;
      }
    }
    return best;
  }

  /// The less the better.
  Result<uint64_t> costOf(const HoleFilling &candidate) const {
    InstantiateRequest request = request_;
    fillIn(candidate, request);
    if (options_.by == SegmentSize::By::Search)
      return context_.cost.makespanNs(context_.program, request);
    Result<uint64_t> segment = bytesOfSegment(candidate);
    if (!segment)
      return segment;
    uint64_t bytes = bytesOf(context_);
    if (options_.by == SegmentSize::By::Table) {
      uint64_t wanted = bytes < 2 << 20 ? 16 << 10 : 512 << 10;
      return std::max(*segment, wanted) / std::min(*segment, wanted);
    }
    uint64_t depth = std::max<uint64_t>(1, std::bit_width(request.ranks) - 1);
    return pipelineNs(farthestFrom(Rank{0}, context_), bytes, *segment, depth, options_.children);
  }

  Result<uint64_t> bytesOfSegment(const HoleFilling &candidate) const {
    Result<int64_t> number = candidate.expr == kNoExpr
                                 ? Result<int64_t>(std::get<int64_t>(candidate.value))
                                 : evaluateAtEntry(context_.program, request_, candidate.expr);
    if (!number)
      return number.status();
    return static_cast<uint64_t>(std::max<int64_t>(1, *number));
  }

  const HoleContext &context_;
  const SegmentSize &options_;
  InstantiateRequest request_;
  std::string why_; ///< the last hole that was not filled was not
};

} // namespace

Result<HoleOutcome> chooseSegment(const HoleContext &context, const SegmentSize &options) {
  return SegmentChooser(context, options).run();
}

} // namespace colldsl
