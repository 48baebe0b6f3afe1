/// What the tests of the parser share.
#pragma once

#include "compiler/Parser.h"

#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

/// "line:column: message [hint]"
std::string brief(const Diagnostic &diagnostic);
std::vector<std::string> brief(const std::vector<Diagnostic> &diagnostics);

/// The errors of a text, briefly.
std::vector<std::string> errorsOf(std::string_view text, const ParseLimits &limits = {});

/// The dump of a text that must parse; else its errors, one per line. The tree must survive that it
/// is serialized.
std::string dumpOf(std::string_view text);
/// Likewise of an expression.
std::string dumpOfExpr(std::string_view text);

/// A collective with this body.
std::string inBody(std::string_view statements);

std::string readFile(const std::string &path);
std::string repeat(std::string_view text, size_t count);

} // namespace colldsl
