#include "tools/tune/mpi/OpenMpi.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace colldsl::tools {
namespace {

constexpr const char *kUse = "OMPI_MCA_coll_tuned_use_dynamic_rules";
constexpr const char *kRulesFile = "OMPI_MCA_coll_tuned_dynamic_rules_filename";

/// The unit of "the message size" of a rule.
enum class Unit { None, Block, AllBlocks };

struct TunedFunction {
  const char *name;
  int id; ///< in files of rules
  Unit unit;
};

// Unit::None: the sizes of alltoallv differ between the ranks, and Open MPI reads none for
// barriers, scan and exscan. For gather and scatter it reads arguments that may have any value at
// some ranks, which would then use different algorithms: at the root of a gather in place, and the
// send arguments at the non-roots of a scatter. Allgatherv reads a rank's share, not the sum that
// the manual names.
constexpr TunedFunction kTunedFunctions[] = {{"allgather", 0, Unit::AllBlocks},
                                             {"allgatherv", 1, Unit::Block},
                                             {"allreduce", 2, Unit::Block},
                                             {"alltoall", 3, Unit::AllBlocks},
                                             {"alltoallv", 4, Unit::None},
                                             {"barrier", 6, Unit::None},
                                             {"bcast", 7, Unit::Block},
                                             {"exscan", 8, Unit::None},
                                             {"gather", 9, Unit::None},
                                             {"reduce", 11, Unit::Block},
                                             {"reduce_scatter", 12, Unit::AllBlocks},
                                             {"reduce_scatter_block", 13, Unit::AllBlocks},
                                             {"scan", 14, Unit::None},
                                             {"scatter", 15, Unit::None}};

// The segmented algorithms of bcast, reduce and allreduce.
constexpr llvm::StringLiteral kSegmented[] = {
    "chain",    "pipeline", "split_binary_tree", "binary_tree",    "binary",
    "binomial", "knomial",  "in-order_binary",   "segmented_ring",
};
constexpr int64_t kSegments[] = {8 << 10, 64 << 10, 256 << 10};

const TunedFunction &tunedFunctionOf(const std::string &name) {
  return *llvm::find_if(kTunedFunctions, [&](const TunedFunction &f) { return f.name == name; });
}

std::string variableOf(const std::string &function) {
  return "coll_tuned_" + function + "_algorithm";
}

int64_t segmentOf(const Decision &decision) {
  return decision.use.values.empty() ? 0 : decision.use.values.front().value;
}

/// The message sizes of a decision, in the unit of the function, both ends included.
std::pair<uint64_t, uint64_t> messagesOf(const Decision &d) {
  switch (tunedFunctionOf(d.function).unit) {
  case Unit::None:
    return {0, UINT64_MAX};
  case Unit::Block:
    return {d.minBytes, d.maxBytes};
  case Unit::AllBlocks:
    return {d.minBytes * d.ranks, d.maxBytes * d.ranks + d.ranks - 1};
  }
  llvm_unreachable("unknown unit");
}

using ByRanks = std::map<uint32_t, std::vector<const Decision *>>;

std::map<std::string, ByRanks> sorted(const std::vector<Decision> &decisions) {
  std::map<std::string, ByRanks> all;
  for (const Decision &d : decisions)
    all[d.function][d.ranks].push_back(&d);
  return all;
}

} // namespace

Result<std::unique_ptr<MpiKind>> OpenMpi::make(const MpiLaunch &launch) {
  Result<MpiFacts> facts = listFacts(launch, "coll_tuned_", {});
  if (!facts)
    return facts.status();
  if (!facts->variables.contains(variableOf("bcast")))
    return Status::error("'" + facts->library +
                         "' has no variable coll_tuned_bcast_algorithm: its component 'tuned' is "
                         "missing");
  return std::unique_ptr<MpiKind>(new OpenMpi(facts.take()));
}

bool OpenMpi::readsJson() const {
  llvm::StringRef version = facts_.library;
  version = version.substr(version.find_first_of("0123456789")).split('.').first;
  return parseWhole<int>(version).value_or(0) >= 6;
}

std::string OpenMpi::usualFile() const {
  return readsJson() ? "openmpi-rules.json" : "openmpi-rules.conf";
}

Environment OpenMpi::forcing() const { return {std::string(kUse) + "=1", kRulesFile}; }
Environment OpenMpi::untouched() const { return {kUse, kRulesFile}; }

bool OpenMpi::hasSize(const std::string &function) const {
  return tunedFunctionOf(function).unit != Unit::None;
}

