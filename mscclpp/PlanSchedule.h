/// The steps of a plan as a schedule that the simulator times and pages draw: a rank per GPU, a
/// processor per threadblock. docs/mscclpp.md says what becomes of what.
#pragma once

#include "ir/Schedule.h"
#include "mscclpp/Events.h"

namespace colldsl::mscclpp {

struct PlanSchedule {
  Schedule schedule;
  std::vector<OpId> ops; ///< per event: the op that is done when it is, of the event's GPU
};

/// The signals that are messages of the schedule.
enum class Signals : uint8_t {
  All,
  OfData, ///< those that order data: relaxed signals and waits have no partner
};

/// `events` are those of the plan and its memory. Steps that wait for ever have no partner.
/// `chunkBytes`: of a chunk, whose cells take equal parts; `file`: the name of the plan's text, for
/// places. An error: a GPU has more threadblocks than a rank has processors.
Result<PlanSchedule> scheduleOf(const Plan &plan, const Memory &memory, const Events &events,
                                uint64_t chunkBytes, const std::string &file, Signals signals);

/// The schedule of so many launches for messages of that length. An error: of PlanLayout::of(), the
/// plan has too many steps, or some wait for ever.
Result<Schedule> scheduleOf(const Plan &plan, uint64_t messageBytes, uint32_t launches,
                            const std::string &file);

} // namespace colldsl::mscclpp
