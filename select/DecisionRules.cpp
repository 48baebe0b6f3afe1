#include "select/DecisionRules.h"

#include "ir/Concat.h"
#include "passes/PackProgram.h"
#include "program/CallInterface.h"
#include "program/Operands.h"
#include "select/Function.h"

#include <algorithm>
#include <set>

namespace colldsl {
namespace {

/// True if the program allows the value of a parameter. Each call checks bounds that are not
/// literals.
bool allows(const Program &program, const Param &param, int64_t value) {
  if (param.type == ValueType::Bool)
    return value == 0 || value == 1;
  auto holds = [&](const Candidate &candidate) {
    auto lo = literalOf(program, candidate.lo);
    auto hi = candidate.hi == kNoExpr ? lo : literalOf(program, candidate.hi);
    return (!lo || *lo <= value) && (!hi || value <= *hi);
  };
  return param.candidates.empty()
             ? value > 0
             : std::any_of(param.candidates.begin(), param.candidates.end(), holds);
}

Status checkValue(const Program &program, const Decl &decl, const TunedCollective::Value &given) {
  std::vector<bool> isInContract = contractParams(program, decl);
  const std::string &name = program.nameOf(decl);
  for (size_t p = 0; p < decl.params.size(); ++p) {
    const Param &param = decl.params[p];
    if (param.isBuffer || program.nameOf(param) != given.parameter)
      continue;
    if (isInContract[p])
      return Status::error(
          concat("'", given.parameter, "' of '", name, "' is the caller's to choose"));
    bool isNumber = param.type == ValueType::Int || param.type == ValueType::Bytes ||
                    param.type == ValueType::Bool;
    if (!isNumber)
      return Status::error(concat("'", given.parameter, "' of '", name, "' is no number"));
    if (!allows(program, param, given.value))
      return Status::error(
          concat("'", given.parameter, "' of '", name, "' cannot be ", given.value));
    return {};
  }
  return Status::error(concat("'", name, "' has no parameter '", given.parameter, "'"));
}

/// An error if there is no schedule for so many ranks: tries that of rank 0 for some elements. For
/// more ranks than kMostRanks each call checks that.
Status tryOut(const Program &program, DeclId id, const Decision &decision) {
  constexpr uint32_t kMostRanks = 1 << 14;
  if (decision.ranks > kMostRanks)
    return {};
  const Decl &decl = program.decl(id);
  InstantiateRequest request;
  request.collective = id;
  request.ranks = decision.ranks;
  request.elements = 64;
  request.values.resize(decl.params.size());
  for (size_t p = 0; p < decl.params.size(); ++p) {
    const Param &param = decl.params[p];
    if (param.type == ValueType::IntList && param.defaultValue == kNoExpr && !param.isBuffer)
      request.values[p] = std::vector<int64_t>(decision.ranks, 1);
    for (const TunedCollective::Value &given : decision.use.values)
      if (!param.isBuffer && program.nameOf(param) == given.parameter)
        request.values[p] = given.value;
  }
  Result<size_t> made = opsOfFirstRank(program, request);
  return made ? Status()
              : Status::error(concat("'", decision.use.words(), "' is not for ", decision.ranks,
                                     " ranks: ", made.message()));
}

ExprId addLiteral(Program &program, DeclId decl, uint32_t param, int64_t value) {
  Expr expr;
  expr.kind = ExprKind::IntLit;
  expr.type = program.decl(decl).params[param].type;
  expr.owner = decl;
  expr.value = value;
  program.exprs.push_back(expr);
  return ExprId{static_cast<uint32_t>(program.exprs.size() - 1)};
}

SelectionRule ruleOf(const Decision &decision, DeclId collective) {
  SelectionRule rule;
  rule.function = decision.function;
  rule.minRanks = rule.maxRanks = decision.ranks;
  rule.minNodes = rule.maxNodes = decision.nodes;
  rule.minBytes = decision.minBytes;
  rule.maxBytes = decision.maxBytes;
  rule.needsCommutative = decision.needsCommutative;
  rule.collective = index(collective);
  return rule;
}

Status addArguments(const Program &program, const Decision &decision, const AddArgument &add,
                    SelectionRule &rule) {
  DeclId id{rule.collective};
  for (const TunedCollective::Value &given : decision.use.values) {
    const std::vector<Param> &params = program.decl(id).params;
    auto param = std::find_if(params.begin(), params.end(), [&](const Param &p) {
      return !p.isBuffer && program.nameOf(p) == given.parameter;
    });
    Result<uint32_t> added = add(id, static_cast<uint32_t>(param - params.begin()), given.value);
    if (!added)
      return added.status();
    rule.arguments.push_back(*added);
  }
  return {};
}

} // namespace

Result<DeclId> checkDecision(const Program &program, std::span<const SelectionRule> rules,
                             const Decision &decision) {
  DeclId model = modelOf(rules, decision.function);
  if (model == kNoDecl)
    return Status::error(concat("there is no function '", decision.function, "'"));
  DeclId id = program.find(decision.use.name, DeclKind::Collective);
  if (id == kNoDecl)
    return Status::error(concat("there is no collective '", decision.use.name, "'"));
  const Decl &decl = program.decl(id), &known = program.decl(model);
  std::string why = CallInterface(program, decl).whyNotFor(CallInterface(program, known));
  if (!why.empty())
    return Status::error(
        concat("'", decision.use.name, "' serves no ", decision.function, ": ", why));
  std::set<std::string> seen;
  for (const TunedCollective::Value &given : decision.use.values) {
    if (!seen.insert(given.parameter).second)
      return Status::error(concat("'", given.parameter, "' is given twice"));
    if (Status s = checkValue(program, decl, given); !s)
      return s;
  }
  if (reduces(decl) && !decision.needsCommutative)
    return Status::error(concat("decisions for ", decision.function,
                                " are for operators that commute: 'commutative' is missing"));
  if (Status s = tryOut(program, id, decision); !s)
    return s;
  return id;
}

Result<std::vector<SelectionRule>> rulesOf(const Program &program,
                                           std::span<const SelectionRule> rules,
                                           std::span<const Decision> decisions,
                                           const AddArgument &add) {
  std::vector<SelectionRule> made;
  auto fail = [](size_t i, const Status &s) {
    return Status::error(concat("decisions[", i, "]: ", s.message()));
  };
  for (size_t i = 0; i < decisions.size(); ++i) {
    Result<DeclId> collective = checkDecision(program, rules, decisions[i]);
    if (!collective)
      return fail(i, collective.status());
    made.push_back(ruleOf(decisions[i], *collective));
  }
  for (size_t i = 0; i < decisions.size(); ++i)
    if (Status s = addArguments(program, decisions[i], add, made[i]); !s)
      return fail(i, s);
  return made;
}

Status prefer(Library &library, const MachineProfile &profile) {
  return library.precede(
      [&](Program &program, std::span<const SelectionRule> rules) -> Result<Library::FirstRules> {
        auto add = [&](DeclId collective, uint32_t param, int64_t value) -> Result<uint32_t> {
          program.arguments.push_back(
              {collective, param, addLiteral(program, collective, param, value)});
          return static_cast<uint32_t>(program.arguments.size() - 1);
        };
        Result<std::vector<SelectionRule>> made = rulesOf(program, rules, profile.decisions, add);
        if (!made)
          return made.status();
        lower(program);
        if (made->empty())
          return Library::FirstRules{};
        bool hasCosts = profile.model != MachineModel(); // jobs that learn measure none
        return Library::FirstRules{made.take(), profile.hash(),
                                   hasCosts ? std::make_shared<const MachineModel>(profile.model)
                                            : nullptr};
      });
}

} // namespace colldsl
