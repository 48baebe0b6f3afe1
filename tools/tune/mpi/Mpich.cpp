#include "tools/tune/mpi/Mpich.h"

#include "ir/Checksum.h"
#include "ir/Concat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace colldsl::tools {
namespace {

constexpr const char *kFile = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE";
constexpr const char *kDeviceFile = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE";
constexpr const char *kFallback = "MPIR_CVAR_COLLECTIVE_FALLBACK";
constexpr const char *kText = "algorithm=MPIR_";

struct Function {
  const char *name;
  const char *size; ///< null: no size is the same on all ranks
  bool isTotal;     ///< of all ranks' blocks
  std::vector<std::string> conditions;
};

// The conditions hold for all measured calls; in other calls an algorithm may be wrong. The size of
// a gather is a count of elements in MPICH 4.0, and missing at a root in place. The size of an
// alltoallv differs between the ranks; scans and barriers have none.
const Function kFunctions[] = {
    {"barrier", nullptr, false, {}},
    {"bcast", "avg_msg_size", false, {}},
    {"reduce", "avg_msg_size", false, {"is_commutative=yes", "is_op_built_in=yes"}},
    {"allreduce", "avg_msg_size", false, {"is_commutative=yes", "is_op_built_in=yes"}},
    {"gather", nullptr, false, {}},
    {"scatter", nullptr, false, {}},
    {"allgather", "total_msg_size", true, {}},
    {"allgatherv", "total_msg_size", true, {}},
    {"alltoall", "avg_msg_size", false, {"is_sendbuf_inplace=no"}},
    {"alltoallv", nullptr, false, {"is_sendbuf_inplace=no"}},
    {"reduce_scatter", "total_msg_size", true, {"is_commutative=yes", "is_block_regular=yes"}},
    {"reduce_scatter_block", "total_msg_size", true, {"is_commutative=yes"}},
    {"scan", nullptr, false, {}},
    {"exscan", nullptr, false, {}},
};

// Algorithms by nodes, which the device composes anyway, and those whose parameters are words.
constexpr llvm::StringLiteral kLeftOut[] = {"smp", "tree", "pipelined_tree", "ccl"};

struct Parameter {
  llvm::StringLiteral algorithm, name, variable; ///< MPIR_CVAR_<function>_<variable>
};
constexpr Parameter kParameters[] = {
    {"k_dissemination", "k", "DISSEM_KVAL"},
    {"k_brucks", "k", "BRUCKS_KVAL"},
    {"recursive_multiplying", "k", "RECURSIVE_MULTIPLYING_KVAL"},
    {"recexch", "k", "RECEXCH_KVAL"},
    {"recexch", "single_phase_recv", "RECEXCH_SINGLE_PHASE_RECV"},
    {"recexch_doubling", "k", "RECEXCH_KVAL"},
    {"recexch_doubling", "single_phase_recv", "RECEXCH_SINGLE_PHASE_RECV"},
    {"recexch_halving", "k", "RECEXCH_KVAL"},
    {"recexch_halving", "single_phase_recv", "RECEXCH_SINGLE_PHASE_RECV"},
    {"k_reduce_scatter_allgather", "k", "RECEXCH_KVAL"},
    {"k_reduce_scatter_allgather", "single_phase_recv", "RECEXCH_SINGLE_PHASE_RECV"},
};

const Function &functionOf(const std::string &name) {
  return *llvm::find_if(kFunctions, [&](const Function &f) { return f.name == name; });
}

std::string variableOf(const std::string &function, const std::string &what) {
  return "MPIR_CVAR_" + llvm::StringRef(function).upper() + "_" + what;
}
std::string algorithmVariable(const std::string &function) {
  return variableOf(function, "INTRA_ALGORITHM");
}

/// The subtree under the condition, at the first level from the top that has it; null: none has.
const SelectionTree *findBelow(const SelectionTree &tree, const std::string &condition) {
  if (auto here = tree.find(condition); here != tree.end())
    return &*here;
  for (const SelectionTree &below : tree)
    if (const SelectionTree *found = findBelow(below, condition))
      return found;
  return nullptr;
}

/// "dir/name.json" and "1234.ch4": "dir/name.1234.ch4.json".
std::string withVersion(llvm::StringRef path, const std::string &version) {
  bool isJson = path.consume_back(".json");
  return concat(path.str(), ".", version, isJson ? ".json" : "");
}

/// A hash of the content of all files together.
std::string versionOf(const std::vector<std::string> &texts) {
  uint64_t hash = 0;
  for (const std::string &text : texts)
    hash = xxh64(std::as_bytes(std::span(text)), hash);
  return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

// MPICH maps the file and reads it as a string, which has no terminator if the last page is full.
std::string textOf(const SelectionTree &tree) {
  std::string text = tree.dump(1) + "\n";
  return text.size() % 4096 == 0 ? text + "\n" : text;
}

TuningFile fileOf(const std::string &path, std::string text, const char *variable) {
  return {path, std::move(text), {std::string(variable) + "=" + path}};
}

} // namespace

Mpich::Algorithms Mpich::namesIn(const MpiFacts &facts) {
  Algorithms all;
  for (const std::string &function : mpiFunctions()) {
    std::string begin = kText + function;
    begin[std::char_traits<char>::length(kText)] = llvm::toUpper(function[0]);
    for (const std::string &text : facts.texts)
      for (const char *form : {"_intra_", "_allcomm_"})
        if (llvm::StringRef name = text; name.consume_front(begin + form))
          all[function].push_back({name.str(), text, 0});
  }
  return all;
}

// Only the environment accepts names as values; reads return numbers. So a process sets the
// variables of all functions to the i-th name of their lists, and reads the numbers.
Status Mpich::findNumbers(const MpiLaunch &launch, const MpiFacts &facts, Algorithms &all) {
  size_t longest = 0;
  for (const auto &[function, named] : all)
    longest = std::max(longest, named.size());
  for (size_t i = 0; i < longest; ++i) {
    Environment environment;
    for (const auto &[function, named] : all)
      if (i < named.size() && facts.variables.contains(algorithmVariable(function)))
        environment.push_back(algorithmVariable(function) + "=" + named[i].name);
    Result<MpiFacts> set = listFacts(launch, "MPIR_CVAR_", environment);
    if (!set)
      return set.status();
    for (auto &[function, named] : all)
      if (i < named.size())
        named[i].number = set->variables[algorithmVariable(function)].value;
  }
  return {};
}

Result<std::unique_ptr<MpiKind>> Mpich::make(const MpiLaunch &launch) {
  Result<MpiFacts> facts = listFacts(launch, "MPIR_CVAR_", {});
  if (!facts)
    return facts.status();
  facts->library = "MPICH " + llvm::StringRef(facts->library).split(':').second.trim().str();
  Algorithms all = namesIn(*facts);
  if (Status s = findNumbers(launch, *facts, all); !s)
    return s;
  Result<std::unique_ptr<Mpich>> made = make(facts.take(), std::move(all));
  if (!made)
    return made.status();
  return std::unique_ptr<MpiKind>(made.take());
}

Result<std::unique_ptr<Mpich>> Mpich::make(MpiFacts facts, Algorithms algorithms) {
  std::unique_ptr<Mpich> made(new Mpich(std::move(facts)));
  made->algorithms_ = std::move(algorithms);
  for (const std::string &text : made->facts_.texts) {
    if (!llvm::StringRef(text).starts_with("{"))
      continue;
    Result<SelectionTree> tree = parseTree(text);
    if (!tree)
      return tree.status();
    if (llvm::StringRef(text).contains(kText))
      made->tree_ = tree.take();
    else if (llvm::StringRef(text).contains("composition="))
      made->deviceTree_ = tree.take();
  }
  if (made->tree_.is_null())
    return Status::error("'" + made->facts_.library +
                         "' has no selection tree, as MPICH has from version 4.0 on");
  return made;
}

// With this fallback, an algorithm that cannot serve a call is an error: MPICH does not silently
// use another one.
Environment Mpich::forcing() const {
  return {std::string(kFallback) + "=error", kFile, kDeviceFile};
}
Environment Mpich::untouched() const { return {kFile, kDeviceFile}; }

bool Mpich::hasSize(const std::string &function) const {
  return functionOf(function).size != nullptr;
}

const SelectionTree *Mpich::flatComposition(const std::string &function) const {
  const SelectionTree *tree = deviceTree_.is_null() ? nullptr : collectiveIn(deviceTree_, function);
  return tree ? findBelow(*tree, "comm_hierarchy=any") : nullptr;
}

std::vector<MpiAlgorithm> Mpich::algorithms(const std::string &function, uint64_t) const {
  std::vector<MpiAlgorithm> all;
  auto named = algorithms_.find(function);
  if (named == algorithms_.end() || !collectiveIn(tree_, function) ||
      !facts_.variables.contains(algorithmVariable(function)))
    return all;
  std::string withoutDevice =
      flatComposition(function) ? "," + variableOf(function, "DEVICE_COLLECTIVE") + "=0" : "";
  for (const Named &a : named->second) {
    if (a.number == 0 || llvm::is_contained(kLeftOut, a.name)) // 0 is the usual choice
      continue;
    MpiAlgorithm algorithm{
        {a.name, {}}, concat(algorithmVariable(function), "=", a.number, withoutDevice), {}};
    for (const Parameter &p : kParameters)
      if (auto value = facts_.variables.find(variableOf(function, p.variable.str()));
          p.algorithm == a.name && value != facts_.variables.end())
        algorithm.what.values.push_back({p.name.str(), value->second.value});
    all.push_back(std::move(algorithm));
  }
  return all;
}

SelectionTree Mpich::leafOf(const Decision &decision) const {
  SelectionTree parameters = SelectionTree::object();
  for (const TunedCollective::Value &value : decision.use.values)
    parameters[concat(value.parameter, "=", value.value)] = SelectionTree::object();
  const std::vector<Named> &named = algorithms_.at(decision.function);
  auto found = llvm::find_if(named, [&](const Named &a) { return a.name == decision.use.name; });
  SelectionTree leaf = SelectionTree::object();
  leaf[found->text] = std::move(parameters);
  return leaf;
}

void Mpich::insert(SelectionTree &tree, const std::vector<const Decision *> &decisions,
                   llvm::function_ref<SelectionTree(const Decision &)> leaf) const {
  std::map<uint32_t, TreeRules> byRanks;
  for (const Decision *d : decisions) {
    const Function &function = functionOf(d->function);
    TreeRules &rules = byRanks[d->ranks];
    uint64_t last = rules.rules.empty() ? UINT64_MAX : rules.rules.back().upTo;
    if (rules.rules.empty())
      rules = {d->function, d->ranks, function.size ? function.size : "", function.conditions, {}};
    uint64_t scale = function.isTotal ? d->ranks : 1;
    uint64_t first = d->minBytes * scale;
    if (first > 0 && first != last + 1)
      rules.rules.push_back({first - 1, std::nullopt, {}});
    uint64_t end = function.size ? d->maxBytes * scale + scale - 1 : UINT64_MAX;
    bool needsCount = llvm::StringRef(d->use.name).starts_with("reduce_scatter");
    rules.rules.push_back({end, leaf(*d), needsCount ? "count<pow2" : ""});
  }
  std::vector<TreeRules> all;
  for (auto &[ranks, rules] : byRanks) {
    if (rules.rules.back().upTo != UINT64_MAX)
      rules.rules.push_back({UINT64_MAX, std::nullopt, {}});
    all.push_back(std::move(rules));
  }
  insertRules(tree, all);
}

// MPICH has a variable for each file, and each rank of a job opens both. So files() never replaces
// a file: other contents have other names, and a job finds the pair that its variables name,
// whenever it starts.
std::vector<TuningFile> Mpich::files(const std::vector<Decision> &decisions,
                                     const std::string &path) const {
  std::map<std::string, std::vector<const Decision *>> byFunction;
  for (const Decision &d : decisions)
    byFunction[d.function].push_back(&d);
  SelectionTree tree = tree_, device = deviceTree_;
  for (const auto &[function, decided] : byFunction) {
    insert(tree, decided, [&](const Decision &d) { return leafOf(d); });
    if (const SelectionTree *flat = flatComposition(function))
      insert(device, decided, [&](const Decision &) { return *flat; });
  }
  std::vector<std::string> texts = {textOf(tree)};
  if (device != deviceTree_)
    texts.push_back(textOf(device));
  std::string version = versionOf(texts);
  std::vector<TuningFile> files = {fileOf(withVersion(path, version), texts[0], kFile)};
  if (texts.size() > 1)
    files.push_back(fileOf(withVersion(path, version + ".ch4"), texts[1], kDeviceFile));
  return files;
}

} // namespace colldsl::tools
