#include "compiler/antlr/Tokens.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

namespace colldsl {
namespace {

/// Keywords and punctuation to the grammar's numbers for them.
llvm::StringMap<size_t> literalTypes() {
  CollParser parser(nullptr);
  const antlr4::dfa::Vocabulary &vocabulary = parser.getVocabulary();
  llvm::StringMap<size_t> types;
  for (size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type)
    if (std::string quoted = vocabulary.getLiteralName(type); !quoted.empty())
      types[llvm::StringRef(quoted).drop_front().drop_back()] = type;
  return types;
}

size_t typeOf(TokenKind kind) {
  switch (kind) {
  case TokenKind::Word:
    return CollParser::Identifier;
  case TokenKind::Number:
    return CollParser::Number;
  case TokenKind::String:
    return CollParser::String;
  case TokenKind::Punctuation:
    return CollParser::Foreign;
  }
  llvm_unreachable("no such token");
}

std::unique_ptr<antlr4::Token> makeToken(size_t type, std::string_view text, SourceLoc loc,
                                         size_t index) {
  auto token = std::make_unique<antlr4::CommonToken>(type, std::string(text));
  token->setLine(loc.line);
  token->setCharPositionInLine(loc.column - 1);
  token->setStartIndex(index);
  token->setStopIndex(index);
  return token;
}

SourceLoc endOf(const std::vector<Token> &tokens) {
  if (tokens.empty())
    return {1, 1, 0};
  SourceLoc end = tokens.back().loc;
  end.column = static_cast<uint16_t>(end.column + tokens.back().text.size());
  return end;
}

} // namespace

std::vector<std::unique_ptr<antlr4::Token>> toAntlr(const std::vector<Token> &tokens) {
  static const llvm::StringMap<size_t> kTypes = literalTypes();
  std::vector<std::unique_ptr<antlr4::Token>> list;
  list.reserve(tokens.size() + 1);
  for (const Token &token : tokens) {
    auto literal = kTypes.find(token.text);
    size_t type = literal == kTypes.end() ? typeOf(token.kind) : literal->second;
    list.push_back(makeToken(type, token.text, token.loc, list.size()));
  }
  list.push_back(makeToken(antlr4::Token::EOF, "", endOf(tokens), list.size()));
  return list;
}

} // namespace colldsl
