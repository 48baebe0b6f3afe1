/// The text form of schedules: a superset of GOAL. Plain GOAL reads as a schedule
/// without buffers; what we print reads back to the same schedule, to the byte.
/// The grammar is in docs/textform.md.
#pragma once

#include "ir/Schedule.h"

#include <string>
#include <string_view>

namespace colldsl {

/// Limits on hostile input, each named in the message that it causes.
struct TextLimits {
  uint64_t maxBytes = uint64_t{4} << 30;
  uint64_t maxOps = uint64_t{1} << 31;
  uint32_t maxRanks = 1u << 24;
};

/// The whole schedule. Deterministic; ends with a newline.
std::string printText(const Schedule &schedule);

/// Reads the text form or plain GOAL. All errors found, each with its line
/// (a dependency cycle names the ops on it); fileName is what messages say.
struct ParsedText {
  Schedule schedule;
  std::vector<Diagnostic> errors; ///< not empty: schedule is not usable
};
ParsedText parseText(std::string_view text, std::string_view fileName, TextLimits limits = {});

/// Plain GOAL: what it cannot say (copies, reductions, more than 2^32 tags) is an
/// error that names the op, or, on request, becomes calc with the op's byte count.
Result<std::string> printGoal(const Schedule &schedule);

} // namespace colldsl
