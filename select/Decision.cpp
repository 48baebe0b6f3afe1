#include "select/Decision.h"

#include "select/Candidate.h"
#include "select/Function.h"
#include "select/RoundTimes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace colldsl {
namespace {

/// Points of one function, ranks and nodes, by bytes.
using Series = std::vector<const TuningPoint *>;

std::map<std::tuple<std::string, uint32_t, uint32_t>, Series>
seriesOf(const std::vector<TuningPoint> &points) {
  std::map<std::tuple<std::string, uint32_t, uint32_t>, Series> all;
  for (const TuningPoint &point : points)
    all[{point.function, point.nodes, point.ranks}].push_back(&point);
  for (auto &[key, series] : all)
    std::sort(series.begin(), series.end(),
              [](const TuningPoint *a, const TuningPoint *b) { return a->bytes < b->bytes; });
  return all;
}

uint64_t middleOf(uint64_t a, uint64_t b) {
  double middle = std::sqrt(static_cast<double>(std::max<uint64_t>(a, 1)) *
                            static_cast<double>(std::max<uint64_t>(b, 1)));
  return std::clamp(static_cast<uint64_t>(middle), a, b);
}

/// The last number of bytes for which the i-th point counts.
uint64_t endOf(const Series &series, size_t i) {
  uint64_t bytes = series[i]->bytes;
  if (i + 1 < series.size())
    return middleOf(bytes, series[i + 1]->bytes);
  return bytes + bytes;
}

double noiseOf(const TuningPoint &point) { return std::max(point.spread, point.drift); }

Decision decisionOf(const TuningPoint &point, bool reduces) {
  Decision decision;
  decision.function = point.function;
  decision.ranks = point.ranks;
  decision.nodes = point.nodes;
  decision.use = point.entries.front().what;
  decision.needsCommutative = reduces; // measured with an operator that is
  decision.margin = point.margin;
  decision.noise = noiseOf(point);
  decision.isLearned = point.isLearned;
  return decision;
}

/// The bytes at which the i-th point begins and ceases to count. A point that a job learned counts
/// from half its size to twice that, independent of other measurements.
std::pair<uint64_t, uint64_t> rangeOf(const Series &series, size_t i) {
  uint64_t begin = i == 0 ? 0 : endOf(series, i - 1) + 1, end = endOf(series, i);
  uint64_t bytes = series[i]->bytes;
  return series[i]->isLearned ? std::pair{std::max(begin, bytes / 2), std::min(end, 2 * bytes)}
                              : std::pair{begin, end};
}

void decideBySize(const Series &series, bool reduces, std::vector<Decision> &decisions) {
  size_t first = decisions.size();
  bool wonBefore = false;
  for (size_t i = 0; i < series.size(); ++i) {
    const TuningPoint &point = *series[i];
    auto [begin, end] = rangeOf(series, i);
    bool wins = hasWinner(point);
    bool isNext = wins && wonBefore && decisions.back().maxBytes + 1 == begin &&
                  decisions.back().isLearned == point.isLearned;
    if (isNext && decisions.back().use == point.entries.front().what) {
      decisions.back().maxBytes = end;
      decisions.back().margin = std::min(decisions.back().margin, point.margin);
      decisions.back().noise = std::max(decisions.back().noise, noiseOf(point));
    } else if (wins) {
      Decision decision = decisionOf(point, reduces);
      decision.minBytes = begin;
      decision.maxBytes = end;
      decisions.push_back(std::move(decision));
    }
    wonBefore = wins && decisions.size() > first;
  }
}

/// The geometric mean of the speedup of one collective over the rules' choice at all points. Empty:
/// it was not measured everywhere, or lost somewhere.
std::optional<double> gainOf(const TunedCollective &what, const Series &series) {
  double sum = 0;
  for (const TuningPoint *point : series) {
    bool isFirst = !point->entries.empty() && point->entries.front().what == what;
    auto entry = std::find_if(point->entries.begin(), point->entries.end(),
                              [&](const auto &e) { return e.what == what; });
    if (entry == point->entries.end() || (isFirst && !hasWinner(*point) && point->margin < 1))
      return std::nullopt;
    double ratio = isFirst ? point->margin : point->shippedNs / std::max(entry->ns, 1.0);
    if (ratio < kLeastGain && !isFirst)
      return std::nullopt;
    sum += std::log(ratio);
  }
  return std::exp(sum / static_cast<double>(series.size()));
}

void decideForAll(const Series &series, bool reduces, std::vector<Decision> &decisions) {
  std::optional<Decision> best;
  for (const TuningPoint *point : series) {
    if (!hasWinner(*point))
      continue;
    std::optional<double> gain = gainOf(point->entries.front().what, series);
    if (!gain || *gain < kLeastGain || (best && *gain <= best->margin))
      continue;
    best = decisionOf(*point, reduces);
    best->margin = *gain;
    for (const TuningPoint *other : series)
      best->noise = std::max(best->noise, noiseOf(*other));
  }
  if (best)
    decisions.push_back(std::move(*best));
}

} // namespace

