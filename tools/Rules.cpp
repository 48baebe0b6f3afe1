#include "driver/rules/Rules.h"
#include "compiler/Compile.h"
#include "driver/Lists.h"
#include "driver/files/ReadInput.h"
#include "driver/files/WriteFile.h"
#include "driver/regret/FindRules.h"
#include "driver/regret/RulesRequest.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>
#include <thread>

namespace colldsl::tools {
namespace {

struct RulesSettings {
  RulesRequest request;
  std::string output;
  uint32_t worst = 10;

  void addTo(Options &options);
};

void RulesSettings::addTo(Options &options) {
  request.addTo(options);
  options.section("what to tell");
  options.addSideOutput("--find", "FILE", "write rules found from the same times", output) =
      completionOfFiles({".rules"});
  options.addNumber("--worst", "N", "so many of the worst choices (default: 10)", worst);
}

/// Regrets of some calls.
struct Regrets {
  size_t calls = 0, beyond = 0;
  double logs = 0, worst = 0;

  void add(double regret, double limit) {
    ++calls;
    beyond += regret > limit;
    logs += std::log(regret);
    worst = std::max(worst, regret);
  }
  std::vector<std::string> cells(const std::string &name) const {
    double mean = calls == 0 ? 1 : std::exp(logs / static_cast<double>(calls));
    return {name, std::to_string(calls), llvm::formatv("{0:f3}", mean).str(), factorWord(worst),
            std::to_string(beyond)};
  }
};

void printRegrets(const RuleGrid &grid, const std::vector<RuleCosts> &costs,
                  const std::vector<RuleChoice> &choices, uint32_t worst, double limit) {
  llvm::raw_ostream &out = resultStream();
  std::map<std::string, Regrets> byFunction, byMachine;
  Regrets all;
  std::vector<std::pair<double, const RuleChoice *>> sorted;
  size_t unpredicted = 0;
  for (const RuleChoice &choice : choices) {
    const RuleCall &call = costs[choice.call].call;
    if (choice.ns == 0) {
      ++unpredicted;
      continue;
    }
    double regret = costs[choice.call].regret(choice.ns);
    byFunction[call.function].add(regret, limit);
    byMachine[grid.machines[call.machine].name].add(regret, limit);
    all.add(regret, limit);
    sorted.emplace_back(regret, &choice);
  }
  std::vector<std::string> heads = {"", "calls", "geometric mean", "worst",
                                    "beyond " + factorWord(limit)};
  Table table(heads);
  for (const std::string &function : grid.functions)
    if (byFunction.count(function))
      table.addRow(byFunction[function].cells(function));
  for (const RuleMachine &machine : grid.machines)
    table.addRow(byMachine[machine.name].cells(machine.name));
  table.addRow(all.cells("all"));
  table.print(out);
  if (unpredicted > 0)
    out << unpredicted << " more calls have no prediction\n";
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto &a, const auto &b) { return a.first > b.first; });
  sorted.resize(std::min<size_t>(sorted.size(), worst));
  if (sorted.empty())
    return;
  out << "\nthe worst:\n";
  Table calls({"function", "machine", "nodes", "bytes", "regret", "chosen", "best"});
  for (auto [regret, choice] : sorted) {
    const RuleCosts &of = costs[choice->call];
    auto best = std::find_if(of.ns.begin(), of.ns.end(),
                             [&](const auto &one) { return one.second == of.best(); });
    calls.addRow({of.call.function, grid.machines[of.call.machine].name, of.call.shape.words(),
                  bytesWord(of.call.bytes), factorWord(regret), choice->chosen, best->first});
  }
  calls.print(out);
}

/// The choices of other rules for the calls.
struct OtherChoices {
  std::string name;
  std::vector<RuleChoice> choices;
};

/// Times of others' choices by those of the rules' choices.
struct Gains {
  size_t calls = 0, slower = 0;
  double logs = 0, least = std::numeric_limits<double>::infinity();

  void add(double gain) {
    ++calls;
    slower += gain < 1;
    logs += std::log(gain);
    least = std::min(least, gain);
  }
  std::vector<std::string> cells(const std::string &other, const std::string &function) const {
    double mean = std::exp(logs / static_cast<double>(calls));
    return {other,
            function,
            std::to_string(calls),
            llvm::formatv("{0:f3}", mean).str(),
            llvm::formatv("{0:f3}", least).str(),
            std::to_string(slower)};
  }
};

