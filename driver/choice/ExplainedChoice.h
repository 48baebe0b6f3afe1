/// The choice for a function in the situation that a request describes, with its reasons.
#pragma once

#include "driver/requests/ChoiceRequest.h"
#include "driver/source/Source.h"
#include "select/Choice.h"

#include "llvm/Support/JSON.h"

namespace colldsl::driver {

struct ExplainedChoice {
  std::unique_ptr<Source> source; ///< has the rules of the choice, and the function's name
  Situation situation;            ///< of the function that was asked for
  bool inPlace = false;
  Choice choice;
  bool isDecision = false; ///< of the machine profile
  std::string rule;        ///< as a line of a file of rules
  std::string place;       ///< "stdlib/selection.rules:31", "mine.cdag, rule 3 for bcast"
  std::string model;       ///< what times are predicted by: "the machine profile"
};

/// Reads the operands, a function and the files whose rules choose, and chooses. Nothing after a
/// mistake, which is reported, or if they name no single function, which `refusal` tells then.
std::optional<ExplainedChoice> chooseExplained(Session &session,
                                               const std::vector<std::string> &operands,
                                               const ChoiceRequest &request, std::string &refusal);

/// All of it, for programs.
llvm::json::Object toJson(const ExplainedChoice &explained);

} // namespace colldsl::driver
