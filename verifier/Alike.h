/// Failures that differ only by a renaming of ranks. A mistake in the text of a collective fails on
/// every rank that comes there; it is reported once, for the smallest of them.
#pragma once

#include "verifier/Verifier.h"

namespace colldsl::proof {

/// Equal for failures that a renaming of ranks takes to each other. Ranks in it are numbered in the
/// order in which they occur; other numbers (elements, bytes, lines, operands) may follow from
/// ranks and are left out. `sharesText`: the ranks have one source text, so that failures at two
/// places of it differ; in GOAL each rank has lines of its own.
/// Example: "rank 3's send y[3..4] to 0" and "rank 0's send y[0..1] to 1" have one pattern,
/// "rank 2's send y[2..3] to 2" has another.
std::string patternOf(const Failure &failure, bool sharesText);

/// "and alike on 6 other ranks (2..7)"; empty if no other rank fails.
std::string alikeWords(const Failure &failure);

} // namespace colldsl::proof
