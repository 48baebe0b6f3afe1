#include "driver/choice/Functions.h"

#include "driver/rules/Rules.h"
#include "runtime/StoredImages.h"
#include "runtime/job/LocalRanks.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

std::optional<Reduction> reductionOf(const ScheduleRequest &request) {
  std::optional<Reduction> reduction = request.reduction;
  for (const ScheduleRequest::Setting &setting : request.settings)
    if (setting.name == "op")
      reduction = parseReduction(setting.value);
  return reduction;
}

/// False: the collective was imported, and has no image for the call.
bool serves(Source &source, const Source::Target &target, const SingleRequest &request) {
  auto imported =
      source.library() ? source.library()->imported() : Status::error("there is no library");
  if (!imported || !unitOf(**imported, target.name))
    return true;
  Result<SinglePlan> plan = planSingle(source, target, request);
  if (!plan)
    return false;
  Result<const LibraryImage *> image = imageFor(source, target, request, *plan);
  return image && *image;
}

Result<Source::Target> chosen(Source &source, const std::string &function,
                              const SingleRequest &request, Purpose purpose) {
  Result<Situation> situation = situationOf(function, request, purpose);
  if (!situation)
    return situation.status();
  Chooser chooser = source.chooser(/*usesProfile=*/true);
  const SelectionRule *rule = decidingRule(source, chooser, *situation, request);
  if (!rule)
    return Status::error("no rule for '" + function + "' fits " + std::to_string(situation->ranks) +
                         " ranks and " + std::to_string(situation->bytes) + " bytes");
  source.session().sink().take(
      Severity::Note, "colldsl: " + function + ": " +
                          printRule(*rule, source.program(), textsOf(source)) +
                          (chooser.isDecision(*rule) ? ", by the machine profile" : "") + "\n");
  return source.ruled(*rule);
}

/// The names of the first targets.
std::string namesOf(llvm::ArrayRef<Source::Target> targets) {
  constexpr size_t kShown = 6;
  std::string names;
  for (const Source::Target &target : targets.take_front(kShown))
    names += (names.empty() ? "" : ", ") + target.name;
  return names + (targets.size() > kShown ? ", ..." : "");
}

} // namespace

Result<Situation> situationOf(const std::string &function, const SingleRequest &request,
                              Purpose purpose) {
  if (!request.ranks)
    return Status::error(
        "'" + function +
        "' is a function, whose rules choose by the number of ranks: give it with -n");
  Result<Topology> topology = Topology::make(request.schedule.topology, *request.ranks);
  if (!topology)
    return topology.status();
  Situation situation =
      Situation::on(*topology, purpose == Purpose::Run && shareCores(*request.ranks));
  situation.multicast = request.multicast;
  situation.tcp = request.tcp;
  situation.function = function;
  situation.bytes = request.bytes.value_or(kUsualBytes);
  situation.type = request.schedule.elementType();
  situation.commutative = commutes(reductionOf(request.schedule));
  return situation;
}

const SelectionRule *decidingRule(Source &source, const Chooser &chooser,
                                  const Situation &situation, const SingleRequest &request) {
  const SelectionRule *first = chooser.choose(situation), *rule = first;
  while (rule && !serves(source, source.ruled(*rule), request))
    rule = chooser.choose(situation, rule);
  return rule ? rule : first; // whose error says what it serves
}

std::vector<LibrarySource> textsOf(const Source &source) {
  std::vector<LibrarySource> texts;
  for (uint16_t i = 0; i < source.program().files.size(); ++i)
    texts.push_back({source.program().files[i], std::string(source.compilation().sourceText(i))});
  return texts;
}

bool chooseForFunctions(Source &source, std::vector<Source::Target> &targets,
                        const SingleRequest &request, Purpose purpose) {
  for (Source::Target &target : targets) {
    if (!target.isFunction)
      continue;
    Result<Source::Target> collective = chosen(source, target.name, request, purpose);
    if (!collective)
      return source.session().sink().error(collective.status().diagnostic());
    target = collective.take();
  }
  return true;
}

ChosenTarget chooseOne(Source &source, const SingleRequest &request) {
  std::vector<Source::Target> targets = source.choose(request.schedule);
  if (targets.size() > 1)
    return {std::nullopt, "one schedule at a time: choose among " + std::to_string(targets.size()) +
                              " with --name: " + namesOf(targets)};
  if (targets.empty() || !chooseForFunctions(source, targets, request) ||
      !usedAllSettings(source, targets, request.schedule))
    return {};
  return {targets.front(), ""};
}

void expandFunctions(Source &source, std::vector<Source::Target> &targets) {
  std::vector<Source::Target> all;
  auto isKnown = [&](const Source::Target &target) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Source::Target &known) { return known.name == target.name; });
  };
  for (const Source::Target &target : targets) {
    if (!target.isFunction) {
      all.push_back(target);
      continue;
    }
    for (const SelectionRule &rule : source.rules())
      if (rule.function == target.name)
        if (Source::Target collective = source.collective(DeclId{rule.collective});
            !isKnown(collective))
          all.push_back(collective);
  }
  targets = std::move(all);
}

} // namespace colldsl::driver
