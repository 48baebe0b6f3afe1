#include "passes/TuningParameters.h"

namespace colldsl {
namespace {

const Decl &collectiveOf(const BindContext &context) {
  return context.program.decl(context.request.collective);
}

Result<int64_t> valueOf(const BindContext &context, ExprId id) {
  return evaluateAtEntry(context.program, context.request, id);
}

Result<Rank> rootOf(const BindContext &context, uint32_t parameter) {
  const Param &param = collectiveOf(context).params[parameter];
  std::string what = "the root of '" + context.program.nameOf(param) + "'";
  Result<int64_t> root = valueOf(context, param.defaultValue);
  if (!root)
    return Status::error(what + " must be known before the call: " + root.message());
  if (*root < 0 || *root >= context.request.ranks)
    return Status::error(what + " is rank " + std::to_string(*root) + ", but there are only " +
                         std::to_string(context.request.ranks) + " ranks");
  return Rank{static_cast<uint32_t>(*root)};
}

std::vector<ParameterBinding> intervalOf(const BindContext &context, uint32_t p) {
  const Param &param = collectiveOf(context).params[p];
  Result<int64_t> least = valueOf(context, param.candidates[0].lo);
  Result<int64_t> most = valueOf(context, param.candidates[0].hi);
  std::vector<ParameterBinding> values;
  if (!least || !most)
    return values;
  constexpr int64_t kLeastBytes = 1024, kMax = int64_t{1} << 26;
  bool isLarge = param.type == ValueType::Bytes && *most >= kLeastBytes;
  for (int64_t number = isLarge ? kLeastBytes : 1; number <= kMax; number *= 2)
    if (*least <= number && number <= *most)
      values.push_back({p, number});
  if (values.empty())
    values.push_back({p, *least});
  return values;
}

} // namespace

bool isTuningParameter(const BindContext &context, uint32_t p) {
  const Param &param = collectiveOf(context).params[p];
  const InstantiateRequest &given = context.request;
  return !param.isBuffer && param.defaultValue != kNoExpr &&
         (p >= given.arguments.size() || given.arguments[p] == kNoExpr) &&
         (p >= given.values.size() || given.values[p].index() == 0);
}

std::vector<uint32_t> tuningParametersOf(const BindContext &context, ValueType type) {
  std::vector<uint32_t> parameters;
  const Decl &decl = collectiveOf(context);
  for (uint32_t p = 0; p < decl.params.size(); ++p)
    if (decl.params[p].type == type && isTuningParameter(context, p))
      parameters.push_back(p);
  return parameters;
}

std::vector<ParameterBinding> candidatesOf(const BindContext &context, uint32_t p) {
  const Param &param = collectiveOf(context).params[p];
  bool isInterval = param.candidates.size() == 1 && param.candidates[0].hi != kNoExpr &&
                    (param.type == ValueType::Int || param.type == ValueType::Bytes);
  if (isInterval)
    return intervalOf(context, p);
  std::vector<ParameterBinding> values;
  for (const Candidate &candidate : param.candidates)
    for (ExprId end : {candidate.lo, candidate.hi})
      if (end != kNoExpr)
        values.push_back({p, {}, end});
  return values;
}

std::string wordOf(const BindContext &context, const ParameterBinding &binding) {
  if (binding.expr != kNoExpr) {
    const Expr &expr = context.program.expr(binding.expr);
    if (expr.kind == ExprKind::MakeTree)
      return context.program.nameOf(
          context.program.decl(DeclId{static_cast<uint32_t>(expr.value)}));
    if (expr.kind != ExprKind::IntLit)
      return "its candidate in line " + std::to_string(expr.loc.line);
  }
  int64_t number = binding.expr == kNoExpr ? std::get<int64_t>(binding.value)
                                           : context.program.expr(binding.expr).value;
  bool isBytes = collectiveOf(context).params[binding.param].type == ValueType::Bytes;
  if (isBytes && number % 1024 == 0)
    return std::to_string(number / 1024) + "KiB";
  return std::to_string(number) + (isBytes ? "B" : "");
}

const LogGop &farthestFrom(Rank rank, const BindContext &context) {
  const Topology *topology = context.request.topology;
  if (!topology) // as the simulator sees it
    return context.cost.machine.distances[0];
  return context.cost.farthest(rank, topology->members(Level::All, 0), *topology);
}

uint64_t bytesOf(const BindContext &context) {
  return context.request.elements * sizeBytes(context.request.type);
}

Result<BindOutcome> bindTrees(const BindContext &context,
                              const std::function<TreeBinding(Rank root)> &make) {
  BindOutcome outcome;
  for (uint32_t parameter : tuningParametersOf(context, ValueType::Tree)) {
    Result<Rank> root = rootOf(context, parameter);
    if (!root)
      return root.status();
    TreeBinding made = make(*root);
    outcome.bindings.push_back(
        {parameter, std::make_shared<const GivenTree>(std::move(made.tree))});
    outcome.remark += (outcome.remark.empty() ? "" : "; ") + made.remark;
  }
  if (outcome.bindings.empty())
    outcome.remark = "no tuning parameter for a tree";
  return outcome;
}

} // namespace colldsl
