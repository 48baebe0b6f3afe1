#include "driver/fit/ModelFit.h"

#include "ir/Threads.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>

namespace colldsl::driver {
namespace {

constexpr double kNoise = 0.1;           ///< of a logarithm of a measured time
constexpr double kHuber = 2 * kNoise;    ///< residuals beyond it count by their absolute value
constexpr double kParameterSpread = 1.5; ///< of the logarithms of parameters around the start
constexpr double kFactorSpread = 0.6;    ///< of the logarithms of factors around 0
constexpr double kFactorChange = 0.35;   ///< from one of the sizes to the next
constexpr double kLongestStep = 0.7;     ///< of a logarithm, in one step
constexpr double kConverged = 1e-3;      ///< of the objective, relative
constexpr double kTwoSided95 = 1.96;
constexpr unsigned kMostHalvings = 4;
/// Bytes at which implementations have factors.
constexpr std::array<uint64_t, 9> kSizes = {1 << 5,  1 << 8,  1 << 11, 1 << 14, 1 << 17,
                                            1 << 20, 1 << 23, 1 << 26, 1 << 29};

std::string implementationOf(const Measurement &measured) {
  return measured.function + " " + measured.algorithm;
}

/// The shares of the sizes, in ascending order, in what is interpolated between their logarithms;
/// outside of them it stays as it is. They sum to 1.
std::vector<std::pair<size_t, double>> weightsAt(std::span<const uint64_t> sizes, uint64_t bytes) {
  auto after =
      static_cast<size_t>(std::upper_bound(sizes.begin(), sizes.end(), bytes) - sizes.begin());
  if (after == 0 || after == sizes.size())
    return {{after == 0 ? 0 : after - 1, 1.0}};
  double from = std::log2(static_cast<double>(sizes[after - 1]));
  double to = std::log2(static_cast<double>(sizes[after]));
  double share = (std::log2(static_cast<double>(bytes)) - from) / (to - from);
  return {{after - 1, 1 - share}, {after, share}};
}

/// Predicts many calls on several threads, the longest first. Calls of several implementations of
/// one algorithm are simulated once.
class Simulations {
public:
  Simulations(const Program &program, const std::vector<FitPoint> &points,
              const FitSettings &settings)
      : points_(points), sameAs_(points.size()) {
    std::map<std::tuple<std::string, std::string, uint32_t, uint64_t>, size_t> firsts;
    for (size_t i = 0; i < points.size(); ++i) {
      const Measurement &m = *points[i].measured;
      auto [first, isNew] =
          firsts.try_emplace({points[i].collective.words(), m.nodes, m.ranksPerNode, m.bytes}, i);
      sameAs_[i] = first->second;
      if (isNew && ranksOf(i) <= settings.mostRanks)
        order_.push_back(i);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return ranksOf(a) > ranksOf(b); });
    for (unsigned i = 0; i < std::max(1u, settings.threads); ++i)
      predictors_.emplace_back(program, settings.network);
  }

  /// Calls of more ops or ranks, and those that cannot run, have 0 ns.
  std::vector<Prediction> run(const MachineModel &model, uint64_t mostOps, bool tellsSpent) {
    std::vector<Prediction> found(points_.size());
    std::atomic<size_t> next{0};
    std::atomic<size_t> thread{0};
    onThreads(static_cast<unsigned>(predictors_.size()), [&] {
      Predictor &predictor = predictors_[thread++];
      for (size_t i = next++; i < order_.size(); i = next++) {
        const FitPoint &point = points_[order_[i]];
        Result<Prediction> one =
            predictor.predict(*point.measured, point.collective, model, mostOps, tellsSpent);
        if (one)
          found[order_[i]] = one.take();
      }
    });
    for (size_t i = 0; i < found.size(); ++i)
      if (sameAs_[i] != i)
        found[i] = found[sameAs_[i]];
    return found;
  }

private:
  uint64_t ranksOf(size_t point) const {
    return uint64_t{points_[point].measured->numNodes} * points_[point].measured->ranksPerNode;
  }

  const std::vector<FitPoint> &points_;
  std::vector<size_t> sameAs_; ///< per point: the one that is simulated for it
  std::vector<size_t> order_;  ///< of those
  std::vector<Predictor> predictors_;
};

double huber(double residual) {
  double size = std::abs(residual);
  return size <= kHuber ? residual * residual : kHuber * (2 * size - kHuber);
}

class Fit {
public:
  Fit(const Program &program, const std::vector<FitPoint> &points, const FitSettings &settings)
      : points_(points), settings_(settings), parameters_(settings.start),
        simulations_(program, points, settings) {
    for (size_t i = 0; settings.hasFactors && i < points.size(); ++i)
      columns_.try_emplace(implementationOf(*points[i].measured), 0);
    size_t next = parameters_.size();
    for (auto &[name, column] : columns_) {
      column = next;
      next += kSizes.size();
    }
    x_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(next));
    for (size_t p = 0; settings.first && p < parameters_.size(); ++p)
      x_[static_cast<Eigen::Index>(p)] =
          std::log(std::max(1e-9, parameters_.valueIn(*settings.first, p)) /
                   parameters_.valueIn(settings.start, p));
  }

