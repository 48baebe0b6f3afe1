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
  std::vector<const RuleChoice *> sorted;
  size_t unpredicted = 0;
  for (const RuleChoice &choice : choices) {
    const RuleCall &call = costs[choice.call].call;
    if (choice.ns == 0) {
      ++unpredicted;
      continue;
    }
    byFunction[call.function].add(choice.regret, limit);
    byMachine[grid.machines[call.machine].name].add(choice.regret, limit);
    all.add(choice.regret, limit);
    sorted.push_back(&choice);
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
                   [](const RuleChoice *a, const RuleChoice *b) { return a->regret > b->regret; });
  sorted.resize(std::min<size_t>(sorted.size(), worst));
  if (sorted.empty())
    return;
  out << "\nthe worst:\n";
  Table calls({"function", "machine", "nodes", "bytes", "regret", "chosen", "best"});
  for (const RuleChoice *choice : sorted) {
    const RuleCosts &of = costs[choice->call];
    auto best = std::find_if(of.ns.begin(), of.ns.end(),
                             [&](const auto &one) { return one.second == of.best(); });
    calls.addRow({of.call.function, grid.machines[of.call.machine].name, of.call.shape.words(),
                  bytesWord(of.call.bytes), factorWord(choice->regret), choice->chosen,
                  best->first});
  }
  calls.print(out);
}

bool runRules(const std::vector<std::string> &files, const RulesSettings &settings) {
  const RulesRequest &request = settings.request;
  Compilation library = compileFiles({});
  Result<std::vector<SelectionRule>> rules = request.readRules(files, library);
  if (!rules)
    return printError(rules.status().diagnostic());
  Result<RuleGrid> grid = request.grid(*rules);
  if (!grid)
    return printError(grid.status().diagnostic());
  grid->threads = std::thread::hardware_concurrency();
  Progress progress;
  Result<std::vector<RuleCosts>> costs =
      predictCosts(library.program(), *rules, *grid, progress.watch());
  if (!costs)
    return printError(costs.status().diagnostic());
  std::vector<RuleChoice> choices = judgeRules(library.program(), *rules, *grid, *costs);
  printRegrets(*grid, *costs, choices, settings.worst, request.limit);
  if (settings.output.empty())
    return true;
  FindSettings find;
  find.leastNodes = request.leastNodes;
  find.leastGain = request.leastGain;
  Status written = writeFile(settings.output, [&](llvm::raw_ostream &out) {
    for (const std::string &line : findRules(library.program(), *costs, find))
      out << line << "\n";
    return Status();
  });
  return written ? true : printError(written.diagnostic());
}

} // namespace

Exit rulesCommand(Arguments arguments) {
  RulesSettings settings;
  Options options(
      "rules", "[FILE] [OPTION...]",
      "Judges rules that choose collectives: over machines, shapes and sizes, how much\n"
      "longer what they choose takes than the best collective of the library, as the\n"
      "simulator predicts. FILE has rules (default: those of the standard library).\n"
      "With --find, rules are found from the same times.");
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().size() > 1)
    return options.refuse("there may be one file of rules");
  return runRules(options.operands(), settings) ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
