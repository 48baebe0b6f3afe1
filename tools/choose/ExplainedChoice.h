/// The choice for a function in the situation that options describe, with its reasons: for
/// `choose`, and for Python.
#pragma once

#include "select/Choice.h"
#include "tools/input/Functions.h"

#include "llvm/Support/JSON.h"

namespace colldsl::tools {

struct ChooseOptions {
  SingleOptions single;
  std::optional<uint32_t> root;
  std::string rules; ///< a file of rules that choose in place of those of the library; empty: none
  bool oversubscribed = false;

  /// This object outlives the parse.
  void addTo(Options &options);
};

struct ExplainedChoice {
  Situation situation; ///< of the function that was asked for, whose name outlives this
  bool inPlace = false;
  Choice choice;
  bool isDecision = false; ///< of the machine profile
  std::string rule;        ///< as a line of a file of rules
  std::string place;       ///< "stdlib/selection.rules:31", "mine.cdag, rule 3 for bcast"
  std::string model;       ///< what times are predicted by: "the machine profile"
};

/// Chooses among the rules of the source. An error has notes if no rule fits. `function` outlives
/// the result; the rules of the choice live as long as the source.
Result<ExplainedChoice> explainChoice(Source &source, const std::string &function,
                                      const ChooseOptions &options);

/// All of it: what `colldsl choose --json` prints.
llvm::json::Object toJson(const ExplainedChoice &explained);

} // namespace colldsl::tools
