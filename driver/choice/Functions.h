/// Functions among the operands, such as `bcast`: the rules of the standard library, or of the
/// schedule library that was read, choose collectives for them.
#pragma once

#include "driver/requests/Purpose.h"
#include "driver/schedule/SingleSchedule.h"
#include "select/Chooser.h"

namespace colldsl::driver {

/// The situation of the call that the request describes, of the function of that name, which
/// outlives it. An error: the number of ranks is unknown, or the topology is wrong.
Result<Situation> situationOf(const std::string &function, const SingleRequest &request,
                              Purpose purpose = Purpose::Make);

/// The rule that decides: the first that fits, but for those whose collective was imported and has
/// no image for the call; if all that fit are such, the first. Null: none fits.
const SelectionRule *decidingRule(Source &source, const Chooser &chooser,
                                  const Situation &situation, const SingleRequest &request);

/// The texts of all files, including those of rules' arguments: for printRule().
std::vector<LibrarySource> textsOf(const Source &source);

/// Replaces each function by the collective that the rules choose, which it reports. False, after a
/// message: no rule fits, or the number of ranks is unknown.
bool chooseForFunctions(Source &source, std::vector<Source::Target> &targets,
                        const SingleRequest &request, Purpose purpose = Purpose::Make);

/// The one target of a request.
struct ChosenTarget {
  std::optional<Source::Target> target; ///< nothing: a mistake was reported, or
  std::string refusal;                  ///< the request names several, which this tells
};

/// Chooses the one target that the operands and --name leave. If it is a function, its rules choose
/// the collective.
ChosenTarget chooseOne(Source &source, const SingleRequest &request);

/// Replaces each function by all collectives that rules may choose for it.
void expandFunctions(Source &source, std::vector<Source::Target> &targets);

} // namespace colldsl::driver