  Result<FittedModel> run() {
    prior_ = makePrior();
    State state = evaluate(x_);
    if (state.used == 0)
      return Status::error("none of the measured calls can be simulated");
    for (unsigned step = 0; step < settings_.mostSteps; ++step) {
      if (settings_.watch && !settings_.watch(step, state.residual))
        return Status::error("the fit was stopped");
      Eigen::VectorXd change = solve(state);
      double longest = change.head(numParameters()).cwiseAbs().maxCoeff();
      if (longest > kLongestStep)
        change *= kLongestStep / longest;
      State better = evaluate(x_ + change);
      for (unsigned i = 0; i < kMostHalvings && better.objective > state.objective; ++i) {
        change /= 2;
        better = evaluate(x_ + change);
      }
      if (better.objective > state.objective)
        break;
      bool isDone = better.objective > state.objective * (1 - kConverged);
      x_ += change;
      state = std::move(better);
      if (isDone)
        break;
    }
    FittedModel fitted = finish(state);
    if (settings_.hasFactors)
      fitFactors(fitted);
    return fitted;
  }

private:
  struct State {
    std::vector<Prediction> predictions;
    std::vector<double> residuals; ///< logarithms; NaN: no prediction
    double objective = 0;
    double residual = 0;
    size_t used = 0;
  };

  Eigen::Index numParameters() const { return static_cast<Eigen::Index>(parameters_.size()); }

  MachineModel modelAt(const Eigen::VectorXd &x) const {
    MachineModel model = settings_.start;
    for (size_t p = 0; p < parameters_.size(); ++p)
      parameters_.set(model, p,
                      parameters_.valueIn(settings_.start, p) *
                          std::exp(x[static_cast<Eigen::Index>(p)]));
    return model;
  }

  double logFactor(const Eigen::VectorXd &x, const Measurement &measured) const {
    auto column = columns_.find(implementationOf(measured));
    if (column == columns_.end())
      return 0;
    double sum = 0;
    for (auto [k, weight] : weightsAt(kSizes, measured.bytes))
      sum += weight * x[static_cast<Eigen::Index>(column->second + k)];
    return sum;
  }

