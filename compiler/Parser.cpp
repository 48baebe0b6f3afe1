#include "compiler/Parser.h"

#include "compiler/Brackets.h"
#include "compiler/Scanner.h"
#include "compiler/antlr/AstBuilder.h"
#include "compiler/antlr/Recovery.h"

#include "llvm/ADT/StringExtras.h"

#include <mutex>

namespace colldsl {
namespace {

/// Prediction tables are shared between all parsers and grow as they see more texts.
std::mutex &antlrMutex() {
  static std::mutex mutex;
  return mutex;
}

/// The tokens of a text on their way through the parser.
class Parse {
public:
  Parse(const std::vector<Token> &tokens, uint16_t file, const ParseLimits &limits)
      : source_(toAntlr(tokens)), stream_(&source_), parser_(&stream_), file_(file),
        limits_(limits) {
    parser_.removeErrorListeners();
  }

  /// The rule's parse tree, or null after errors. The cheap way of prediction (SLL) suffices for
  /// most texts. The thorough one reads the text again if that fails, and finds the errors.
  template <typename Context> Context *run(Context *(CollParser::*rule)()) {
    try {
      setPrediction(antlr4::atn::PredictionMode::SLL);
      parser_.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
      return (parser_.*rule)();
    } catch (const antlr4::ParseCancellationException &) {
      return runThoroughly(rule);
    }
  }

  std::vector<Diagnostic> errors;

private:
  template <typename Context> Context *runThoroughly(Context *(CollParser::*rule)()) {
    parser_.reset();
    setPrediction(antlr4::atn::PredictionMode::LL);
    parser_.setErrorHandler(std::make_shared<Recovery>(file_, limits_.maxErrors, errors));
    try {
      Context *tree = (parser_.*rule)();
      return errors.empty() ? tree : nullptr;
    } catch (const antlr4::ParseCancellationException &) {
      return nullptr;
    }
  }

  void setPrediction(antlr4::atn::PredictionMode mode) {
    parser_.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode);
  }

  antlr4::ListTokenSource source_;
  antlr4::CommonTokenStream stream_;
  CollParser parser_;
  uint16_t file_;
  const ParseLimits &limits_;
};

std::vector<Diagnostic> checkShape(const Result<std::vector<Token>> &tokens,
                                   const ParseLimits &limits) {
  return tokens ? checkBrackets(*tokens, limits)
                : std::vector<Diagnostic>{tokens.status().diagnostic()};
}

/// Text to tree in three steps, each of which ends the work if it finds errors. `build` converts
/// the rule's parse tree to the result.
template <typename Context, typename Build>
std::vector<Diagnostic> parse(std::string_view text, uint16_t file, const ParseLimits &limits,
                              Context *(CollParser::*rule)(), std::unique_ptr<Ast> &ast,
                              Build build) {
  Result<std::vector<Token>> tokens = scan(text, file, limits);
  if (std::vector<Diagnostic> errors = checkShape(tokens, limits); !errors.empty())
    return errors;
  std::lock_guard lock(antlrMutex());
  Parse parse(*tokens, file, limits);
  Context *tree = parse.run(rule);
  if (!tree)
    return std::move(parse.errors);
  auto built = std::make_unique<Ast>();
  AstBuilder builder(*built, text, *tokens, file, limits);
  build(builder, tree);
  if (builder.errors.empty())
    ast = std::move(built);
  return std::move(builder.errors);
}

void reportIfCutShort(std::vector<Diagnostic> &errors, const ParseLimits &limits) {
  if (errors.size() >= limits.maxErrors)
    errors.back().notes.push_back(Diagnostic::note(
        {}, "stopped after " + std::to_string(errors.size()) + " errors (--max-errors)"));
}

} // namespace

ParseResult parseFile(std::string_view text, uint16_t file, const ParseLimits &limits) {
  ParseResult result;
  result.errors =
      parse(text, file, limits, &CollParser::file, result.ast,
            [](AstBuilder &builder, CollParser::FileContext *tree) { builder.buildFile(tree); });
  reportIfCutShort(result.errors, limits);
  return result;
}

ParsedExpr parseExpression(std::string_view text, uint16_t file, const ParseLimits &limits) {
  ParsedExpr result;
  result.errors = parse(text, file, limits, &CollParser::soleExpression, result.ast,
                        [&](AstBuilder &builder, CollParser::SoleExpressionContext *tree) {
                          result.expr = builder.build(tree->expr());
                        });
  return result;
}

std::vector<std::string> grammarWords() {
  std::lock_guard lock(antlrMutex());
  antlr4::ListTokenSource source(toAntlr({}));
  antlr4::CommonTokenStream stream(&source);
  const CollParser parser(&stream);
  const antlr4::dfa::Vocabulary &vocabulary = parser.getVocabulary();
  std::vector<std::string> words;
  for (size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type) {
    std::string quoted = vocabulary.getLiteralName(type);
    if (quoted.size() > 2 && llvm::isAlpha(quoted[1]))
      words.push_back(quoted.substr(1, quoted.size() - 2));
  }
  return words;
}

} // namespace colldsl
