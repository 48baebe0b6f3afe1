/// Source text in its layout, as `colldsl fmt` and editors take it.
#pragma once

#include "compiler/ParseLimits.h"
#include "ir/Result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::tools {

/// The formatted text, or nothing and what is wrong with it: only text that parses is formatted.
std::optional<std::string> formatText(std::string_view text, const ParseLimits &limits,
                                      std::vector<Diagnostic> &errors);

} // namespace colldsl::tools
