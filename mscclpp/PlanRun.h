/// One execution of the steps of a plan, in any order that the plan allows. Signals and packets
/// only add up, and a counter has one thread that waits at a time, so that all executions end
/// alike.
#pragma once

#include "mscclpp/Events.h"

namespace colldsl::mscclpp {

/// The packets that a slot gets in a launch, and the steps that wait for them.
struct PacketUse {
  std::vector<EventId> writes, reads;
};

struct Execution {
  std::vector<EventId> order;     ///< of all steps that could be executed
  std::vector<EventId> blocked;   ///< steps that wait for ever, all before which were executed
  std::vector<PacketUse> packets; ///< by location and launch, see packetSlot()
};

inline size_t packetSlot(const Events &events, Location location, uint32_t launch) {
  return size_t{location} * events.launches + (launch - 1);
}

Execution execute(const Events &events, uint32_t numLocations);

} // namespace colldsl::mscclpp
