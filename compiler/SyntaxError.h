/// The parser's state at a syntax error, and the message that people get for it. Knows no ANTLR.
#pragma once

#include "ir/Result.h"

#include <string>
#include <vector>

namespace colldsl {

/// The grammar rule in which the parser stopped, as far as messages depend on it.
enum class Construct : uint8_t {
  File,       ///< between declarations
  Block,      ///< between statements
  Parameters, ///< between parameters
  Clauses,    ///< between clauses, before the body
  Statement,
  Operation, ///< behind a label
  Parameter,
  Clause,
  Other,
};

struct SyntaxError {
  Construct construct = Construct::Other;
  SourceLoc foundLoc;                ///< of the token that does not fit
  SourceLoc previousLoc;             ///< of the token before it
  SourceLoc previousEnd;             ///< just behind the token before it
  std::string found;                 ///< its text; empty at the end of the file
  std::string previous;              ///< text of the token before it; empty at the beginning
  std::string operation;             ///< the keyword of the operation it stands in, or empty
  std::vector<std::string> expected; ///< words and punctuation as written, or the rules'
                                     ///< names: Identifier, Number, String
  /// The token before begins the construct and is no keyword: one may have been meant.
  bool previousBegins = false;
  SourceLoc statementLoc; ///< of the statement that the token found is in, if it is in one
  std::string before;     ///< the text of the statement up to the token found
  std::string behind;     ///< and behind it, without the ';'; empty: it is long
};

Diagnostic describe(const SyntaxError &error);

} // namespace colldsl
