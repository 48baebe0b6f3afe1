#include "tools/choose/ExplainedChoice.h"

#include "compiler/Spelling.h"
#include "select/Function.h"
#include "tools/input/Profile.h"
#include "tools/input/ReadInput.h"
#include "tools/library/Rules.h"
#include "tools/options/Json.h"
#include "tools/options/Lists.h"
#include "topology/KnownModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace colldsl::tools {
namespace {

constexpr size_t kMostAlternatives = 256;

/// Makes the rules of the file those of the source.
Status useRules(Source &source, const std::string &path) {
  Result<std::string> text = rulesText(path);
  if (!text)
    return text.status();
  Result<std::vector<SelectionRule>> rules =
      readRules(shownName(path), *text, source.compilation());
  if (!rules)
    return rules.status();
  source.setRules(rules.take());
  return {};
}

/// An error: nothing chooses for this name.
Status requireFunction(Source &source, const std::string &function, const ChooseOptions &options) {
  if (source.program().find(function, DeclKind::Collective) != kNoDecl)
    return Status::error("'" + function +
                         "' is a collective, and serves itself: rules choose for " +
                         "functions, such as bcast");
  if (options.rules.empty() && source.addRulesFor(function))
    return {};
  std::vector<std::string> known = functionsOf(source.rules());
  if (llvm::is_contained(known, function))
    return {};
  std::vector<llvm::StringRef> names(known.begin(), known.end());
  if (options.rules.empty() && !source.library())
    names = functionNames();
  std::string hint = didYouMean(nearestWord(function, names));
  return Status::error("there is no function '" + function + "'; " +
                       (hint.empty() ? "there are " + llvm::join(names, ", ") : hint));
}

/// The costs for predictions, and their name: those of the options, else of the profile, else those
/// that plans assume.
std::pair<CostModel, std::string> costsFor(const ChooseOptions &options,
                                           const MachineProfile *profile) {
  CostModel cost = options.single.schedule.machine.cost();
  if (options.single.schedule.machine.isModelGiven())
    return {cost, "the machine model that is given"};
  bool isMeasured = profile && profile->model != MachineModel();
  cost.machine = isMeasured ? profile->model : knownModel(KnownModel::Cluster);
  return {cost, isMeasured ? "the machine profile" : "the machine model 'cluster'"};
}

Result<CandidateCall> callOf(Source &source, const Situation &situation,
                             const ChooseOptions &options) {
  const SingleOptions &single = options.single;
  CandidateCall call;
  call.function = std::string(situation.function);
  call.bytes = situation.bytes;
  call.type = situation.type;
  call.inPlace = single.schedule.inPlace;
  if (call.bytes % sizeBytes(situation.type) != 0)
    return Status::error("--bytes " + std::to_string(call.bytes) + ": elements have " +
                         counted(sizeBytes(situation.type), "byte"));
  if (single.schedule.reduction)
    call.values["op"] = static_cast<int64_t>(*single.schedule.reduction);
  if (options.root && *options.root >= situation.ranks)
    return Status::error("--root " + std::to_string(*options.root) + ": there are " +
                         counted(situation.ranks, "rank"));
  if (options.root)
    call.values["root"] = int64_t{*options.root};
  DeclId model = modelOf(source.rules(), call.function);
  for (const auto &[name, value] : call.values)
    if (llvm::none_of(source.program().decl(model).params,
                      [&](const Param &param) { return source.program().nameOf(param) == name; }))
      return Status::error("--" + name + ": '" + call.function + "' has no such parameter");
  return call;
}

std::string placeOf(const Source &source, const Chooser &chooser, const SelectionRule &rule,
                    const ChooseOptions &options) {
  if (chooser.isDecision(rule))
    return "'" + profilePath() + "', " + chooser.nameOf(rule);
  if (source.library())
    return "'" + source.mainFile() + "', " + chooser.nameOf(rule);
  std::string file = options.rules.empty() ? kStandardRules : shownName(options.rules);
  return file + ":" + std::to_string(rule.line);
}

llvm::json::Object toJson(const Alternative &one) {
  llvm::json::Object values;
  for (const TunedCollective::Value &value : one.what.values)
    values[jsonText(value.parameter)] = value.value;
  llvm::json::Object object{{"collective", jsonText(one.what.name)}, {"values", std::move(values)}};
  object["predictedNs"] = one.predictedNs ? llvm::json::Value(*one.predictedNs) : nullptr;
  object["measuredNs"] = one.measured ? llvm::json::Value(one.measured->ns) : nullptr;
  object["noise"] = one.measured ? llvm::json::Value(one.measured->noise) : nullptr;
  if (one.measured)
    object["learned"] = one.measured->isLearned;
  if (!one.why.empty())
    object["why"] = jsonText(one.why);
  return object;
}

} // namespace

