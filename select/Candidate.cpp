#include "select/Candidate.h"

#include "passes/PackProgram.h"
#include "passes/TuningParameters.h"
#include "program/Operands.h"
#include "select/Function.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr size_t kMostCombinations = 64;

struct ParamValues {
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

std::vector<ParamValues> choicesOf(const BindContext &context) {
  const Program &program = context.program;
  const Decl &decl = program.decl(context.request.collective);
  std::vector<bool> isInContract = contractParams(program, decl);
  std::vector<ParamValues> choices;
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
std::vector<std::vector<int64_t>> combinationsOf(const std::vector<ParamValues> &choices) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (const ParamValues &choice : choices) {
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
  return reduces(collective) ? sizeBytes(ElementType::F64) : 1;
}

InstantiateRequest requestFor(const Program &program, DeclId collective, const CandidateCall &call,
                              const Topology &topology) {
  const Decl &decl = program.decl(collective);
  ElementType compared = timedElementBytes(decl) == 1 ? ElementType::U8 : ElementType::F64;
  InstantiateRequest request;
  request.collective = collective;
  request.ranks = topology.numRanks();
  request.topology = &topology;
  request.type = call.type.value_or(compared);
  request.inPlace = call.inPlace;
  uint64_t least = call.bytes > 0 && hasElements(decl);
  request.elements = std::max(call.bytes / sizeBytes(request.type), least);
  request.values.resize(decl.params.size());
  std::vector<int64_t> counts(request.ranks, static_cast<int64_t>(request.elements));
  for (size_t p = 0; p < decl.params.size(); ++p) {
    const Param &param = decl.params[p];
    auto given = call.values.find(program.nameOf(param));
    if (given != call.values.end())
      request.values[p] = given->second;
    else if (param.type == ValueType::IntList && param.defaultValue == kNoExpr)
      request.values[p] = counts;
  }
  return request;
}

Result<CandidateFinder> CandidateFinder::of(Library &library, const CostModel &cost,
                                            const Topology &topology) {
  Result<const std::vector<SelectionRule> *> rules = library.rules();
  if (!rules)
    return rules.status();
  return CandidateFinder(**library.program(), **rules, cost, topology); // rules() has checked it
}

// False: the request has no schedule for these ranks.
bool CandidateFinder::predict(const InstantiateRequest &request, uint64_t mostOps,
                              uint64_t &opsLeft, RatedCandidate &candidate) const {
  Result<size_t> ofOne = opsOfFirstRank(program_, request);
  if (!ofOne)
    return false;
  uint64_t ops = *ofOne * request.ranks; // about
  if (ops > std::min(opsLeft, mostOps))
    return true;
  opsLeft -= ops;
  if (Result<uint64_t> ns = cost_.makespanNs(program_, request))
    candidate.ns = *ns;
  return true;
}

void CandidateFinder::add(DeclId collective, const CandidateCall &call, uint64_t mostOps,
                          uint64_t &opsLeft, std::vector<RatedCandidate> &found) const {
  const Decl &decl = program_.decl(collective);
  if (call.inPlace && decl.aliases.empty())
    return;
  InstantiateRequest request = requestFor(program_, collective, call, topology_);
  std::vector<ParamValues> choices = choicesOf({program_, request, cost_});
  auto first = static_cast<ptrdiff_t>(found.size());
  for (const std::vector<int64_t> &values : combinationsOf(choices)) {
    RatedCandidate candidate;
    candidate.what.name = program_.nameOf(decl);
    for (size_t i = 0; i < values.size(); ++i) {
      request.values[choices[i].param] = values[i];
      candidate.what.values.push_back({program_.nameOf(decl.params[choices[i].param]), values[i]});
    }
    bool isThere = predict(request, mostOps, opsLeft, candidate);
    bool isKnown =
        std::any_of(found.begin() + first, found.end(), [&](const RatedCandidate &other) {
          return other.ns && other.ns == candidate.ns;
        });
    if (isThere && !isKnown)
      found.push_back(std::move(candidate));
  }
}

// The model knows neither caches nor the cost of a message beside others; `reach` allows for that.
std::vector<RatedCandidate> CandidateFinder::find(const CandidateCall &call,
                                                  const CandidateLimits &limits) const {
  std::vector<RatedCandidate> found;
  uint64_t opsLeft = limits.mostOps;
  for (DeclId collective : collectivesFor(program_, rules_, call.function))
    add(collective, call, limits.mostOpsOfOne, opsLeft, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const RatedCandidate &a, const RatedCandidate &b) {
                     return a.ns.value_or(UINT64_MAX) < b.ns.value_or(UINT64_MAX);
                   });
  auto known =
      std::find_if(found.begin(), found.end(), [](const RatedCandidate &c) { return c.ns; });
  uint64_t best = known == found.end() ? UINT64_MAX : std::max<uint64_t>(*known->ns, 1);
  uint64_t most = best > UINT64_MAX / limits.reach ? UINT64_MAX : best * limits.reach;
  std::erase_if(found, [&](const RatedCandidate &c) {
    return (!c.ns && limits.needsModel) || c.ns.value_or(0) > most;
  });
  found.resize(std::min(found.size(), limits.most));
  return found;
}

CandidatesOfPoint CandidateFinder::make(const std::string &function, uint64_t bytes,
                                        const CandidateLimits &limits) const {
  CandidatesOfPoint point{function, bytes, {}};
  CandidateCall call;
  call.function = function;
  call.bytes = bytes;
  for (RatedCandidate &candidate : find(call, limits))
    point.candidates.push_back(std::move(candidate.what));
  return point;
}

} // namespace colldsl
