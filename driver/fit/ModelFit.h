/// Fits a machine model to measured times.
///
/// The model has the parameters of the machine. Beside it, an implementation of an algorithm may
/// take a factor longer than its schedule says, since it waits, copies or registers memory in its
/// own way: a smooth function of the size, which is drawn towards 1. Both are determined together,
/// by least squares of the logarithms, in which points far off count less (Huber). The derivatives
/// come from the critical paths of the simulator, so that an iteration simulates each call once.
#pragma once

#include "driver/fit/Measurement.h"
#include "driver/fit/ModelParameters.h"
#include "driver/fit/Predictor.h"

#include <functional>

namespace colldsl::driver {

/// The factor of the implementation that was measured, interpolated between the sizes of the model;
/// 1 if the model does not know it.
double factorOf(const MachineModel &model, const Measurement &measured);

/// A measured time whose algorithm the library has.
struct FitPoint {
  const Measurement *measured;
  TunedCollective collective;
};

struct ParameterEstimate {
  sim::CostId id;
  double value;  ///< ns, or ns per byte
  double factor; ///< the interval of confidence (95 %) is from value / factor to value * factor
  bool isFree = true; ///< false: no measured time depends on it
};

struct FittedModel {
  MachineModel model;
  std::vector<ParameterEstimate> estimates;
  double residual = 0; ///< root mean square of the logarithms
};

struct FitSettings {
  MachineModel start; ///< what parameters are drawn towards; those that are 0 stay so
  const MachineModel *first = nullptr; ///< where the steps begin; null: at `start`
  sim::NetworkOptions network;         ///< of all calls, see Predictor; nothing of it is fitted
  bool hasFactors = true;              ///< of implementations
  uint32_t mostRanks = 2048;           ///< of a call that is simulated
  uint64_t mostOpsPerStep = 1 << 16;   ///< of a call that parameters are fitted to
  uint64_t mostOps = 1 << 24;          ///< of a call that implementations' factors are fitted to
  unsigned threads = 1;
  unsigned mostSteps = 20;
  std::function<bool(unsigned step, double residual)> watch; ///< false stops; may be empty
};

/// An error: no point can be simulated, or the watch stopped it.
Result<FittedModel> fitModel(const Program &program, const std::vector<FitPoint> &points,
                             const FitSettings &settings);

/// The times that the model predicts for the points, with the factors of their implementations; 0
/// where there is none.
std::vector<double> predictAll(const Program &program, const std::vector<FitPoint> &points,
                               const MachineModel &model, const FitSettings &settings);

} // namespace colldsl::driver
