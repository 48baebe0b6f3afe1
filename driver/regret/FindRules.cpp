#include "driver/regret/FindRules.h"

#include "driver/fit/Measurement.h"
#include "ir/Concat.h"
#include "select/Function.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>

namespace colldsl::driver {
namespace {

constexpr double kImpossible = 1e6;   ///< the cost of a collective that cannot serve a call
constexpr double kPenalty = 4;        ///< of the part of a logarithm beyond the most regret
constexpr double kLeastPromise = 1.3; ///< a collective that is never within this of the best is out
constexpr double kLeastSplit = 1e-6;  ///< gain of a split that is tried, and may be pruned

enum Feature { kBytes, kTotal, kNodes, kPerNode, kRanks, kTcp, kFeatures };
constexpr std::array<const char *, kFeatures> kWords = {"bytes",   "total", "nodes",
                                                        "pernode", "ranks", "tcp"};

using Values = std::array<uint64_t, kFeatures>;

Values valuesOf(const RuleCall &call) {
  return {call.bytes,       hasBlocks(call.function) ? call.bytes * call.shape.ranks : 0,
          call.shape.nodes, std::min(call.shape.ranksPerNode, call.shape.ranks),
          call.shape.ranks, call.isTcp};
}

bool countsBytes(Feature feature) { return feature == kBytes || feature == kTotal; }

/// The largest value below a split between two neighbouring ones: for bytes a power of two between
/// them, else in their middle.
uint64_t splitBetween(Feature feature, uint64_t low, uint64_t high) {
  if (!countsBytes(feature))
    return low + (high - low) / 2;
  double middle =
      std::sqrt(static_cast<double>(std::max<uint64_t>(low, 1)) * static_cast<double>(high));
  uint64_t power = std::bit_ceil(static_cast<uint64_t>(middle));
  return power < high ? std::max(power, low) : low;
}

/// A number of bytes in the spelling of rules: 128KiB.
std::string bytesText(uint64_t value) {
  constexpr uint64_t kKi = 1024;
  if (value > 0 && value % (kKi * kKi) == 0)
    return concat(value / (kKi * kKi), "MiB");
  if (value > 0 && value % kKi == 0)
    return concat(value / kKi, "KiB");
  return concat(value);
}

std::string valueText(ValueType type, int64_t value) {
  if (type == ValueType::Bool)
    return value != 0 ? "true" : "false";
  return type == ValueType::Bytes ? bytesText(static_cast<uint64_t>(value)) : concat(value);
}

/// The collective with its values as rules spell them.
std::string ruleWords(const Program &program, const std::string &words) {
  Result<TunedCollective> what = TunedCollective::parse(words);
  DeclId decl = what ? program.find(what->name, DeclKind::Collective) : kNoDecl;
  if (decl == kNoDecl)
    return words;
  std::string line = what->name;
  for (const TunedCollective::Value &value : what->values)
    for (const Param &p : program.decl(decl).params)
      if (program.nameOf(p) == value.parameter)
        line += concat(" ", value.parameter, "=", valueText(p.type, value.value));
  return line;
}

/// The predicted times of one call, by collective.
class TimesOfCall {
public:
  explicit TimesOfCall(const RuleCosts &costs) {
    for (const auto &[words, ns] : costs.ns)
      if (Result<TunedCollective> what = TunedCollective::parse(words))
        byName_[what->name].push_back({what->values, ns});
  }

  /// Values that the model cannot tell from others have no time of their own: that of the nearest
  /// values stands for them. Empty: the collective cannot serve the call, or no such number of
  /// values is known.
  std::optional<uint64_t> timeOf(const TunedCollective &what) const {
    auto known = byName_.find(what.name);
    if (known == byName_.end())
      return std::nullopt;
    const Timed *nearest = nullptr;
    for (const Timed &one : known->second)
      if (one.values.size() == what.values.size() &&
          (!nearest || distance(one.values, what.values) < distance(nearest->values, what.values)))
        nearest = &one;
    return nearest ? std::optional(nearest->ns) : std::nullopt;
  }

private:
  using Parameters = std::vector<TunedCollective::Value>;
  struct Timed {
    Parameters values;
    uint64_t ns = 0;
  };

