/// Fits a machine model to files of measured times, and tells how good it is.
#pragma once

#include "driver/Watch.h"
#include "driver/fit/FitErrors.h"
#include "driver/requests/MachineRequest.h"

namespace colldsl::driver {

/// The parts of the data that are left out, one after the other, to judge a fit to the rest.
enum class LeftOut : uint8_t {
  None,   ///< the fit is judged by the data that it was made from
  Runs,   ///< times that were measured together
  Points, ///< every fifth time
};

struct FitRequest {
  MachineRequest machine; ///< the model from which the fit begins, or that is checked
  MeasuredSituation situation;
  bool check = false; ///< no fit: tells how good the model is
  bool hasFactors = true;
  uint64_t mostOps = FitSettings().mostOps; ///< of a call that is predicted
  LeftOut leftOut = LeftOut::Points;
  std::string name; ///< of the model that is made

  void addTo(Fields &fields);
};

struct FitReport {
  std::vector<Measurement> measured; ///< all that were read
  std::vector<FitPoint> points;      ///< those of the library's algorithms
  FittedModel fitted;                ///< to all of them; of a check: the model
  std::vector<double> predicted; ///< per point: by fits that have not seen it, unless LeftOut::None
  std::vector<double> predictedBySeen; ///< per point: by `fitted`
  std::string network; ///< links between nodes, as --network takes them; empty: none
  PredictionErrors errors, errorsOfSeen;
  std::vector<PickedAlgorithm> picks; ///< by `predicted`
};

/// Reads the files and fits.
Result<FitReport> makeFit(const std::vector<std::string> &files, const FitRequest &request,
                          const Watch &watch);

/// The model as JSON, with its error and the names of the files in its description.
std::string modelText(const FitReport &report, const std::vector<std::string> &files);

} // namespace colldsl::driver
