/// Rules that name a collective for a function in a situation: the first that fits serves.
#pragma once

#include "program/library/Library.h"
#include "select/Situation.h"

namespace colldsl {

bool fits(const SelectionRule &rule, const Situation &situation);

/// The conditions of a rule for the situation's function that do not hold: "65536 bytes are not
/// ..8192; i64 is not among the types". Empty: it fits.
std::string whyNot(const SelectionRule &rule, const Situation &situation);

} // namespace colldsl
