#include "driver/source/Functions.h"

#include "driver/library/Rules.h"
#include "transports/shm/Sleep.h"

#include <algorithm>

namespace colldsl::driver {
namespace {

/// True if the chosen reduction commutes. Without a choice it is true, as for most operators.
bool commutes(const ScheduleRequest &options) {
  std::optional<Reduction> reduction = options.reduction;
  for (const ScheduleRequest::Setting &setting : options.settings)
    if (setting.name == "op")
      reduction = parseReduction(setting.value);
  return !reduction || isCommutative(*reduction);
}

Result<Situation> situationOf(const std::string &function, const SingleRequest &options) {
  if (!options.ranks)
    return Status::error(
        "'" + function +
        "' is a function, whose rules choose by the number of ranks: give it with -n");
  Result<Topology> topology = Topology::make(options.schedule.topology, *options.ranks);
  if (!topology)
    return topology.status();
  Situation situation;
  situation.function = function;
  situation.ranks = *options.ranks;
  situation.bytes = options.bytes.value_or(kUsualBytes);
  situation.nodes = topology->numGroups(Level::Node);
  situation.type = options.schedule.type;
  situation.commutative = commutes(options.schedule);
  situation.oversubscribed =
      options.schedule.runs && situation.nodes == 1 && shm::isOversubscribed(situation.ranks);
  return situation;
}

/// The texts of all files, including those of rules' arguments.
std::vector<LibrarySource> textsOf(const Source &source) {
  std::vector<LibrarySource> texts;
  for (uint16_t i = 0; i < source.program().files.size(); ++i)
    texts.push_back({source.program().files[i], std::string(source.compilation().sourceText(i))});
  return texts;
}

Result<Source::Target> chosen(Source &source, const std::string &function,
                              const SingleRequest &options) {
  Result<Situation> situation = situationOf(function, options);
  if (!situation)
    return situation.status();
  const std::vector<SelectionRule> &rules = source.rules();
  auto rule = std::find_if(rules.begin(), rules.end(),
                           [&](const SelectionRule &r) { return fits(r, *situation); });
  if (rule == rules.end())
    return Status::error("no rule for '" + function + "' fits " + std::to_string(situation->ranks) +
                         " ranks and " + std::to_string(situation->bytes) + " bytes");
  source.session().sink().take(
      Severity::Note, "colldsl: " + function + ": " +
                          printRule(*rule, source.program(), textsOf(source)) +
                          (source.isDecision(*rule) ? ", by the machine profile" : "") + "\n");
  return source.ruled(*rule);
}

} // namespace

bool chooseForFunctions(Source &source, std::vector<Source::Target> &targets,
                        const SingleRequest &options) {
  for (Source::Target &target : targets) {
    if (!target.isFunction)
      continue;
    Result<Source::Target> collective = chosen(source, target.name, options);
    if (!collective)
      return source.session().sink().error(collective.status().diagnostic());
    target = collective.take();
  }
  return true;
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
