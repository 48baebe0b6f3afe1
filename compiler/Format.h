/// Source text in one layout: indentation, blanks between words and signs, empty lines. Line breaks
/// and comments stay as the writer made them, and so do columns of blanks before `=`, `{` and
/// comments.
#pragma once

#include "compiler/ParseLimits.h"
#include "ir/Result.h"

#include <string>
#include <string_view>

namespace colldsl {

/// The text with the same words, signs and comments in their order, so that it parses to the same
/// tree. Formatting the result again changes nothing. Errors are those of scan(); the text need
/// not parse.
Result<std::string> formatSource(std::string_view text, uint16_t file,
                                 const ParseLimits &limits = {});

} // namespace colldsl
