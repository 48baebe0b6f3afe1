/// A request for one schedule: so many ranks, one size, one set of parameters.
#pragma once

#include "driver/requests/ScheduleRequest.h"

namespace colldsl::driver {

inline constexpr uint64_t kUsualBytes = 64 << 10; ///< default of --bytes

struct SingleRequest {
  ScheduleRequest schedule;
  std::optional<uint32_t> ranks; ///< nothing: of a schedule from a file
  std::optional<uint64_t> bytes; ///< n times the size of T
  bool multicast = false;        ///< the network of the ranks sends to several at once
  bool tcp = false;              ///< the kernel moves messages between nodes, over TCP or UDP

  void addTo(Fields &fields) {
    addTo(fields, "where the ranks sit (default: flat, all on one node)");
  }
  void addTo(Fields &fields, std::string topologyHelp);
  void addCall(Fields &fields, std::string topologyHelp); ///< without those of `schedule`
};

/// A request for one schedule, whose passes are proved.
struct MakeRequest : SingleRequest {
  MakeRequest() { schedule.passes.verifyMade = true; }

  void addTo(Fields &fields) {
    SingleRequest::addTo(fields);
    schedule.passes.addProofTo(fields);
  }
};

} // namespace colldsl::driver
