/// Our tokens as ANTLR's. For compiler/antlr and compiler/Parser.cpp only: no other file
/// includes ANTLR.
#pragma once

#include "compiler/Scanner.h"

#include "CollParser.h"
#include "antlr4-runtime.h"

#include <memory>
#include <vector>

namespace colldsl {

using collgrammar::CollParser;

/// The input of the parser, with a token for the end of the file. ANTLR's own lexer for the same
/// grammar takes a second for 8 MiB, comments included; a test compares both. Each token's start
/// index is its place in `tokens`.
std::vector<std::unique_ptr<antlr4::Token>> toAntlr(const std::vector<Token> &tokens);

inline SourceLoc locOf(const antlr4::Token *token, uint16_t file) {
  return {static_cast<uint32_t>(token->getLine()),
          static_cast<uint16_t>(token->getCharPositionInLine() + 1), file};
}

} // namespace colldsl
