#include "driver/regret/RulesRequest.h"

#include "driver/Lists.h"
#include "driver/files/ReadInput.h"
#include "driver/requests/MachineRequest.h"
#include "driver/rules/Rules.h"
#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "select/Function.h"
#include "stdlib/StdlibFiles.h"
#include "topology/KnownModels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace colldsl::driver {
namespace {

std::vector<llvm::StringRef> wordsIn(llvm::StringRef list) {
  llvm::SmallVector<llvm::StringRef, 16> words;
  list.split(words, ',', -1, false);
  return {words.begin(), words.end()};
}

constexpr uint64_t kMostRanks = 1 << 16;

Result<RuleMachine> machineOf(llvm::StringRef name) {
  RuleMachine machine;
  machine.name = name.str();
  if (const MachineModel *known = findKnownModel(name)) {
    machine.cost.machine = *known;
    return machine;
  }
  Result<std::string> text = readText(name.str());
  if (!text)
    return text.status();
  Result<MachineModel> model = MachineModel::parse(*text);
  if (!model)
    return Status::error(concat("'", name.str(), "': ", model.message()));
  machine.name = model->name;
  machine.cost.machine = model.take();
  return machine;
}

/// "16x8", or "4x8-3" for a last node with 3 ranks less.
Result<RuleShape> shapeOf(llvm::StringRef text) {
  auto [nodes, rest] = text.split('x');
  auto [perNode, less] = rest.split('-');
  RuleShape shape;
  shape.nodes = parseWhole<uint32_t>(nodes).value_or(0);
  shape.ranksPerNode = parseWhole<uint32_t>(perNode).value_or(0);
  uint32_t missing = less.empty() ? 0 : parseWhole<uint32_t>(less).value_or(UINT32_MAX);
  if (shape.nodes == 0 || shape.ranksPerNode == 0 || missing >= shape.ranksPerNode ||
      uint64_t{shape.nodes} * shape.ranksPerNode > kMostRanks)
    return Status::error(concat("'", text.str(),
                                "' is no shape; shapes are like 16x8, nodes and "
                                "ranks of each, or 4x8-3, the last with 3 ranks less"));
  shape.ranks = shape.nodes * shape.ranksPerNode - missing;
  return shape;
}

} // namespace

void RulesRequest::addTo(Fields &fields) {
  fields.section("for which calls");
  fields.addText("--models", "LIST",
                 "machine models: names of those that come with colldsl, or files\n"
                 "(default: cluster)",
                 models);
  fields.addText("--shapes", "LIST",
                 "nodes and ranks of each: 16x8; 4x8-3: the last with 3 ranks less\n"
                 "(default: 2x1,4x1,5x3,8x4,13x1,16x1,16x16,32x8)",
                 shapes);
  fields.addText("--bytes", "LIST",
                 "n times the size of T (default: 8,128,2KiB,16KiB,128KiB,1MiB,8MiB)", bytes);
  fields.addText("--functions", "LIST", "(default: all of the rules)", functions) =
      completionOfNames(Completion::Names::Functions, ',');
  fields.addText("--against", "LIST",
                 "files of other rules: what they choose is compared, and rules that\n"
                 "are found are not to be slower",
                 against) = completionOfFiles({".rules"});
  fields.section("which rules are found");
  fields.addNumber("--least-nodes", "N", "a condition of each of them, 'nodes N..' (default: 1)",
                   leastNodes, 1);
  auto addFactor = [&](llvm::StringRef name, std::string help, double &into) {
    fields.add(
        name, "X", std::move(help),
        [&into](llvm::StringRef text) {
          double value = 0;
          if (text.getAsDouble(value) || !(value >= 0 && value < 1e6))
            return Status::error("'" + text.str() + "' is no number from 0 on");
          into = value;
          return Status();
        },
        [&into] { return std::vector{std::to_string(into)}; });
  };
  addFactor("--least-gain",
            "of one more rule: by so much it reduces the sum of the logarithms\n"
            "of the regrets (default: 0.5)",
            leastGain);
  addFactor("--limit", "count regrets beyond it (default: 1.5)", limit);
}

Result<std::vector<SelectionRule>> RulesRequest::readRules(const std::string &file,
                                                           Compilation &library) {
  if (file.empty())
    return driver::readRules(kStandardRules, selectionRules(), library);
  Result<std::string> text = rulesText(file);
  if (!text)
    return text.status();
  return driver::readRules(file, *text, library);
}

Result<std::vector<std::pair<std::string, std::vector<SelectionRule>>>>
RulesRequest::readOthers(Compilation &library) const {
  std::vector<std::pair<std::string, std::vector<SelectionRule>>> others;
  for (llvm::StringRef file : wordsIn(against)) {
    Result<std::vector<SelectionRule>> rules = readRules(file.str(), library);
    if (!rules)
      return rules.status();
    others.emplace_back(llvm::sys::path::stem(file).str(), rules.take());
  }
  return others;
}

Result<RuleGrid> RulesRequest::grid(const std::vector<SelectionRule> &rules) const {
  RuleGrid grid;
  for (llvm::StringRef name : wordsIn(models)) {
    Result<RuleMachine> machine = machineOf(name);
    if (!machine)
      return wrap("--models", machine.status());
    grid.machines.push_back(machine.take());
  }
  for (llvm::StringRef text : wordsIn(shapes)) {
    Result<RuleShape> shape = shapeOf(text);
    if (!shape)
      return wrap("--shapes", shape.status());
    grid.shapes.push_back(*shape);
  }
  for (llvm::StringRef text : wordsIn(bytes)) {
    Result<uint64_t> size = parseBytes(text);
    if (!size)
      return wrap("--bytes", size.status());
    grid.bytes.push_back(*size);
  }
  std::vector<std::string> known = functionsOf(rules);
  for (llvm::StringRef name : wordsIn(functions)) {
    if (!llvm::is_contained(known, name))
      return Status::error("--functions: no rule is for '" + name.str() + "'");
    grid.functions.push_back(name.str());
  }
  if (functions.empty())
    grid.functions = known;
  if (grid.machines.empty() || grid.shapes.empty() || grid.bytes.empty())
    return Status::error("--models, --shapes and --bytes name at least one each");
  return grid;
}

} // namespace colldsl::driver
