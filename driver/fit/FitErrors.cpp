#include "driver/fit/FitErrors.h"

#include "driver/fit/AlgorithmNames.h"

#include <algorithm>
#include <cmath>

namespace colldsl::driver {
namespace {

using CallKey = std::tuple<std::string, std::string, std::string, std::string, uint32_t, uint64_t>;

CallKey keyOf(const Measurement &m) {
  return {m.system, m.run, m.function, m.nodes, m.ranksPerNode, m.bytes};
}

struct MeasuredCall {
  const Measurement *picked = nullptr, *best = nullptr, *bestOfAll = nullptr, *byDefault = nullptr;
  double pickedNs = 0; ///< predicted
  size_t predicted = 0;
};

void keepFaster(const Measurement *&fastest, const Measurement &m) {
  if (!fastest || m.ns < fastest->ns)
    fastest = &m;
}

} // namespace

PredictionErrors errorsOf(const std::vector<FitPoint> &points,
                          const std::vector<double> &predicted) {
  std::vector<double> factors;
  for (size_t i = 0; i < points.size(); ++i)
    if (predicted[i] > 0)
      factors.push_back(std::exp(std::abs(std::log(predicted[i] / points[i].measured->ns))));
  std::sort(factors.begin(), factors.end());
  if (factors.empty())
    return {};
  return {factors.size(), factors[factors.size() / 2], factors[factors.size() * 9 / 10]};
}

std::vector<PickedAlgorithm> picksOf(const std::vector<Measurement> &all,
                                     const std::vector<FitPoint> &points,
                                     const std::vector<double> &predicted) {
  std::map<CallKey, MeasuredCall> calls;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!(predicted[i] > 0))
      continue;
    MeasuredCall &call = calls[keyOf(*points[i].measured)];
    keepFaster(call.best, *points[i].measured);
    if (!call.picked || predicted[i] < call.pickedNs) {
      call.picked = points[i].measured;
      call.pickedNs = predicted[i];
    }
    ++call.predicted;
  }
  for (const Measurement &m : all)
    if (auto call = calls.find(keyOf(m)); call != calls.end())
      keepFaster(isDefault(m) ? call->second.byDefault : call->second.bestOfAll, m);
  std::vector<PickedAlgorithm> picks;
  for (const auto &[key, call] : calls)
    if (call.predicted > 1)
      picks.push_back({call.picked, call.best, call.bestOfAll,
                       call.byDefault ? call.byDefault->ns / call.bestOfAll->ns : 0});
  return picks;
}

PickErrors errorsOf(const std::vector<PickedAlgorithm> &picks) {
  PickErrors errors;
  double sum = 0, ofAll = 0, ofDefaults = 0;
  for (const PickedAlgorithm &pick : picks) {
    double all = pick.picked->ns / pick.bestOfAll->ns;
    sum += pick.regret();
    ofAll += all;
    errors.worst = std::max(errors.worst, pick.regret());
    errors.worstOfAll = std::max(errors.worstOfAll, all);
    ++errors.calls;
    if (pick.ofDefault == 0)
      continue;
    ofDefaults += pick.ofDefault;
    errors.worstDefault = std::max(errors.worstDefault, pick.ofDefault);
    ++errors.defaults;
  }
  auto mean = [](double total, size_t count) {
    return count == 0 ? 1 : total / static_cast<double>(count);
  };
  errors.mean = mean(sum, errors.calls);
  errors.meanOfAll = mean(ofAll, errors.calls);
  errors.meanDefault = mean(ofDefaults, errors.defaults);
  return errors;
}

} // namespace colldsl::driver
