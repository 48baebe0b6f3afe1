// Our scanner makes the tokens that the grammar's own lexer makes.
#include "Parsing.h"

#include "compiler/antlr/Tokens.h"

#include "CollLexer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

using namespace colldsl;

namespace {

struct Lexed {
  size_t type;
  size_t line;
  size_t column;
  std::string text;
  bool operator==(const Lexed &) const = default;
};

void PrintTo(const Lexed &token, std::ostream *out) {
  *out << token.line << ':' << token.column << " '" << token.text << "' " << token.type;
}

Lexed read(antlr4::Token &token) {
  return {token.getType(), token.getLine(), token.getCharPositionInLine(), token.getText()};
}

std::vector<Lexed> byGrammar(const std::string &text) {
  antlr4::ANTLRInputStream stream(text);
  collgrammar::CollLexer lexer(&stream);
  std::vector<Lexed> tokens;
  for (auto &token : lexer.getAllTokens())
    if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL)
      tokens.push_back(read(*token));
  return tokens;
}

std::vector<Lexed> byScanner(const std::string &text) {
  std::vector<Lexed> tokens;
  for (auto &token : toAntlr(*scan(text, 0, {})))
    if (token->getType() != antlr4::Token::EOF)
      tokens.push_back(read(*token));
  return tokens;
}

TEST(Lexer, AgreesOnTheExamples) {
  for (const auto &entry : std::filesystem::directory_iterator(COLLDSL_EXAMPLES)) {
    std::string text = readFile(entry.path());
    EXPECT_EQ(byScanner(text), byGrammar(text)) << entry.path();
  }
}

TEST(Lexer, AgreesOnRandomCharacters) {
  const std::string kCharacters = "abz_09 \n\t(){}[];:,.=<>!+-*/%@?&|^~#$'ns";
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int j = 0; j < 30; ++j)
      text += kCharacters[random() % kCharacters.size()];
    if (scan(text, 0, {}).ok()) {
      EXPECT_EQ(byScanner(text), byGrammar(text)) << text;
    }
  }
}

TEST(Lexer, AgreesOnCommentsAndStrings) {
  for (std::string text : {"a /* b * / */ c", "a // b", "a //// b\nc", "/**/a/***/b", "\"a\\\"b\"c",
                           "/// d\ne", "a/ /b", "/*/*/a"})
    EXPECT_EQ(byScanner(text), byGrammar(text)) << text;
}

} // namespace
