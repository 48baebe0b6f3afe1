/// Distances between predictions and measured times, and the quality of the algorithms that they
/// pick.
#pragma once

#include "driver/fit/ModelFit.h"

namespace colldsl::driver {

/// The factors between predicted and measured times, whichever is greater.
struct PredictionErrors {
  size_t points = 0;
  double median = 1;
  double p90 = 1;
};

/// One call, measured with several algorithms in one run.
struct PickedAlgorithm {
  const Measurement *picked;    ///< the one with the least predicted time
  const Measurement *best;      ///< the fastest of those that the model predicts
  const Measurement *bestOfAll; ///< the fastest of all that were measured
  double ofDefault = 0; ///< time of what the MPI chooses by the best of all; 0: not measured
  double regret() const { return picked->ns / best->ns; }
};

struct PickErrors {
  size_t calls = 0;
  double mean = 1, worst = 1;               ///< by the fastest of those that the model predicts
  double meanOfAll = 1, worstOfAll = 1;     ///< by the fastest of all that were measured
  size_t defaults = 0;                      ///< calls with a time of what the MPI chooses
  double meanDefault = 1, worstDefault = 1; ///< by the fastest of all
};

/// Predictions of 0 are left out.
PredictionErrors errorsOf(const std::vector<FitPoint> &points,
                          const std::vector<double> &predicted);

/// Calls with at least two predicted algorithms. `all`: all measured times.
std::vector<PickedAlgorithm> picksOf(const std::vector<Measurement> &all,
                                     const std::vector<FitPoint> &points,
                                     const std::vector<double> &predicted);
PickErrors errorsOf(const std::vector<PickedAlgorithm> &picks);

} // namespace colldsl::driver
