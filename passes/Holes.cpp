#include "passes/Holes.h"

namespace colldsl {
namespace {

const Decl &collectiveOf(const HoleContext &context) {
  return context.program.decl(context.request.collective);
}

bool isHole(const HoleContext &context, uint32_t p) {
  const Param &param = collectiveOf(context).params[p];
  const std::vector<ExprId> &given = context.request.arguments;
  return !param.isBuffer && param.defaultValue != kNoExpr &&
         (p >= given.size() || given[p] == kNoExpr);
}

std::optional<int64_t> literal(const HoleContext &context, ExprId id) {
  if (id == kNoExpr || context.program.expr(id).kind != ExprKind::IntLit)
    return std::nullopt;
  return context.program.expr(id).value;
}

} // namespace

std::vector<uint32_t> holesOf(const HoleContext &context, ValueType type) {
  std::vector<uint32_t> holes;
  const Decl &decl = collectiveOf(context);
  for (uint32_t p = 0; p < decl.params.size(); ++p)
    if (decl.params[p].type == type && isHole(context, p))
      holes.push_back(p);
  return holes;
}

std::optional<uint32_t> holeNamed(const HoleContext &context, std::string_view name,
                                  ValueType type) {
  for (uint32_t p : holesOf(context, type))
    if (context.program.nameOf(collectiveOf(context).params[p]) == name)
      return p;
  return std::nullopt;
}

Result<Rank> rootOf(const HoleContext &context) {
  const Decl &decl = collectiveOf(context);
  for (uint32_t p = 0; p < decl.params.size(); ++p) {
    if (decl.params[p].isBuffer || context.program.nameOf(decl.params[p]) != "root")
      continue;
    std::optional<int64_t> root = literal(
        context, isHole(context, p) ? decl.params[p].defaultValue : context.request.arguments[p]);
    if (!root || *root < 0 || *root >= context.request.ranks)
      return Status::error("the root must be given as the number of a rank");
    return Rank{static_cast<uint32_t>(*root)};
  }
  return Rank{0};
}

std::pair<uint64_t, uint64_t> intervalOf(const HoleContext &context, uint32_t p) {
  const Param &param = collectiveOf(context).params[p];
  if (param.candidates.size() != 1)
    return {0, UINT64_MAX};
  std::optional<int64_t> lo = literal(context, param.candidates[0].lo);
  std::optional<int64_t> hi = literal(context, param.candidates[0].hi);
  return {static_cast<uint64_t>(lo.value_or(0)),
          hi ? static_cast<uint64_t>(*hi) : uint64_t{UINT64_MAX}};
}

const LogGop &farthestFrom(Rank rank, const HoleContext &context) {
  const Topology *topology = context.request.topology;
  if (!topology) // as the simulator sees it
    return context.cost.machine.distances[0];
  return context.cost.farthest(rank, topology->members(Level::All, 0), *topology);
}

uint64_t bytesOf(const HoleContext &context) {
  return context.request.elements * sizeBytes(context.request.type);
}

HoleOutcome fillTrees(const HoleContext &context, const std::string &expression,
                      std::string remark) {
  HoleOutcome outcome;
  for (uint32_t hole : holesOf(context, ValueType::Tree))
    outcome.fillings.push_back({hole, expression});
  outcome.remark = outcome.fillings.empty() ? "no hole for a tree" : std::move(remark);
  return outcome;
}

} // namespace colldsl
