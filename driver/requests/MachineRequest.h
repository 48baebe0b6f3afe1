/// The machine that passes choose for, and the one that is simulated.
#pragma once

#include "driver/RequestFields.h"
#include "passes/CostModel.h"

namespace colldsl::driver {

class MachineRequest {
public:
  /// Its check combines the fields into cost().
  void addTo(Fields &fields, sim::NetworkSizes sizes = sim::NetworkSizes::Given);
  /// Adds -L -o -g -G -O -S too, for commands in which these options mean nothing else.
  void addLogGopTo(Fields &fields);

  /// The costs that the fields describe, once Fields::check() has read the model; the usual ones
  /// before.
  const CostModel &cost() const { return cost_; }
  bool isModelGiven() const { return !model_.empty(); }
  const std::string &networkWords() const { return network_; }

private:
  Status load(Sink &sink, sim::NetworkSizes sizes);
  Result<MachineModel> readModel(Sink &sink) const;

  std::string model_;
  std::string network_;
  std::string flat_; ///< the parameters of addLogGopTo(), as --model takes them: "L=1us,o=500"
  CostModel cost_;
};

} // namespace colldsl::driver
