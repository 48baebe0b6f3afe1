#include "passes/CanaryRte.h"
#include "passes/Choose.h"
#include "passes/CombineMessages.h"
#include "passes/Direction.h"
#include "passes/DistanceRing.h"
#include "passes/DistanceTree.h"
#include "passes/EdgeColoring.h"
#include "passes/Fuse.h"
#include "passes/LeaderSelection.h"
#include "passes/MessageEnds.h"
#include "passes/OptimalTree.h"
#include "passes/ProtocolChoice.h"
#include "passes/RtrTree.h"
#include "passes/SegmentSize.h"
#include "passes/TreeRebalance.h"
#include "passes/Tune.h"

#include <algorithm>
#include <cassert>

namespace colldsl {
namespace {

template <PassKind kind, auto function, typename Settings> class TablePass : public Pass {
public:
  PassOptions options() override {
    PassOptions described;
    settings_.describe(described);
    return described;
  }

  Result<DagOutcome> run(Schedule schedule, const DagContext &context) const override {
    if constexpr (kind == PassKind::Dag)
      return function(std::move(schedule), settings_, context);
    else
      return Pass::run(std::move(schedule), context);
  }

  Result<BindOutcome> bind(const BindContext &context) const override {
    if constexpr (kind == PassKind::Program)
      return function(context, settings_);
    else
      return Pass::bind(context);
  }

private:
  Settings settings_;
};

constexpr PassInfo kPasses[] = {
#define COLLDSL_PASS(kind, name, function, options, summary)                                       \
  {name, summary, PassKind::kind, []() -> std::unique_ptr<Pass> {                                  \
     return std::make_unique<TablePass<PassKind::kind, function, options>>();                      \
   }},
#include "passes/Passes.def"
};

} // namespace

Result<DagOutcome> Pass::run(Schedule, const DagContext &) const {
  assert(false && "a program pass has no schedule");
  return Status::error("a program pass has no schedule");
}

Result<BindOutcome> Pass::bind(const BindContext &) const {
  assert(false && "a DAG pass binds no tuning parameters");
  return Status::error("a DAG pass binds no tuning parameters");
}

std::span<const PassInfo> allPasses() { return kPasses; }

const PassInfo *findPass(std::string_view name) {
  for (const PassInfo &info : kPasses)
    if (info.name == name)
      return &info;
  return nullptr;
}

void bindTo(const ParameterBinding &binding, InstantiateRequest &request) {
  size_t room = size_t{binding.param} + 1;
  request.arguments.resize(std::max(request.arguments.size(), room), kNoExpr);
  request.values.resize(std::max(request.values.size(), room));
  request.arguments[binding.param] = binding.expr;
  request.values[binding.param] = binding.value;
}

Result<uint64_t> timeOf(const Schedule &schedule, const DagContext &context) {
  return context.cost.makespanNs(schedule, context.sizes, context.topology);
}

namespace {

// The simulator buffers without end; transports do not. An error: the sends wait for each other.
Status checkSynchronousSends(const Schedule &schedule) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  return messages ? sendLevels(schedule, *messages).status() : messages.status();
}

} // namespace

Result<DagOutcome> keepFaster(Schedule before, DagOutcome after, const DagContext &context) {
  Result<uint64_t> old = timeOf(before, context);
  if (!old)
    return old.status();
  Result<uint64_t> now = timeOf(after.schedule, context);
  if (!now)
    return now.status();
  after.remark += "; " + std::to_string(*old) + " ns, then " + std::to_string(*now) + " ns";
  bool isFaster = *now < *old;
  if (Status order = isFaster ? checkSynchronousSends(after.schedule) : Status(); !order) {
    after.remark += "; " + order.message();
    isFaster = false;
  }
  if (isFaster)
    return after;
  return DagOutcome{std::move(before), "left as it was: " + after.remark};
}

} // namespace colldsl
