/// Formatting of source text, for `colldsl fmt` and editors.
#pragma once

#include "compiler/ParseLimits.h"
#include "ir/Result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::driver {

/// The formatted text; nothing, with `errors`, if the text does not parse.
std::optional<std::string> formatText(std::string_view text, const ParseLimits &limits,
                                      std::vector<Diagnostic> &errors);

} // namespace colldsl::driver