void sortEntries(TuningPoint &point, const TunedCollective *winner) {
  std::stable_sort(point.entries.begin(), point.entries.end(), [&](const auto &a, const auto &b) {
    bool isA = winner && a.what == *winner, isB = winner && b.what == *winner;
    return isA != isB ? isA : a.ns < b.ns;
  });
}

bool hasWinner(const TuningPoint &point) {
  return !point.entries.empty() && point.least >= kLeastGain;
}

bool isFor(const Decision &d, const TuningPoint &p) {
  return d.function == p.function && d.ranks == p.ranks && d.nodes == p.nodes &&
         d.minBytes <= p.bytes && p.bytes <= d.maxBytes;
}

std::vector<const TuningPoint *> decidedPoints(const MachineProfile &profile) {
  std::vector<const TuningPoint *> decided;
  for (const TuningPoint &point : profile.points)
    if (std::any_of(profile.decisions.begin(), profile.decisions.end(),
                    [&](const Decision &d) { return isFor(d, point); }))
      decided.push_back(&point);
  return decided;
}

Result<std::vector<Decision>> decide(const std::vector<TuningPoint> &points, Library &library) {
  Result<const std::vector<SelectionRule> *> rules = library.rules();
  if (!rules)
    return rules.status();
  const Program &program = **library.program(); // rules() has checked it
  return decide(points, [&](const std::string &function) -> std::optional<DecidedFunction> {
    DeclId id = modelOf(**rules, function);
    if (id == kNoDecl)
      return std::nullopt;
    const Decl &model = program.decl(id);
    return DecidedFunction{timedElementBytes(model) > 1, hasElements(model)};
  });
}

std::vector<Decision>
decide(const std::vector<TuningPoint> &points,
       const std::function<std::optional<DecidedFunction>(const std::string &)> &describe) {
  std::vector<Decision> decisions;
  for (const auto &[key, series] : seriesOf(points)) {
    std::optional<DecidedFunction> function = describe(series.front()->function);
    if (!function)
      continue;
    if (function->hasSize)
      decideBySize(series, function->reduces, decisions);
    else
      decideForAll(series, function->reduces, decisions);
  }
  return decisions;
}

Result<size_t> addLearned(MachineProfile &profile, const std::vector<TuningPoint> &learned,
                          Library &library) {
  std::vector<TuningPoint> added;
  for (const TuningPoint &point : learned) {
    auto isSame = [&](const TuningPoint &other) { return other.isAt(point); };
    if (std::none_of(profile.points.begin(), profile.points.end(), isSame) &&
        std::none_of(added.begin(), added.end(), isSame))
      added.push_back(point);
  }
  Result<std::vector<Decision>> decisions = decide(added, library);
  if (!decisions)
    return decisions.status();
  profile.decisions.insert(profile.decisions.end(), decisions->begin(), decisions->end());
  profile.points.insert(profile.points.end(), added.begin(), added.end());
  return added.size();
}

} // namespace colldsl