void ChooseOptions::addTo(Options &options) {
  options.section("for which call");
  single.addCall(options, "where the ranks sit (default: flat, all on one node)");
  single.schedule.addElements(options);
  options.add("--root", "R", "the root, of a function that has one (default: 0)",
              [this](llvm::StringRef text) -> Status {
                Result<uint64_t> number = parseNumber(text, 0, UINT32_MAX);
                if (number)
                  root = static_cast<uint32_t>(*number);
                return number.status();
              });
  options.addFlag("--oversubscribed", "as if the ranks had fewer cores than there are ranks",
                  oversubscribed);
  options.section("by which rules");
  options.addText("--rules", "FILE",
                  "rules that choose, in place of those of the standard library and of\n"
                  "the machine profile",
                  rules) = completionOfFiles({".rules"});
  single.schedule.addInclude(options);
  single.schedule.usesProfile = true;
  single.schedule.machine.addTo(options);
}

Result<ExplainedChoice> explainChoice(Source &source, const std::string &function,
                                      const ChooseOptions &options) {
  if (!options.rules.empty() && source.library())
    return Status::error("--rules: a library has its own");
  if (Status s = options.rules.empty() ? Status() : useRules(source, options.rules); !s)
    return s;
  if (Status s = requireFunction(source, function, options); !s)
    return s;
  Result<Situation> situation = situationOf(function, options.single);
  if (!situation)
    return situation.status();
  situation->oversubscribed = options.oversubscribed && situation->nodes == 1;
  Result<CandidateCall> call = callOf(source, *situation, options);
  if (!call)
    return call.status();
  Chooser chooser = source.chooser(options.rules.empty());
  const SelectionRule *rule = decidingRule(source, chooser, *situation, options.single);
  if (!rule)
    return noRuleFits(*situation, chooser);
  const MachineProfile *profile = ownProfile();
  auto [cost, model] = costsFor(options, profile);
  Topology topology = *Topology::make(options.single.schedule.topology, situation->ranks);
  std::span<const TuningPoint> measured;
  if (profile && !source.library())
    measured = profile->points;
  CandidateLimits limits;
  limits.most = kMostAlternatives;
  limits.reach = UINT64_MAX;
  ChoiceContext context{chooser, cost, topology, measured, limits};
  ExplainedChoice explained;
  explained.situation = *situation;
  explained.inPlace = call->inPlace;
  explained.choice = colldsl::explainChoice(*situation, *call, *rule, context);
  explained.isDecision = chooser.isDecision(*rule);
  explained.rule = printRule(*rule, source.program(), textsOf(source));
  explained.place = placeOf(source, chooser, *rule, options);
  explained.model = model;
  return explained;
}

llvm::json::Object toJson(const ExplainedChoice &explained) {
  const Situation &s = explained.situation;
  llvm::json::Array others;
  for (const Alternative &other : explained.choice.others)
    others.push_back(toJson(other));
  llvm::json::Object rule{{"text", jsonText(explained.rule)},
                          {"place", jsonText(explained.place)},
                          {"decision", explained.isDecision}};
  if (explained.choice.rule->line)
    rule["line"] = explained.choice.rule->line;
  return llvm::json::Object{{"function", jsonText(std::string(s.function))},
                            {"ranks", s.ranks},
                            {"nodes", s.nodes},
                            {"bytes", s.bytes},
                            {"type", jsonText(std::string(spelling(s.type)))},
                            {"commutative", s.commutative},
                            {"oversubscribed", s.oversubscribed},
                            {"inPlace", explained.inPlace},
                            {"rule", std::move(rule)},
                            {"chosen", toJson(explained.choice.chosen)},
                            {"others", std::move(others)},
                            {"model", jsonText(explained.model)}};
}

} // namespace colldsl::tools
