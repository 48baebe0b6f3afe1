/// A request for proofs of collectives: numbers of ranks, sizes, values of parameters, machines.
#pragma once

#include "driver/requests/ScheduleRequest.h"
#include "driver/requests/Variety.h"
#include "verifier/Verifier.h"

namespace colldsl::driver {

struct ProofRequest {
  ScheduleRequest schedule;
  std::optional<std::vector<uint32_t>> ranks; ///< nothing: 1..17, or those of a schedule
  std::optional<std::vector<uint64_t>> bytes; ///< nothing: several
  bool onlyInPlace = false;
  bool variesMachine = true; ///< tries trialMachines() in place of the request's topology
  proof::VerifyOptions verify;
  uint64_t seed = 1; ///< of the lengths of blocks known at call time only
  Variety variety;

  ProofRequest() {
    variety.tryValues = variety.vary = true;
    schedule.noWarn = false;
  }

  void addTo(Fields &fields);
  /// Adds --ranks, --bytes and --topology alone.
  void addShapes(Fields &fields, std::string ranksHelp, std::string bytesHelp,
                 std::string topologyHelp);
};

} // namespace colldsl::driver
