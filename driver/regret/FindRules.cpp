#include "driver/regret/FindRules.h"

#include "ir/Concat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace colldsl::driver {
namespace {

constexpr double kImpossible = 1e6;   ///< the cost of a collective that cannot serve a call
constexpr double kPenalty = 4;        ///< of the part of a logarithm beyond the most regret
constexpr double kLeastPromise = 1.3; ///< a collective that is never within this of the best is out

enum Feature { kBytes, kNodes, kPerNode, kRanks, kFeatures };
constexpr std::array<const char *, kFeatures> kWords = {"bytes", "nodes", "pernode", "ranks"};

using Values = std::array<uint64_t, kFeatures>;

Values valuesOf(const RuleCall &call) {
  return {call.isSized ? call.bytes : 0, call.shape.nodes,
          std::min(call.shape.ranksPerNode, call.shape.ranks), call.shape.ranks};
}

/// The largest value below a split between two neighbouring ones: for bytes a power of two between
/// them, else in their middle.
uint64_t splitBetween(Feature feature, uint64_t low, uint64_t high) {
  if (feature != kBytes)
    return low + (high - low) / 2;
  double middle =
      std::sqrt(static_cast<double>(std::max<uint64_t>(low, 1)) * static_cast<double>(high));
  uint64_t power = std::bit_ceil(static_cast<uint64_t>(middle));
  return power < high ? std::max(power, low) : low;
}

std::string boundWord(Feature feature, uint64_t value) {
  constexpr uint64_t kKi = 1024;
  if (feature == kBytes && value > 0 && value % (kKi * kKi) == 0)
    return concat(value / (kKi * kKi), "MiB");
  if (feature == kBytes && value > 0 && value % kKi == 0)
    return concat(value / kKi, "KiB");
  return concat(value);
}

/// The collective with its values as rules spell them: false, not 0, for a bool.
std::string ruleWords(const Program &program, const std::string &words) {
  Result<TunedCollective> what = TunedCollective::parse(words);
  DeclId decl = what ? program.find(what->name, DeclKind::Collective) : kNoDecl;
  if (decl == kNoDecl)
    return words;
  std::string line = what->name;
  for (const TunedCollective::Value &value : what->values) {
    const std::vector<Param> &params = program.decl(decl).params;
    bool isBool = std::any_of(params.begin(), params.end(), [&](const Param &p) {
      return program.nameOf(p) == value.parameter && p.type == ValueType::Bool;
    });
    std::string number = concat(value.value);
    line += concat(" ", value.parameter, "=",
                   !isBool            ? number
                   : value.value != 0 ? std::string("true")
                                      : "false");
  }
  return line;
}

class FunctionRules {
public:
  FunctionRules(const Program &program, std::vector<const RuleCosts *> calls,
                const FindSettings &settings)
      : program_(program), calls_(std::move(calls)), settings_(settings) {
    collectNames();
    costs_.resize(calls_.size() * names_.size());
    for (size_t c = 0; c < calls_.size(); ++c)
      for (size_t k = 0; k < names_.size(); ++k)
        costs_[c * names_.size() + k] = costOf(*calls_[c], names_[k]);
  }

  std::vector<std::string> find() {
    if (names_.empty())
      return {};
    std::vector<size_t> all(calls_.size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = i;
    Values unlimited;
    unlimited.fill(UINT64_MAX);
    split(all, unlimited);
    return std::move(lines_);
  }

private:
  struct Leaf {
    size_t name = 0;
    double cost = 0;
  };
  struct Split {
    Feature feature = kBytes;
    uint64_t last = 0; ///< of the lower part
    double cost = std::numeric_limits<double>::infinity();
  };

  void collectNames() {
    std::set<std::string> promising;
    for (const RuleCosts *call : calls_)
      for (const auto &[words, ns] : call->ns)
        if (static_cast<double>(ns) <= kLeastPromise * static_cast<double>(call->best()))
          promising.insert(words);
    names_.assign(promising.begin(), promising.end());
  }

  double costOf(const RuleCosts &call, const std::string &name) const {
    auto known = call.ns.find(name);
    if (known == call.ns.end())
      return call.ns.empty() ? 0 : kImpossible;
    double regret = std::log(static_cast<double>(known->second) / static_cast<double>(call.best()));
    double excess = std::max(0.0, regret - std::log(settings_.mostRegret));
    return regret + kPenalty * excess;
  }

  Leaf leafOf(const std::vector<size_t> &calls) const {
    std::vector<double> sums(names_.size());
    for (size_t c : calls)
      for (size_t k = 0; k < names_.size(); ++k)
        sums[k] += costs_[c * names_.size() + k];
    size_t best = static_cast<size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    return {best, sums[best]};
  }

  Split bestSplit(const std::vector<size_t> &calls) const {
    Split best;
    for (Feature feature : {kBytes, kNodes, kPerNode, kRanks}) {
      std::set<uint64_t> values;
      for (size_t c : calls)
        values.insert(valuesOf(calls_[c]->call)[feature]);
      for (auto low = values.begin(); low != values.end() && std::next(low) != values.end();
           ++low) {
        uint64_t last = splitBetween(feature, *low, *std::next(low));
        auto [lower, upper] = parts(calls, feature, last);
        double cost = leafOf(lower).cost + leafOf(upper).cost;
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

  /// Splits as long as it pays. `most`: the upper bounds of the calls. The lower part is written
  /// first, so that its rules serve what lies below the lower bounds of the other.
  void split(const std::vector<size_t> &calls, const Values &most) {
    Leaf leaf = leafOf(calls);
    Split best = bestSplit(calls);
    if (best.cost > leaf.cost - settings_.leastGain)
      return write(most, leaf.name);
    auto [lower, upper] = parts(calls, best.feature, best.last);
    Values below = most;
    below[best.feature] = best.last;
    split(lower, below);
    split(upper, most);
  }

  void write(const Values &most, size_t name) {
    std::string line = calls_.front()->call.function;
    for (size_t f = 0; f < kFeatures; ++f) {
      auto feature = static_cast<Feature>(f);
      bool hasLeast = feature == kNodes && settings_.leastNodes > 1;
      if (most[f] < UINT64_MAX || hasLeast)
        line += concat(" ", kWords[f], " ", hasLeast ? concat(settings_.leastNodes) : "", "..",
                       most[f] < UINT64_MAX ? boundWord(feature, most[f]) : "");
    }
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
