#include "passes/SegmentSize.h"

#include "passes/TuningParameters.h"

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
  SegmentChooser(const BindContext &context, const SegmentSize &options)
      : context_(context), options_(options), request_(context.request) {}

  /// One tuning parameter after the other, each with what was chosen before it.
  Result<BindOutcome> run() {
    BindOutcome outcome;
    for (uint32_t parameter : tuningParametersOf(context_, ValueType::Bytes)) {
      std::optional<ParameterBinding> best = choose(parameter);
      if (!best)
        continue;
      bindTo(*best, request_);
      outcome.remark += (outcome.remark.empty() ? "" : "; ") + nameOf(parameter) + " = " +
                        wordOf(context_, *best);
      outcome.bindings.push_back(*best);
    }
    if (outcome.remark.empty())
      outcome.remark = why_.empty() ? "no tuning parameter for a segment" : "not chosen: " + why_;
    return outcome;
  }

private:
  std::string nameOf(uint32_t param) const {
    const Decl &decl = context_.program.decl(request_.collective);
    return context_.program.nameOf(decl.params[param]);
  }

  std::optional<ParameterBinding> choose(uint32_t parameter) {
    std::optional<ParameterBinding> best;
    uint64_t bestNs = UINT64_MAX;
    for (const ParameterBinding &candidate : candidatesOf(context_, parameter)) {
      Result<uint64_t> ns = costOf(candidate);
      if (!ns) { // instantiation reports what cannot be made
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

  /// The cost of a candidate; the lowest is best.
  Result<uint64_t> costOf(const ParameterBinding &candidate) const {
    InstantiateRequest request = request_;
    bindTo(candidate, request);
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

  Result<uint64_t> bytesOfSegment(const ParameterBinding &candidate) const {
    Result<int64_t> number = candidate.expr == kNoExpr
                                 ? Result<int64_t>(std::get<int64_t>(candidate.value))
                                 : evaluateAtEntry(context_.program, request_, candidate.expr);
    if (!number)
      return number.status();
    return static_cast<uint64_t>(std::max<int64_t>(1, *number));
  }

  const BindContext &context_;
  const SegmentSize &options_;
  InstantiateRequest request_;
  std::string why_; ///< the last tuning parameter that was not bound
};

} // namespace

Result<BindOutcome> chooseSegment(const BindContext &context, const SegmentSize &options) {
  return SegmentChooser(context, options).run();
}

} // namespace colldsl
