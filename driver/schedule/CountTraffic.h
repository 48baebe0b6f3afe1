/// Messages and bytes by the levels of the machine that they cross, without a simulation.
#pragma once

#include "driver/Watch.h"
#include "driver/schedule/SingleSchedule.h"
#include "simulator/Traffic.h"

namespace colldsl::driver {

/// A job that a schedule runs in.
struct TrafficJob {
  std::string name;
  std::string description;  ///< of its topology
  const Topology *topology; ///< what `description` says, for as many ranks as the schedule has
  sim::Traffic traffic;     ///< zero before it is counted
};

/// Counts the traffic of one schedule in jobs of equally many ranks, of which there is one at
/// least. A schedule that does not depend on the places of ranks is instantiated once for all
/// jobs, rank by rank, on all cores; one that does, or that passes choose, once for each. Progress
/// counts ranks. The watch can stop it. An error is reported as Source::render() shows it.
Status countTraffic(Source &source, const Source::Target &target, const SingleRequest &request,
                    std::span<TrafficJob> jobs, const Watch &watch = {});

} // namespace colldsl::driver