  static double distance(const Parameters &a, const Parameters &b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
      sum += std::abs(std::log2(static_cast<double>(a[i].value) + 1) -
                      std::log2(static_cast<double>(b[i].value) + 1));
    return sum;
  }

  std::map<std::string, std::vector<Timed>> byName_;
};

/// A tree of decisions for one function. It is grown as far as any split gains, then pruned: splits
/// that gain little by themselves stay if those below them gain.
class FunctionRules {
public:
  FunctionRules(const Program &program, std::vector<const RuleCosts *> calls,
                const FindSettings &settings)
      : program_(program), calls_(std::move(calls)), settings_(settings) {
    collectNames();
    costs_.reserve(calls_.size() * names_.size());
    for (const RuleCosts *call : calls_) {
      TimesOfCall times(*call);
      for (const std::string &name : names_)
        costs_.push_back(costOf(*call, times, *TunedCollective::parse(name)));
    }
  }

  std::vector<std::string> find() {
    if (names_.empty())
      return {};
    std::vector<size_t> all(calls_.size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = i;
    Node root = grow(all);
    prune(root);
    Values unlimited;
    unlimited.fill(UINT64_MAX);
    write(root, unlimited);
    return std::move(lines_);
  }

private:
  struct Split {
    Feature feature = kBytes;
    uint64_t last = 0; ///< of the lower part
    double cost = std::numeric_limits<double>::infinity();
  };
  struct Node {
    size_t name = 0; ///< the best of all its calls
    double cost = 0; ///< by that name
    Feature feature = kBytes;
    uint64_t last = 0;
    std::unique_ptr<Node> lower, upper; ///< both or none
    double costBelow = 0;               ///< by its leaves
    size_t leaves = 1;
  };

  static std::string collectiveIn(const std::string &words) {
    return words.substr(0, words.find(' '));
  }

  /// Collectives that cannot serve some of the calls, for an odd number of ranks say, are left out:
  /// a rule's bounds would hold calls that it cannot serve.
  void collectNames() {
    std::map<std::string, std::set<const RuleCosts *>> servedBy;
    std::set<std::string> promising;
    size_t predicted = 0;
    for (const RuleCosts *call : calls_) {
      predicted += !call->ns.empty();
      for (const auto &[words, ns] : call->ns) {
        servedBy[collectiveIn(words)].insert(call);
        if (static_cast<double>(ns) <= kLeastPromise * static_cast<double>(call->best()))
          promising.insert(words);
      }
    }
    for (const std::string &words : promising)
      if (servedBy[collectiveIn(words)].size() == predicted)
        names_.push_back(words);
  }

  double costOf(const RuleCosts &call, const TimesOfCall &times,
                const TunedCollective &what) const {
    std::optional<uint64_t> ns = times.timeOf(what);
    if (!ns)
      return call.ns.empty() ? 0 : kImpossible;
    auto log = [&](uint64_t bar) {
      return std::log(static_cast<double>(*ns) / static_cast<double>(bar));
    };
    double regret = log(call.best());
    double excess = std::max(0.0, regret - std::log(settings_.mostRegret));
    double slower = call.bar > 0 ? std::max(0.0, log(call.bar)) : 0;
    return regret + kPenalty * (excess + slower);
  }

  /// The best name of all calls, and its cost.
  std::pair<size_t, double> bestOf(const std::vector<size_t> &calls) const {
    std::vector<double> sums(names_.size());
    for (size_t c : calls)
      for (size_t k = 0; k < names_.size(); ++k)
        sums[k] += costs_[c * names_.size() + k];
    size_t best = static_cast<size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    return {best, sums[best]};
  }

  Split bestSplit(const std::vector<size_t> &calls) const {
    Split best;
    for (size_t f = 0; f < kFeatures; ++f) {
      auto feature = static_cast<Feature>(f);
      std::set<uint64_t> values;
      for (size_t c : calls)
        values.insert(valuesOf(calls_[c]->call)[feature]);
      for (auto low = values.begin(); low != values.end() && std::next(low) != values.end();
           ++low) {
        uint64_t last = splitBetween(feature, *low, *std::next(low));
        auto [lower, upper] = parts(calls, feature, last);
        double cost = bestOf(lower).second + bestOf(upper).second;
        if (cost < best.cost)
          best = {feature, last, cost};
      }
    }
    return best;
  }

  std::pair<std::vector<size_t>, std::vector<size_t>> parts(const std::vector<size_t> &calls,
                                                            Feature feature, uint64_t last) const {
    std::pair<std::vector<size_t>, std::vector<size_t>> both;
    for (size_t c : calls)
      (valuesOf(calls_[c]->call)[feature] <= last ? both.first : both.second).push_back(c);
    return both;
  }

  Node grow(const std::vector<size_t> &calls) const {
    Node node;
    std::tie(node.name, node.cost) = bestOf(calls);
    node.costBelow = node.cost;
    Split split = bestSplit(calls);
    if (split.cost > node.cost - kLeastSplit)
      return node;
    node.feature = split.feature;
    node.last = split.last;
    auto [lower, upper] = parts(calls, split.feature, split.last);
    node.lower = std::make_unique<Node>(grow(lower));
    node.upper = std::make_unique<Node>(grow(upper));
    return node;
  }

  /// Cuts what does not gain the least per rule.
  void prune(Node &node) const {
    if (!node.lower)
      return;
    prune(*node.lower);
    prune(*node.upper);
    node.costBelow = node.lower->costBelow + node.upper->costBelow;
    node.leaves = node.lower->leaves + node.upper->leaves;
    double least = settings_.leastGain * static_cast<double>(node.leaves - 1);
    if (node.cost - node.costBelow >= least)
      return;
    node.lower = nullptr;
    node.upper = nullptr;
    node.costBelow = node.cost;
    node.leaves = 1;
  }

  /// `most`: the upper bounds of the calls. The lower part is written first, so that its rules
  /// serve what lies below the lower bounds of the other.
  void write(const Node &node, const Values &most) {
    if (!node.lower)
      return writeRule(most, node.name);
    if (node.feature == kTcp) { // rules may require it, but not its absence
      Values over = most;
      over[kTcp] = 1;
      write(*node.upper, over);
      write(*node.lower, most);
      return;
    }
    Values below = most;
    below[node.feature] = node.last;
    write(*node.lower, below);
    write(*node.upper, most);
  }

  void writeRule(const Values &most, size_t name) {
    std::string line = calls_.front()->call.function;
    for (size_t f = 0; f < kTcp; ++f) {
      auto feature = static_cast<Feature>(f);
      bool hasLeast = feature == kNodes && settings_.leastNodes > 1;
      if (most[f] < UINT64_MAX || hasLeast)
        line += concat(" ", kWords[f], " ", hasLeast ? concat(settings_.leastNodes) : "", "..",
                       most[f] == UINT64_MAX  ? ""
                       : countsBytes(feature) ? bytesText(most[f])
                                              : concat(most[f]));
    }
    if (most[kTcp] == 1)
      line += concat(" ", kWords[kTcp]);
    DeclId decl = program_.find(TunedCollective::parse(names_[name])->name, DeclKind::Collective);
    if (decl != kNoDecl && reduces(program_.decl(decl)))
      line += " commutative"; // the times are those of such operators
    line += " use " + ruleWords(program_, names_[name]);
    lines_.push_back(std::move(line));
  }

  const Program &program_;
  std::vector<const RuleCosts *> calls_;
  const FindSettings &settings_;
  std::vector<std::string> names_;
  std::vector<double> costs_; ///< per call and name
  std::vector<std::string> lines_;
};

} // namespace

std::vector<std::string> findRules(const Program &program, const std::vector<RuleCosts> &costs,
                                   const FindSettings &settings) {
  std::vector<std::string> functions;
  std::map<std::string, std::vector<const RuleCosts *>> calls;
  for (const RuleCosts &one : costs) {
    if (one.ns.empty())
      continue;
    if (calls[one.call.function].empty())
      functions.push_back(one.call.function);
    calls[one.call.function].push_back(&one);
  }
  std::vector<std::string> lines;
  for (const std::string &function : functions)
    for (std::string &line : FunctionRules(program, calls[function], settings).find())
      lines.push_back(std::move(line));
  return lines;
}

} // namespace colldsl::driver
