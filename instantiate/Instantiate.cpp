#include "instantiate/Instantiate.h"

#include "instantiate/AllRanks.h"
#include "ir/Concat.h"

#include <algorithm>

namespace colldsl {
namespace {

bool promisesToSynchronize(const Program &program, const Decl &decl) {
  return std::any_of(decl.ensures.begin(), decl.ensures.end(), [&](uint32_t root) {
    return program.ensures[root].kind == EnsureKind::Synchronizes;
  });
}

Status checkNumRanks(const InstantiateRequest &request) {
  if (request.ranks != 0 && request.ranks <= request.limits.maxRanks)
    return {};
  return Status::error(concat(request.ranks, " ranks; between 1 and ", request.limits.maxRanks,
                              " are instantiated together"));
}

/// The totals of the ranks that were made so far.
struct RankCounts {
  uint32_t ranks = 0;
  uint64_t ops = 0, deps = 0;
};

Status checkTotals(const Program &program, const InstantiateRequest &request,
                   const RankCounts &counts) {
  const InstantiateLimits &limits = request.limits;
  const Decl &decl = program.decl(request.collective);
  auto fail = [&](uint64_t count, const char *what, uint64_t limit, const char *option) {
    return Status(Diagnostic::error(decl.loc,
                                    concat("the first ", counts.ranks, " of ", request.ranks,
                                           " ranks of '", program.nameOf(decl), "' have ", count,
                                           what, ", the limit for all is ", limit),
                                    concat("raise the limit with ", option)));
  };
  if (counts.ops > limits.maxTotalOps)
    return fail(counts.ops, " ops", limits.maxTotalOps, "--max-total-ops");
  if (counts.deps > limits.maxTotalDeps)
    return fail(counts.deps, " dependencies", limits.maxTotalDeps, "--max-total-deps");
  return {};
}

/// Name, files and flags of the schedule; no ranks, names or validity range yet.
Schedule sharedOf(const Program &program, const InstantiateRequest &request) {
  const Decl &decl = program.decl(request.collective);
  Schedule shared;
  shared.name = program.nameOf(decl);
  shared.files = program.files;
  shared.hasContract = true;
  shared.deterministic = decl.deterministic;
  shared.synchronizes = promisesToSynchronize(program, decl);
  return shared;
}

} // namespace

struct Instantiator::Impl {
  InstantiateRequest request;
  Interpreter interpreter;
  const std::vector<std::string> &names;

  Impl(const Program &program, InstantiateRequest r)
      : request(std::move(r)), interpreter(program, request), names(program.strings) {}
};

Instantiator::Instantiator(const Program &program, InstantiateRequest request)
    : impl_(std::make_unique<Impl>(program, std::move(request))) {}
Instantiator::~Instantiator() = default;
Instantiator::Instantiator(Instantiator &&) noexcept = default;

Status Instantiator::instantiate(Rank rank, Dag &dag) { return impl_->interpreter.run(rank, dag); }

SizeClass Instantiator::sizeClass() const { return impl_->interpreter.range().sizeClass(); }

bool Instantiator::usedTopology() const { return impl_->interpreter.usedTopology(); }

const std::vector<std::string> &Instantiator::names() const { return impl_->names; }

Result<int64_t> evaluateAtEntry(const Program &program, const InstantiateRequest &request,
                                ExprId id) {
  return Interpreter(program, request).valueAtEntry(id);
}

Result<Schedule> instantiateAll(const Program &program, const InstantiateRequest &request) {
  if (Status s = checkNumRanks(request); !s)
    return s;
  InstantiateRequest full = request;
  full.contract = true;
  Instantiator instantiator(program, full);
  Interpreter &interpreter = instantiator.impl_->interpreter;
  interpreter.recordsCalls = interpreter.recordsTrees = true;
  Schedule schedule = sharedOf(program, full);
  schedule.ranks.resize(request.ranks);
  CallChecker calls;
  TreeChecker trees(interpreter, program);
  RankCounts counts;
  Dag dag; // reused, so that its capacity stays; copies are as small as they can be
  for (uint32_t r = 0; r < request.ranks; ++r) {
    if (Status s = interpreter.run(Rank{r}, dag); !s)
      return s;
    schedule.ranks[r] = dag;
    schedule.costs.insert(schedule.costs.end(), interpreter.costs.begin(), interpreter.costs.end());
    calls.add(r, interpreter.calls);
    for (const TreeRecord &record : interpreter.trees)
      if (Status s = trees.check(record); !s)
        return s;
    counts.ranks = r + 1;
    counts.ops += dag.size();
    for (const Op &op : dag.ops)
      counts.deps += op.depCount;
    if (Status s = checkTotals(program, request, counts); !s)
      return s;
  }
  if (Status s = calls.check(); !s)
    return s;
  schedule.sizeClass = instantiator.sizeClass();
  schedule.usesTopology = instantiator.usedTopology();
  BufferNames names(program);
  for (Dag &dag : schedule.ranks)
    names.setIn(dag.buffers);
  schedule.names = names.take();
  renumberMessages(schedule);
  return schedule;
}

} // namespace colldsl
