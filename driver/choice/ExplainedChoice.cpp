#include "driver/choice/ExplainedChoice.h"

#include "compiler/Spelling.h"
#include "driver/Lists.h"
#include "driver/choice/Functions.h"
#include "driver/files/ReadInput.h"
#include "driver/rules/Rules.h"
#include "select/Function.h"
#include "topology/KnownModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace colldsl::driver {
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
Status requireFunction(Source &source, const std::string &function, const ChoiceRequest &request) {
  if (source.program().find(function, DeclKind::Collective) != kNoDecl)
    return Status::error("'" + function +
                         "' is a collective, and serves itself: rules choose for " +
                         "functions, such as bcast");
  if (request.rules.empty() && source.addRulesFor(function))
    return {};
  std::vector<std::string> known = functionsOf(source.rules());
  if (llvm::is_contained(known, function))
    return {};
  std::vector<llvm::StringRef> names(known.begin(), known.end());
  if (request.rules.empty() && !source.library())
    names = functionNames();
  std::string hint = didYouMean(nearestWord(function, names));
  return Status::error("there is no function '" + function + "'; " +
                       (hint.empty() ? "there are " + llvm::join(names, ", ") : hint));
}

/// The costs for predictions, and their name: those of the options, else of the profile, else those
/// that plans assume.
std::pair<CostModel, std::string> costsFor(const ChoiceRequest &request,
                                           const MachineProfile *profile) {
  CostModel cost = request.single.schedule.machine.cost();
  if (request.single.schedule.machine.isModelGiven())
    return {cost, "the machine model that is given"};
  bool isMeasured = profile && profile->model != MachineModel();
  cost.machine = isMeasured ? profile->model : knownModel(KnownModel::Cluster);
  return {cost, isMeasured ? "the machine profile" : "the machine model 'cluster'"};
}

Result<CandidateCall> callOf(Source &source, const Situation &situation,
                             const ChoiceRequest &request) {
  const SingleRequest &single = request.single;
  CandidateCall call;
  call.function = std::string(situation.function);
  call.bytes = situation.bytes;
  call.type = situation.type;
  call.inPlace = single.schedule.inPlace;
  if (Status s = checkWhole(call.bytes, sizeBytes(situation.type), call.function); !s)
    return s;
  if (single.schedule.reduction)
    call.values["op"] = static_cast<int64_t>(*single.schedule.reduction);
  if (request.root && *request.root >= situation.ranks)
    return Status::error("--root " + std::to_string(*request.root) + ": there are " +
                         counted(situation.ranks, "rank"));
  if (request.root)
    call.values["root"] = int64_t{*request.root};
  DeclId model = modelOf(source.rules(), call.function);
  for (const auto &[name, value] : call.values)
    if (llvm::none_of(source.program().decl(model).params,
                      [&](const Param &param) { return source.program().nameOf(param) == name; }))
      return Status::error("--" + name + ": '" + call.function + "' has no such parameter");
  return call;
}

std::string placeOf(const Source &source, const Chooser &chooser, const SelectionRule &rule,
                    const ChoiceRequest &request) {
  if (chooser.isDecision(rule))
    return "'" + profilePath() + "', " + chooser.nameOf(rule);
  if (source.library())
    return "'" + source.mainFile() + "', " + chooser.nameOf(rule);
  std::string file = request.rules.empty() ? kStandardRules : shownName(request.rules);
  return file + ":" + std::to_string(rule.line);
}

/// Text as valid UTF-8: names from files need not be it.
std::string jsonText(llvm::StringRef text) { return llvm::json::fixUTF8(text); }

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

Status explain(Session &session, const ChoiceRequest &request, ExplainedChoice &explained) {
  Source &source = *explained.source;
  const std::string &function = source.names().front();
  if (!request.rules.empty() && source.library())
    return Status::error("--rules: a library has its own");
  if (Status s = request.rules.empty() ? Status() : useRules(source, request.rules); !s)
    return s;
  if (Status s = requireFunction(source, function, request); !s)
    return s;
  Result<Situation> situation = situationOf(function, request.single);
  if (!situation)
    return situation.status();
  situation->oversubscribed = request.oversubscribed && situation->nodes == 1;
  Result<CandidateCall> call = callOf(source, *situation, request);
  if (!call)
    return call.status();
  Chooser chooser = source.chooser(request.rules.empty());
  const SelectionRule *rule = decidingRule(source, chooser, *situation, request.single);
  if (!rule)
    return noRuleFits(*situation, chooser);
  const MachineProfile *profile = session.profile();
  auto [cost, model] = costsFor(request, profile);
  Topology topology = *Topology::make(request.single.schedule.topology, situation->ranks);
  std::span<const TuningPoint> measured;
  if (profile && !source.library())
    measured = profile->points;
  CandidateLimits limits;
  limits.most = kMostAlternatives;
  limits.reach = UINT64_MAX;
  ChoiceContext context{chooser, cost, topology, measured, limits};
  explained.situation = *situation;
  explained.inPlace = call->inPlace;
  explained.choice = explainChoice(*situation, *call, *rule, context);
  explained.isDecision = chooser.isDecision(*rule);
  explained.rule = printRule(*rule, source.program(), textsOf(source));
  explained.place = placeOf(source, chooser, *rule, request);
  explained.model = model;
  return {};
}

} // namespace

std::optional<ExplainedChoice> chooseExplained(Session &session,
                                               const std::vector<std::string> &operands,
                                               const ChoiceRequest &request, std::string &refusal) {
  ExplainedChoice explained;
  explained.source = Source::read(session, operands, request.single.schedule);
  if (!explained.source)
    return std::nullopt;
  if (explained.source->names().size() != 1 || !explained.source->isProgram()) {
    refusal = "name one function, such as bcast, and no schedule";
    return std::nullopt;
  }
  Status s = explain(session, request, explained);
  if (s)
    return explained;
  session.sink().error(s.diagnostic());
  for (const Diagnostic &note : s.diagnostic().notes)
    session.sink().take(Severity::Note, "colldsl: note: " + note.message + "\n");
  return std::nullopt;
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
                            {"multicast", s.multicast},
                            {"tcp", s.tcp},
                            {"inPlace", explained.inPlace},
                            {"rule", std::move(rule)},
                            {"chosen", toJson(explained.choice.chosen)},
                            {"others", std::move(others)},
                            {"model", jsonText(explained.model)}};
}

} // namespace colldsl::driver
