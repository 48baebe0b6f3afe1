/// The text form of schedules: a superset of GOAL. Plain GOAL reads as a schedule
/// without buffers; what we print reads back to the same schedule, to the byte.
/// The grammar is in docs/textform.md.
#pragma once

#include "ir/Schedule.h"

#include <span>
#include <string>
#include <string_view>

namespace colldsl {

/// Limits on hostile input, each named in the message that it causes. Memory grows
/// with the text, never with a number in it.
struct TextLimits {
  uint64_t maxBytes = uint64_t{4} << 30;
  uint64_t maxOps = uint64_t{1} << 31;
  uint32_t maxRanks = 1u << 24;
  uint32_t maxLineBytes = 1u << 20;
  uint32_t maxLabelBytes = 1u << 10;
  uint32_t maxErrors = 20; ///< reading stops there
  /// True if GOAL's -1 is let in, for any rank (kNoRank) or any tag (2^32 - 1): only a
  /// simulator knows which message it meets.
  bool allowWildcards = false;
};

/// The whole schedule. Deterministic; ends with a newline.
std::string printText(const Schedule &schedule);

/// Reads the text form or plain GOAL. All errors found, each with its line
/// (a dependency cycle names the ops on it); fileName is what messages say: the
/// places of errors are in file 0, and that is fileName.
/// Without a `schedule` line the text is taken for plain GOAL: the schedule is named
/// for the file, and ops have their places in it.
struct ParsedText {
  Schedule schedule;
  std::vector<Diagnostic> errors; ///< not empty: schedule is not usable
};
ParsedText parseText(std::string_view text, std::string_view fileName, TextLimits limits = {});

} // namespace colldsl