void printCompared(const RuleGrid &grid, const std::vector<RuleCosts> &costs,
                   const std::vector<RuleChoice> &choices,
                   const std::vector<OtherChoices> &others) {
  llvm::raw_ostream &out = resultStream();
  out << "\nfaster than what other rules choose:\n";
  Table table({"rules", "", "calls", "geometric mean", "least", "slower"});
  for (const OtherChoices &other : others) {
    std::map<std::string, Gains> byFunction;
    Gains all;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].ns == 0 || other.choices[i].ns == 0)
        continue;
      double gain = static_cast<double>(other.choices[i].ns) / static_cast<double>(choices[i].ns);
      byFunction[costs[choices[i].call].call.function].add(gain);
      all.add(gain);
    }
    for (const std::string &function : grid.functions)
      if (byFunction.count(function))
        table.addRow(byFunction[function].cells(other.name, function));
    if (all.calls > 0)
      table.addRow(all.cells(other.name, "all"));
  }
  table.print(out);
}

void setBars(const std::vector<OtherChoices> &others, std::vector<RuleCosts> &costs) {
  for (const OtherChoices &other : others)
    for (const RuleChoice &choice : other.choices) {
      uint64_t &bar = costs[choice.call].bar;
      if (choice.ns > 0)
        bar = bar == 0 ? choice.ns : std::min(bar, choice.ns);
    }
}

bool runRules(const std::vector<std::string> &files, const RulesSettings &settings) {
  const RulesRequest &request = settings.request;
  Compilation library = compileFiles({});
  Result<std::vector<SelectionRule>> rules =
      RulesRequest::readRules(files.empty() ? "" : files.front(), library);
  if (!rules)
    return printError(rules.status().diagnostic());
  auto otherRules = request.readOthers(library);
  if (!otherRules)
    return printError(otherRules.status().diagnostic());
  Result<RuleGrid> grid = request.grid(*rules);
  if (!grid)
    return printError(grid.status().diagnostic());
  grid->threads = std::thread::hardware_concurrency();
  Progress progress;
  Result<std::vector<RuleCosts>> costs =
      predictCosts(library.program(), *rules, *grid, progress.watch());
  if (!costs)
    return printError(costs.status().diagnostic());
  std::vector<OtherChoices> others;
  for (const auto &[name, other] : *otherRules)
    others.push_back({name, judgeRules(library.program(), other, *grid, *costs)});
  auto judge = [&](const std::vector<SelectionRule> &judged) {
    auto choices = judgeRules(library.program(), judged, *grid, *costs);
    printRegrets(*grid, *costs, choices, settings.worst, request.limit);
    if (!others.empty())
      printCompared(*grid, *costs, choices, others);
  };
  judge(*rules);
  if (settings.output.empty())
    return true;
  setBars(others, *costs);
  FindSettings find;
  find.leastNodes = request.leastNodes;
  find.leastGain = request.leastGain;
  std::string text;
  for (const std::string &line : findRules(library.program(), *costs, find))
    text += line + "\n";
  Status written = writeFile(settings.output, [&](llvm::raw_ostream &out) {
    out << text;
    return Status();
  });
  Result<std::vector<SelectionRule>> found = readRules(settings.output, text, library);
  if (!written || !found)
    return printError((written ? found.status() : written).diagnostic());
  resultStream() << "\nthe rules that were found, " << found->size() << " of them:\n";
  judge(*found);
  return true;
}

} // namespace

Exit rulesCommand(Arguments arguments) {
  RulesSettings settings;
  Options options(
      "rules", "[FILE] [OPTION...]",
      "Judges rules that choose collectives: over machines, shapes and sizes, how much\n"
      "longer what they choose takes than the best collective of the library, as the\n"
      "simulator predicts. FILE has rules (default: those of the standard library).\n"
      "With --find, rules are found from the same times, and judged.");
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().size() > 1)
    return options.refuse("there may be one file of rules");
  return runRules(options.operands(), settings) ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
