/// Times that a machine model predicts for measured calls.
#pragma once

#include "driver/fit/Measurement.h"
#include "program/Program.h"
#include "simulator/PathTimes.h"
#include "topology/MachineProfile.h"

#include <map>
#include <memory>

namespace colldsl::driver {

struct Prediction {
  uint64_t ns = 0;
  std::map<sim::CostId, uint64_t>
      spent; ///< ns by parameter, see sim::pathTimes(); empty: not asked
};

/// One thread at a time.
class Predictor {
public:
  /// The program, of the standard library, outlives this. A network without sizes has those of the
  /// nodes of each call.
  explicit Predictor(const Program &program, const sim::NetworkOptions &network = {})
      : program_(program), network_(network) {}

  /// The collective is one of the program. An error: it has no schedule for the call, or more ops
  /// than that.
  Result<Prediction> predict(const Measurement &call, const TunedCollective &collective,
                             const MachineModel &model, uint64_t mostOps, bool tellsSpent);

private:
  Result<const Topology *> topologyOf(const Measurement &call);

  const Program &program_;
  sim::NetworkOptions network_;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Topology>> topologies_;
};

} // namespace colldsl::driver
