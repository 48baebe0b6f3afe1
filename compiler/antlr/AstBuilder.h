/// From ANTLR's parse tree to ours.
#pragma once

#include "compiler/Ast.h"
#include "compiler/ParseLimits.h"
#include "compiler/antlr/Tokens.h"
#include "ir/Result.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <typeinfo>
#include <vector>

namespace colldsl {

/// Copies the parse tree of a text without syntax errors into ours.
class AstBuilder {
public:
  /// The text is the one that the tokens are parts of.
  AstBuilder(Ast &ast, std::string_view text, const std::vector<Token> &tokens, uint16_t file,
             const ParseLimits &limits)
      : ast_(ast), text_(text), tokens_(tokens), file_(file), limits_(limits) {}

  void buildFile(CollParser::FileContext *file);
  const ast::Expr *build(CollParser::ExprContext *expr);

  std::vector<Diagnostic> errors;

private:
  using Rule = antlr4::ParserRuleContext;

  /// The text of a rule that consists of one token. Rule::getText() makes a stream for it.
  static std::string textOf(Rule *rule) { return rule->getStart()->getText(); }

  /// `rule` as one alternative of its rule, or null. No class derives from an alternative, so equal
  /// types suffice, and dynamic_cast would take several times as long.
  template <typename Alternative> static Alternative *as(Rule *rule) {
    return typeid(*rule) == typeid(Alternative) ? static_cast<Alternative *>(rule) : nullptr;
  }

  SourceLoc loc(const antlr4::Token *token) const { return locOf(token, file_); }
  SourceLoc loc(Rule *rule) const { return loc(rule->getStart()); }
  void error(SourceLoc loc, std::string message, std::string hint = {}) {
    errors.push_back(Diagnostic::error(loc, std::move(message), std::move(hint)));
  }
  template <typename T> T take(Result<T> result) {
    if (result)
      return result.take();
    errors.push_back(result.status().diagnostic());
    return T();
  }
  template <typename T> llvm::ArrayRef<T> copy(const llvm::SmallVectorImpl<T> &list) {
    return ast_.copy(llvm::ArrayRef<T>(list));
  }

  ast::Name name(CollParser::IdentifierContext *identifier) {
    return {ast_.copy(textOf(identifier)), loc(identifier)};
  }
  const ast::Expr *buildOptional(CollParser::ExprContext *expr) {
    return expr ? build(expr) : nullptr;
  }
  template <typename Context> auto buildAll(const std::vector<Context *> &contexts) {
    llvm::SmallVector<decltype(build(contexts[0]))> built;
    for (Context *context : contexts)
      built.push_back(build(context));
    return copy(built);
  }

  const ast::Expr *buildNumber(CollParser::NumberContext *c);
  const ast::Expr *buildLiteral(CollParser::LiteralContext *c);
  const ast::Expr *buildUnary(CollParser::UnaryContext *c);
  const ast::Expr *buildBinary(CollParser::BinaryContext *c);
  void checkUnchained(CollParser::BinaryContext *c);
  const ast::Expr *buildPostfix(CollParser::ExprContext *expr);

  llvm::ArrayRef<ast::Argument> build(CollParser::ArgumentsContext *arguments);
  ast::Argument build(CollParser::ArgumentContext *argument);
  ast::Comprehension build(CollParser::ComprehensionContext *c) {
    return {build(c->iteration()), build(c->expr())};
  }
  ast::Iteration build(CollParser::IterationContext *c) {
    return {name(c->identifier()), build(c->range()), buildOptional(c->condition)};
  }
  ast::Range build(CollParser::RangeContext *c) {
    return {build(c->first), buildOptional(c->last), c->dots && c->dots->getText() == "..="};
  }

  ast::Type build(CollParser::TypeContext *type);
  ast::Dimension build(CollParser::DimensionContext *dimension);
  llvm::ArrayRef<ast::Parameter> build(CollParser::ParametersContext *parameters);
  ast::Parameter build(CollParser::ParameterContext *parameter);
  void check(const ast::Parameter &parameter, CollParser::ParameterContext *c);
  const ast::Candidates *build(CollParser::CandidatesContext *candidates);

  const ast::Clause *build(CollParser::ClauseContext *clause);
  const ast::Postcondition *build(CollParser::PostconditionContext *postcondition);

  ast::Block build(CollParser::BlockContext *block);
  const ast::Stmt *build(CollParser::StatementContext *statement);
  const ast::Stmt *build(CollParser::IfStatementContext *statement);
  const ast::Stmt *build(CollParser::EdgeStatementContext *statement);
  const ast::Stmt *build(CollParser::OrderStatementContext *statement);
  const ast::Stmt *build(CollParser::OperationStatementContext *statement);
  ast::Label build(CollParser::LabelContext *label);
  ast::MessageStmt message(ast::OperationStmt base, OpKind op, antlr4::Token *way,
                           CollParser::ExprContext *peer, CollParser::ExprContext *tag);
  const ast::Stmt *buildTransfer(ast::OperationStmt base, CollParser::OperationContext *operation);
  const ast::Stmt *buildLocal(ast::OperationStmt base, CollParser::OperationContext *operation);
  ast::CombineHow how(CollParser::IdentifierContext *reduction, CollParser::SideContext *side);

  const ast::Decl *build(CollParser::ItemContext *item);
  void buildImport(CollParser::ImportDeclContext *import);
  ast::Decl decl(ast::DeclKind kind, CollParser::IdentifierContext *identifier,
                 CollParser::ParametersContext *parameters, Rule *whole);

  Ast &ast_;
  llvm::StringRef text_;
  const std::vector<Token> &tokens_;
  uint16_t file_;
  const ParseLimits &limits_;
  llvm::SmallVector<ast::Import> imports_;
};

} // namespace colldsl
