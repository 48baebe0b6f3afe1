#include "driver/Lists.h"
#include "driver/choice/ExplainedChoice.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"
#include "tools/run/CallTimes.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <set>

namespace colldsl::tools {
namespace {

struct ChooseSettings {
  ChoiceRequest request;
  bool all = false;
  bool json = false;

  void addTo(Options &options);
};

void ChooseSettings::addTo(Options &options) {
  request.addTo(options);
  options.section("what to tell");
  options.addFlag("--all", "each candidate with all values of its parameters that are tried", all);
  options.addFlag("--json", "print one JSON object, with all candidates", json);
}

std::string predictedWord(const Alternative &one) {
  return one.predictedNs ? timeWord(static_cast<int64_t>(*one.predictedNs)) : "-";
}

std::string measuredWord(const Alternative &one) {
  return one.measured ? timeWord(std::llround(one.measured->ns)) : "-";
}

std::string noiseWord(const Alternative &one) {
  return one.measured ? llvm::formatv("{0:f1} %", 100 * one.measured->noise).str() : "-";
}

void addRow(Table &table, const Alternative &one) {
  table.addRow({one.what.words(), predictedWord(one), measuredWord(one), noiseWord(one),
                one.why.empty() ? "is chosen" : one.why});
}

/// The candidates to print: of each collective the first, by the model its best one, and what was
/// measured.
bool isPrinted(const Alternative &one, std::set<std::string> &names, bool all) {
  return names.insert(one.what.name).second || all || one.measured;
}

void print(const ExplainedChoice &explained, bool all) {
  const Choice &choice = explained.choice;
  llvm::raw_ostream &out = resultStream();
  out << explained.situation.function << " on " << explained.situation.words()
      << (explained.inPlace ? ", in place" : "") << ": " << choice.chosen.what.words() << "\n"
      << explained.place << ": " << explained.rule << "\n\n";
  Table table({"candidate", "predicted", "measured", "noise", "why"});
  addRow(table, choice.chosen);
  std::set<std::string> names;
  size_t left = 0;
  for (const Alternative &other : choice.others)
    if (isPrinted(other, names, all))
      addRow(table, other);
    else
      ++left;
  table.print(out);
  out << "\npredicted by " << explained.model;
  if (left > 0)
    out << "; " << left << " more with other values of their parameters: --all";
  out << "\n";
}

} // namespace

Exit chooseCommand(Arguments arguments) {
  ChooseSettings settings;
  Options options("choose", "FUNCTION -n N [FILE] [OPTION...]",
                  "Tells which collective serves a call of a function such as bcast, and why: the\n"
                  "rule that decides, and the collectives that could serve instead, with the\n"
                  "times that the simulator predicts and those that the machine profile has.\n"
                  "A FILE is a schedule library, whose rules choose then, or source text (.coll)\n"
                  "of collectives that --rules names.");
  options.completeOperands(completionOfNames(Completion::Names::Functions));
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  std::string refusal;
  std::optional<ExplainedChoice> explained =
      chooseExplained(session(), options.operands(), settings.request, refusal);
  if (!explained)
    return refusal.empty() ? Exit::Failure : options.refuse(refusal);
  if (settings.json)
    printJson(toJson(*explained));
  else
    print(*explained, settings.all);
  return Exit::Success;
}

} // namespace colldsl::tools
