#include "compiler/antlr/AstBuilder.h"

#include "compiler/Literals.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

namespace colldsl {

using llvm::ArrayRef;
using llvm::StringRef;

const ast::Expr *AstBuilder::buildNumber(CollParser::NumberContext *c) {
  NumberValue number = take(parseNumber(textOf(c), loc(c)));
  return ast_.make<ast::NumberExpr>({{ast::ExprKind::Number, loc(c)}, number.value, number.unit});
}

const ast::Expr *AstBuilder::buildLiteral(CollParser::LiteralContext *c) {
  auto value = llvm::StringSwitch<ast::Literal>(textOf(c))
                   .Case("true", ast::Literal::True)
                   .Case("false", ast::Literal::False)
                   .Default(ast::Literal::None);
  return ast_.make<ast::LiteralExpr>({{ast::ExprKind::Literal, loc(c)}, value});
}

const ast::Expr *AstBuilder::buildUnary(CollParser::UnaryContext *c) {
  auto op = llvm::StringSwitch<ast::UnaryOp>(c->op->getText())
                .Case("-", ast::UnaryOp::Negate)
                .Case("+", ast::UnaryOp::Plus)
                .Default(ast::UnaryOp::Not);
  return ast_.make<ast::UnaryExpr>({{ast::ExprKind::Unary, loc(c->op)}, op, build(c->expr())});
}

ast::BinaryOp binaryOp(StringRef text) {
  if (text == "@")
    return ast::BinaryOp::At;
#define COLLDSL_BINARY(Name, usage, ...)                                                           \
  if (text == usage)                                                                               \
    return ast::BinaryOp::Name;
#include "program/Exprs.def"
  llvm_unreachable("the grammar has no other operator");
}

bool isComparison(const antlr4::Token *op) {
  ast::BinaryOp binary = binaryOp(op->getText());
  return ast::BinaryOp::Eq <= binary && binary <= ast::BinaryOp::Ge;
}

/// a < b < c: the grammar takes it, since its rule for operators cannot refuse it.
void AstBuilder::checkUnchained(CollParser::BinaryContext *c) {
  auto *left = as<CollParser::BinaryContext>(c->left);
  bool chained = left && isComparison(c->op) && isComparison(left->op);
  if (chained)
    error(loc(c->op),
          "comparisons do not chain: '" + left->op->getText() + "' before '" + c->op->getText() +
              "'",
          "write 'a < b and b < c'");
}

const ast::Expr *AstBuilder::buildBinary(CollParser::BinaryContext *c) {
  checkUnchained(c);
  ast::BinaryOp op = binaryOp(c->op->getText());
  const ast::Expr *left = build(c->left);
  return ast_.make<ast::BinaryExpr>(
      {{ast::ExprKind::Binary, loc(c->op)}, op, left, build(c->right)});
}

const ast::Expr *AstBuilder::buildPostfix(CollParser::ExprContext *expr) {
  if (auto *c = as<CollParser::MemberContext>(expr))
    return ast_.make<ast::MemberExpr>(
        {{ast::ExprKind::Member, loc(c)}, build(c->base), name(c->identifier())});
  if (auto *c = as<CollParser::IndexContext>(expr))
    return ast_.make<ast::IndexExpr>(
        {{ast::ExprKind::Index, loc(c)}, build(c->base), build(c->first), buildOptional(c->last)});
  auto *c = static_cast<CollParser::CallContext *>(expr);
  return ast_.make<ast::CallExpr>(
      {{ast::ExprKind::Call, loc(c)}, build(c->callee), build(c->arguments())});
}

const ast::Expr *AstBuilder::build(CollParser::ExprContext *expr) {
  if (auto *c = as<CollParser::NameContext>(expr))
    return ast_.make<ast::NameExpr>({{ast::ExprKind::Name, loc(c)}, ast_.copy(textOf(c))});
  if (auto *c = as<CollParser::NumberContext>(expr))
    return buildNumber(c);
  if (auto *c = as<CollParser::BinaryContext>(expr))
    return buildBinary(c);
  if (auto *c = as<CollParser::UnaryContext>(expr))
    return buildUnary(c);
  if (auto *c = as<CollParser::ParenthesizedContext>(expr))
    return build(c->expr());
  if (auto *c = as<CollParser::LiteralContext>(expr))
    return buildLiteral(c);
  if (auto *c = as<CollParser::ConditionalContext>(expr))
    return ast_.make<ast::ConditionalExpr>({{ast::ExprKind::Conditional, loc(c)},
                                            build(c->condition),
                                            build(c->whenTrue),
                                            build(c->whenFalse)});
  if (auto *c = as<CollParser::ListContext>(expr))
    return ast_.make<ast::ListExpr>({{ast::ExprKind::List, loc(c)}, buildAll(c->expr())});
  if (auto *c = as<CollParser::ListOfContext>(expr))
    return ast_.make<ast::ListOfExpr>({{ast::ExprKind::ListOf, loc(c)}, build(c->comprehension())});
  if (auto *c = as<CollParser::StringContext>(expr)) {
    std::string value = take(parseString(textOf(c), loc(c)));
    return ast_.make<ast::StringExpr>({{ast::ExprKind::String, loc(c)}, ast_.copy(value)});
  }
  return buildPostfix(expr);
}

ast::Argument AstBuilder::build(CollParser::ArgumentContext *argument) {
  SourceLoc at = loc(argument);
  if (auto *c = as<CollParser::NamedArgumentContext>(argument))
    return {ast::ArgumentKind::Named, at, build(c->expr()), name(c->identifier())};
  if (auto *c = as<CollParser::ChoiceArgumentContext>(argument))
    return {ast::ArgumentKind::Choice, at, build(c->expr()), name(c->identifier())};
  if (auto *c = as<CollParser::ComprehensionArgumentContext>(argument)) {
    ast::Comprehension body = build(c->comprehension());
    ast::Argument built = {ast::ArgumentKind::Comprehension, at, body.element};
    built.iteration = ast_.make(body.iteration);
    return built;
  }
  auto *c = static_cast<CollParser::ValueArgumentContext *>(argument);
  auto kind = c->count  ? ast::ArgumentKind::Part
              : c->last ? ast::ArgumentKind::Range
                        : ast::ArgumentKind::Plain;
  return {kind, at, build(c->first), {}, buildOptional(c->last), buildOptional(c->count)};
}

ArrayRef<ast::Argument> AstBuilder::build(CollParser::ArgumentsContext *arguments) {
  return arguments ? buildAll(arguments->argument()) : ArrayRef<ast::Argument>();
}

} // namespace colldsl
