/// The parameters of a machine model that measurements may determine.
#pragma once

#include "simulator/PathTimes.h"

#include <vector>

namespace colldsl::driver {

/// Reads and writes a parameter; ns, or ns per byte.
double valueOf(const MachineModel &model, const sim::CostId &id);
void setValue(MachineModel &model, const sim::CostId &id, double value);

/// Parameters that are above zero in a model. Classes of distances that have the same costs, one
/// beside the other, have one set of parameters.
class ModelParameters {
public:
  explicit ModelParameters(const MachineModel &model);

  size_t size() const { return parameters_.size(); }
  const sim::CostId &idOf(size_t parameter) const { return parameters_[parameter].front(); }
  /// The number of the parameter; nothing: it is none of these.
  std::optional<size_t> numberOf(const sim::CostId &id) const;
  double valueIn(const MachineModel &model, size_t parameter) const {
    return valueOf(model, idOf(parameter));
  }
  void set(MachineModel &model, size_t parameter, double value) const;

private:
  std::vector<std::vector<sim::CostId>> parameters_; ///< each with those that equal it
};

} // namespace colldsl::driver
