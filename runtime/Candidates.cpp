#include "runtime/Candidates.h"

#include "passes/TuningParameters.h"
#include "program/Operands.h"
#include "runtime/Decisions.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr size_t kMostCombinations = 64;

struct Choice {
  uint32_t param;
  std::vector<int64_t> values;
};

/// Values that are worth a try: segments up to the whole message, radices up to all ranks.
std::vector<int64_t> valuesOf(const BindContext &context, uint32_t p) {
  const Param &param = context.program.decl(context.request.collective).params[p];
  if (param.type == ValueType::Bool)
    return {0, 1};
  uint64_t most = param.type == ValueType::Bytes ? bytesOf(context) : UINT64_MAX;
  std::vector<int64_t> values;
  for (const ParameterBinding &binding : candidatesOf(context, p)) {
    if (binding.expr != kNoExpr)
      continue; // what is written in the program has no number here
    int64_t value = std::get<int64_t>(binding.value);
    values.push_back(value);
    if (static_cast<uint64_t>(value) >= most)
      break;
  }
  return values;
}

std::vector<Choice> choicesOf(const BindContext &context) {
  const Program &program = context.program;
  const Decl &decl = program.decl(context.request.collective);
  std::vector<bool> isInContract = contractParams(program, decl);
  std::vector<Choice> choices;
  for (uint32_t p = 0; p < decl.params.size(); ++p) {
    ValueType type = decl.params[p].type;
    bool isNumber = type == ValueType::Int || type == ValueType::Bytes || type == ValueType::Bool;
    if (isInContract[p] || !isNumber || !isTuningParameter(context, p))
      continue;
    if (std::vector<int64_t> values = valuesOf(context, p); !values.empty())
      choices.push_back({p, std::move(values)});
  }
  return choices;
}

/// All combinations, as indices.
std::vector<std::vector<int64_t>> combinationsOf(const std::vector<Choice> &choices) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (const Choice &choice : choices) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &before : all)
      for (int64_t value : choice.values)
        if (longer.size() < kMostCombinations) {
          longer.push_back(before);
          longer.back().push_back(value);
        }
    all = std::move(longer);
  }
  return all;
}

} // namespace

bool hasElements(const Decl &collective) {
  return std::any_of(collective.params.begin(), collective.params.end(), [](const Param &p) {
    return p.isBuffer && p.buffer.dim[p.buffer.dims - 1].kind == DimKind::Symbol;
  });
}

uint64_t timedElementBytes(const Decl &collective) {
  bool reduces = std::any_of(collective.params.begin(), collective.params.end(),
                             [](const Param &p) { return p.type == ValueType::Reduction; });
  return reduces ? sizeBytes(ElementType::F64) : 1;
}

std::vector<std::string> functionsOf(const std::vector<SelectionRule> &rules) {
  std::vector<std::string> functions;
  for (const SelectionRule &rule : rules)
    if (std::find(functions.begin(), functions.end(), rule.function) == functions.end())
      functions.push_back(rule.function);
  return functions;
}

// False: the request has no schedule for these ranks.
bool CandidateFinder::predict(const InstantiateRequest &request, uint64_t &opsLeft,
                              Entry &entry) const {
  Instantiator instantiator(program_, request);
  Dag dag;
  if (!instantiator.instantiate(Rank{0}, dag))
    return false;
  uint64_t ops = dag.ops.size() * request.ranks; // about
  if (ops > opsLeft)
    return true;
  opsLeft -= ops;
  if (Result<uint64_t> ns = cost_.makespanNs(program_, request))
    entry.ns = *ns;
  return true;
}

void CandidateFinder::add(DeclId collective, uint64_t bytes, uint64_t &opsLeft,
                          std::vector<Entry> &entries) const {
  const Decl &decl = program_.decl(collective);
  InstantiateRequest request;
  request.collective = collective;
  request.ranks = topology_.numRanks();
  request.topology = &topology_;
  request.type = timedElementBytes(decl) == 1 ? ElementType::U8 : ElementType::F64;
  uint64_t least = bytes > 0 && hasElements(decl);
  request.elements = std::max(bytes / timedElementBytes(decl), least);
  request.values.resize(decl.params.size());
  std::vector<int64_t> counts(request.ranks, static_cast<int64_t>(request.elements));
  for (size_t p = 0; p < decl.params.size(); ++p)
    if (decl.params[p].type == ValueType::IntList && decl.params[p].defaultValue == kNoExpr)
      request.values[p] = counts;
  std::vector<Choice> choices = choicesOf({program_, request, cost_});
  size_t first = entries.size();
  for (const std::vector<int64_t> &values : combinationsOf(choices)) {
    Entry entry;
    entry.what.name = program_.nameOf(decl);
    for (size_t i = 0; i < values.size(); ++i) {
      request.values[choices[i].param] = values[i];
      entry.what.values.push_back({program_.nameOf(decl.params[choices[i].param]), values[i]});
    }
    bool isThere = predict(request, opsLeft, entry);
    bool isKnown =
        std::any_of(entries.begin() + static_cast<ptrdiff_t>(first), entries.end(),
                    [&](const Entry &other) { return other.ns && other.ns == entry.ns; });
    if (isThere && !isKnown)
      entries.push_back(std::move(entry));
  }
}

// The model knows neither caches nor the cost of a message beside others; `reach` allows for that.
CandidatesOfPoint CandidateFinder::make(const std::string &function, uint64_t bytes,
                                        const CandidateLimits &limits) const {
  std::vector<Entry> entries;
  uint64_t opsLeft = limits.mostOps;
  for (DeclId collective : collectivesFor(program_, rules_, function))
    add(collective, bytes, opsLeft, entries);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.ns.value_or(UINT64_MAX) < b.ns.value_or(UINT64_MAX);
  });
  auto known = std::find_if(entries.begin(), entries.end(), [](const Entry &e) { return e.ns; });
  uint64_t most =
      known == entries.end() ? UINT64_MAX : std::max<uint64_t>(*known->ns, 1) * limits.reach;
  CandidatesOfPoint point{function, bytes, {}};
  for (Entry &entry : entries)
    if (point.candidates.size() < limits.most && (entry.ns || !limits.needsModel) &&
        entry.ns.value_or(0) <= most)
      point.candidates.push_back(std::move(entry.what));
  return point;
}

} // namespace colldsl