std::vector<MpiAlgorithm> OpenMpi::algorithms(const std::string &function, uint64_t bytes) const {
  std::string name = variableOf(function), segments = name + "_segmentsize";
  auto variable = facts_.variables.find(name);
  std::vector<MpiAlgorithm> all;
  if (variable == facts_.variables.end())
    return all;
  bool hasSegments = facts_.variables.contains(segments) &&
                     (function == "bcast" || function == "reduce" || function == "allreduce");
  for (const auto &[value, word] : variable->second.items) {
    if (value == 0) // the usual choice
      continue;
    std::string forced = concat(name, "=", value);
    if (!variable->second.isWritable) {
      all.push_back({{word, {}}, "-", {"OMPI_MCA_" + forced}});
      continue;
    }
    all.push_back({{word, {}}, forced + (hasSegments ? "," + segments + "=0" : ""), {}});
    for (int64_t segment : kSegments)
      if (hasSegments && llvm::is_contained(kSegmented, word) &&
          static_cast<uint64_t>(segment) < bytes)
        all.push_back(
            {{word, {{"segment", segment}}}, concat(forced, ",", segments, "=", segment), {}});
  }
  return all;
}

int OpenMpi::numberOf(const Decision &decision) const {
  for (const auto &[value, word] : facts_.variables.at(variableOf(decision.function)).items)
    if (word == decision.use.name)
      return value;
  llvm_unreachable("a decision is for an algorithm of this MPI");
}

// Only for chains a rule has a fan-out: the one of the measurements.
int OpenMpi::fanoutOf(const Decision &decision) const {
  auto fanout = facts_.variables.find(variableOf(decision.function) + "_chain_fanout");
  bool isChain = decision.use.name == "chain";
  return isChain && fanout != facts_.variables.end() ? fanout->second.value : 0;
}

// A rule holds from its size up to that of the next rule, a number of ranks up to the next number.
// Algorithm 0 is the usual choice, for which each gap needs a rule. Open MPI 4.1 and 5.0 read no
// version.
std::string OpenMpi::classicText(const std::vector<Decision> &decisions) const {
  std::map<std::string, ByRanks> functions = sorted(decisions);
  std::string text = "# Rules of the component 'tuned' of " + facts_.library +
                     ", by colldsl tune --mpi\n" + concat(functions.size(), " # functions\n");
  for (const auto &[function, byRanks] : functions) {
    std::vector<std::pair<uint32_t, std::string>> sizes;
    auto addUsual = [&](uint32_t ranks) { sizes.push_back({ranks, "1 # rules\n0 0 0 0\n"}); };
    addUsual(0);
    for (const auto &[ranks, rules] : byRanks) {
      std::vector<std::string> lines;
      uint64_t next = 0; // the first size that no rule covers yet
      for (const Decision *d : rules) {
        auto [from, to] = messagesOf(*d);
        if (from > next || (lines.empty() && from > 0))
          lines.push_back(concat(next, " 0 0 0\n"));
        lines.push_back(concat(from, " ", numberOf(*d), " ", fanoutOf(*d), " ", segmentOf(*d),
                               " # ", d->use.name, "\n"));
        next = to == UINT64_MAX ? to : to + 1;
      }
      if (next != UINT64_MAX)
        lines.push_back(concat(next, " 0 0 0\n"));
      if (sizes.back().first == ranks)
        sizes.pop_back();
      sizes.push_back({ranks, concat(lines.size(), " # rules: from bytes, algorithm, fan-out, "
                                                   "segment\n") +
                                  llvm::join(lines, "")});
      addUsual(ranks + 1);
    }
    text += concat(tunedFunctionOf(function).id, " # ", function, "\n", sizes.size(),
                   " # numbers of ranks\n");
    for (const auto &[ranks, rules] : sizes)
      text += concat(ranks, " # ranks\n", rules);
  }
  return text;
}

// The first rule that fits counts; if none fits, the usual choice does.
std::string OpenMpi::jsonText(const std::vector<Decision> &decisions) const {
  llvm::json::Object collectives;
  for (const auto &[function, byRanks] : sorted(decisions)) {
    llvm::json::Array sizes;
    for (const auto &[ranks, decided] : byRanks) {
      llvm::json::Array rules;
      for (const Decision *d : decided) {
        auto [from, to] = messagesOf(*d);
        llvm::json::Object rule{{"msg_size_min", from}, {"alg", d->use.name}};
        if (to == UINT64_MAX)
          rule["msg_size_max"] = "inf";
        else
          rule["msg_size_max"] = to;
        if (int64_t segment = segmentOf(*d))
          rule["seg_size"] = segment;
        if (int fanout = fanoutOf(*d))
          rule["faninout"] = fanout;
        rules.push_back(std::move(rule));
      }
      uint32_t nodes = decided.front()->nodes;
      sizes.push_back(
          llvm::json::Object{{"comm_size_min", ranks},
                             {"comm_size_max", ranks},
                             {"comm_rank_distribution", nodes == 1       ? "single-node"
                                                        : nodes == ranks ? "one-per-node"
                                                                         : "any"},
                             {"rules", std::move(rules)}});
    }
    collectives[function] = std::move(sizes);
  }
  llvm::json::Object all{
      {"rule_file_version", 3}, {"module", "tuned"}, {"collectives", std::move(collectives)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all))).str();
}

std::vector<TuningFile> OpenMpi::files(const std::vector<Decision> &decisions,
                                       const std::string &path) const {
  return {{path,
           readsJson() ? jsonText(decisions) : classicText(decisions),
           {std::string(kUse) + "=1", std::string(kRulesFile) + "=" + path}}};
}

} // namespace colldsl::tools
