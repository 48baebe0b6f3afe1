/// The parser's recovery from text that does not fit the grammar.
#pragma once

#include "compiler/SyntaxError.h"
#include "compiler/antlr/Tokens.h"

#include <initializer_list>

namespace colldsl {

/// Reports errors in the words of this language, and continues behind the faulty statement,
/// declaration, parameter or clause. Rules inside of these give up at once: a repair of a broken
/// expression would be a guess.
class Recovery : public antlr4::DefaultErrorStrategy {
public:
  Recovery(uint16_t file, uint32_t maxErrors, std::vector<Diagnostic> &errors)
      : file_(file), maxErrors_(maxErrors), errors_(errors) {}

  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &e) override;
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void recover(antlr4::Parser *parser, std::exception_ptr e) override;
  void sync(antlr4::Parser *parser) override;

private:
  /// Throws ParseCancellationException at the last error allowed.
  void report(antlr4::Parser *parser, const SyntaxError &error);
  /// Skips to the next token at which the current construct can continue.
  void skip(antlr4::Parser *parser);
  void skipStatement(antlr4::Parser *parser);
  void skipTo(antlr4::Parser *parser, std::initializer_list<std::string_view> stops);

  uint16_t file_;
  uint32_t maxErrors_;
  std::vector<Diagnostic> &errors_;
};

} // namespace colldsl