  /// The precision of what is known without data: parameters are near the start, factors near 1 and
  /// near those of the next sizes.
  Eigen::MatrixXd makePrior() const {
    Eigen::MatrixXd prior = Eigen::MatrixXd::Zero(x_.size(), x_.size());
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      double spread = i < numParameters() ? kParameterSpread : kFactorSpread;
      prior(i, i) = 1 / (spread * spread);
    }
    constexpr double change = 1 / (kFactorChange * kFactorChange);
    for (const auto &[name, column] : columns_)
      for (size_t k = 1; k < kSizes.size(); ++k) {
        auto i = static_cast<Eigen::Index>(column + k);
        prior(i, i) += change;
        prior(i - 1, i - 1) += change;
        prior(i, i - 1) -= change;
        prior(i - 1, i) -= change;
      }
    return prior;
  }

  State evaluate(const Eigen::VectorXd &x) {
    State state;
    state.predictions = simulations_.run(modelAt(x), settings_.mostOpsPerStep, true);
    compare(x, state);
    return state;
  }

  /// Compares the predictions, times factors, with what was measured.
  void compare(const Eigen::VectorXd &x, State &state) const {
    state.residuals.assign(points_.size(), std::nan(""));
    state.used = 0;
    state.objective = x.dot(prior_ * x);
    double squares = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      const Prediction &prediction = state.predictions[i];
      if (prediction.ns == 0)
        continue;
      const Measurement &measured = *points_[i].measured;
      double predicted = std::log(static_cast<double>(prediction.ns)) + logFactor(x, measured);
      double r = state.residuals[i] = std::log(measured.ns) - predicted;
      state.objective += huber(r) / (kNoise * kNoise);
      squares += r * r;
      ++state.used;
    }
    state.residual = std::sqrt(squares / static_cast<double>(std::max<size_t>(1, state.used)));
  }

  /// The entries of a point's row of derivatives.
  std::vector<std::pair<Eigen::Index, double>> derivatives(const State &state, size_t point) const {
    std::vector<std::pair<Eigen::Index, double>> row;
    const Prediction &prediction = state.predictions[point];
    for (const auto &[id, ns] : prediction.spent)
      if (std::optional<size_t> p = parameters_.numberOf(id))
        row.emplace_back(*p, static_cast<double>(ns) / static_cast<double>(prediction.ns));
    const Measurement &measured = *points_[point].measured;
    auto column = columns_.find(implementationOf(measured));
    if (column == columns_.end())
      return row;
    for (auto [k, weight] : weightsAt(kSizes, measured.bytes))
      row.emplace_back(column->second + k, weight);
    return row;
  }

  /// The normal equations: their matrix, and the right side.
  std::pair<Eigen::MatrixXd, Eigen::VectorXd> equations(const State &state) const {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(x_.size(), x_.size());
    Eigen::VectorXd right = Eigen::VectorXd::Zero(x_.size());
    for (size_t i = 0; i < points_.size(); ++i) {
      double r = state.residuals[i];
      if (std::isnan(r))
        continue;
      double weight = std::min(1.0, kHuber / std::max(std::abs(r), kHuber)) / (kNoise * kNoise);
      auto row = derivatives(state, i);
      for (auto [a, da] : row) {
        right[a] += weight * da * r;
        for (auto [b, db] : row)
          matrix(a, b) += weight * da * db;
      }
    }
    return {matrix + prior_, right - prior_ * x_};
  }

  Eigen::VectorXd solve(const State &state) const {
    auto [matrix, right] = equations(state);
    return matrix.ldlt().solve(right);
  }

  /// Fits the factors once more, to all calls, also those that are too long for each step.
  void fitFactors(FittedModel &fitted) {
    State state;
    state.predictions = simulations_.run(fitted.model, settings_.mostOps, false);
    constexpr unsigned kReweightings = 4;
    for (unsigned i = 0; i < kReweightings; ++i) {
      compare(x_, state);
      auto [matrix, right] = equations(state);
      Eigen::Index factors = x_.size() - numParameters();
      x_.tail(factors) +=
          matrix.bottomRightCorner(factors, factors).ldlt().solve(right.tail(factors));
    }
    compare(x_, state);
    fitted.residual = state.residual;
    for (const auto &[name, column] : columns_)
      for (size_t k = 0; k < kSizes.size(); ++k)
        fitted.model.implementations[name].emplace_back(
            kSizes[k], std::exp(x_[static_cast<Eigen::Index>(column + k)]));
  }

  FittedModel finish(const State &state) const {
    FittedModel fitted;
    fitted.model = modelAt(x_);
    fitted.residual = state.residual;
    std::vector<bool> isFree(parameters_.size());
    for (const Prediction &prediction : state.predictions)
      for (const auto &[id, ns] : prediction.spent)
        if (std::optional<size_t> p = parameters_.numberOf(id))
          isFree[*p] = true;
    auto matrix = equations(state).first;
    Eigen::MatrixXd covariance =
        matrix.ldlt().solve(Eigen::MatrixXd::Identity(x_.size(), x_.size()));
    for (size_t p = 0; p < parameters_.size(); ++p) {
      auto i = static_cast<Eigen::Index>(p);
      double spread = std::sqrt(std::max(0.0, covariance(i, i)));
      fitted.estimates.push_back({parameters_.idOf(p), parameters_.valueIn(fitted.model, p),
                                  std::exp(kTwoSided95 * spread), isFree[p]});
    }
    return fitted;
  }

  const std::vector<FitPoint> &points_;
  const FitSettings &settings_;
  ModelParameters parameters_;
  Simulations simulations_;
  std::map<std::string, size_t> columns_; ///< of the factors of each implementation: the first
  Eigen::VectorXd x_; ///< logarithms: of parameters by their start, then of factors
  Eigen::MatrixXd prior_;
};

} // namespace

double factorOf(const MachineModel &model, const Measurement &measured) {
  auto known = model.implementations.find(implementationOf(measured));
  if (known == model.implementations.end())
    return 1;
  std::vector<uint64_t> sizes;
  for (auto [bytes, factor] : known->second)
    sizes.push_back(bytes);
  double sum = 0;
  for (auto [k, weight] : weightsAt(sizes, measured.bytes))
    sum += weight * std::log(known->second[k].second);
  return std::exp(sum);
}

Result<FittedModel> fitModel(const Program &program, const std::vector<FitPoint> &points,
                             const FitSettings &settings) {
  return Fit(program, points, settings).run();
}

std::vector<double> predictAll(const Program &program, const std::vector<FitPoint> &points,
                               const MachineModel &model, const FitSettings &settings) {
  std::vector<Prediction> predictions =
      Simulations(program, points, settings).run(model, settings.mostOps, false);
  std::vector<double> times;
  for (size_t i = 0; i < points.size(); ++i)
    times.push_back(static_cast<double>(predictions[i].ns) * factorOf(model, *points[i].measured));
  return times;
}

} // namespace colldsl::driver
