/// The simulator: LogGOP, event by event. docs/simulator.md has the rules.
#pragma once

#include "simulator/Network.h"
#include "simulator/Noise.h"
#include "simulator/Recording.h"
#include "simulator/Workload.h"

#include <functional>
#include <optional>

namespace colldsl::sim {

struct SimulateOptions {
  MachineModel model = MachineModel::flat();
  /// Defines the model's distances, and the network's nodes; null: all ranks at distance 0. The
  /// workload must have been packed with the same topology.
  const Topology *topology = nullptr;
  NoiseOptions noise;
  uint64_t skewNs = 0;       ///< each rank starts at a random time from 0 to this
  uint32_t receiveSlots = 0; ///< messages on their way to one rank at most; 0: any number
  NetworkOptions network;
  uint64_t seed = 0;
  bool record = false; ///< fill Outcome::recording and links
  /// Called from time to time during the run, with its progress: events, as Outcome counts them,
  /// and the simulated time. False ends the run with an error. Empty: no calls.
  std::function<bool(uint64_t events, uint64_t ns)> watch;
};

struct Outcome {
  std::vector<uint64_t> finish; ///< per rank, ns: when its processors are done
  uint64_t makespan = 0;        ///< the latest of these
  uint64_t events = 0;          ///< ops and messages
  uint64_t ops = 0;
  uint64_t messages = 0;
  std::optional<Recording> recording;
  std::vector<LinkLoad> links; ///< of the network, those that carried messages
};

/// Runs the workload to its end; it cannot be run again. Deterministic: the same arguments
/// give the same outcome. An error if ops remain that cannot run: it names some, what they
/// wait for, and where they come from.
Result<Outcome> simulate(Workload &workload, const SimulateOptions &options);

} // namespace colldsl::sim
