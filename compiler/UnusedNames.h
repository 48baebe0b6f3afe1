/// Names that a text declares and nothing uses: warnings about a text that is right.
#pragma once

#include "compiler/SymbolIndex.h"
#include "ir/Result.h"

#include <vector>

namespace colldsl {

/// Parameters, and names of `let` and `temp` of that file, in the order of its text.
/// Variables of loops, labels, and names that begin with '_', need no use. symbols: of a
/// compilation without errors.
std::vector<Diagnostic> unusedNames(const SymbolIndex &symbols, uint16_t file);

} // namespace colldsl
