/// The shape of a text: brackets, and how deep the tree over its tokens can be.
#pragma once

#include "compiler/ParseLimits.h"
#include "compiler/Scanner.h"
#include "ir/Result.h"

#include <vector>

namespace colldsl {

/// All brackets without a partner, until a limit is broken (maxNesting, maxChain). No
/// errors: a parser of these tokens recurses no deeper than maxNesting + maxChain
/// grammar rules of each kind.
std::vector<Diagnostic> checkBrackets(const std::vector<Token> &tokens, const ParseLimits &limits);

} // namespace colldsl
