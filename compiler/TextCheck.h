/// Requirements on every byte of a source file, comments included.
#pragma once

#include "compiler/ParseLimits.h"
#include "ir/Result.h"

#include <string_view>

namespace colldsl {

/// Accepts UTF-8 without NUL and control characters, within maxBytes and maxLineBytes. Returns the
/// first fault, by place.
Status checkText(std::string_view text, uint16_t file, const ParseLimits &limits);

} // namespace colldsl
