#include "compiler/antlr/AstBuilder.h"

#include "compiler/Literals.h"

namespace colldsl {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

ast::Dimension AstBuilder::build(CollParser::DimensionContext *c) {
  if (c->any)
    return {ast::DimensionKind::CallTime, loc(c), nullptr};
  if (c->most)
    return {ast::DimensionKind::Capacity, loc(c), build(c->most)};
  auto kind = c->size ? ast::DimensionKind::Size : ast::DimensionKind::Open;
  return {kind, loc(c), buildOptional(c->size)};
}

ast::Type AstBuilder::build(CollParser::TypeContext *type) {
  return {name(type->identifier()), buildAll(type->dimension())};
}

const ast::Candidates *AstBuilder::build(CollParser::CandidatesContext *c) {
  if (!c)
    return nullptr;
  if (c->lo)
    return ast_.make<ast::Candidates>({build(c->lo), build(c->hi), {}, loc(c)});
  return ast_.make<ast::Candidates>({nullptr, nullptr, buildAll(c->expr()), loc(c)});
}

/// Rejects parameters that the grammar accepts: value attributes on a buffer, and buffer attributes
/// on a value.
void AstBuilder::check(const ast::Parameter &p, CollParser::ParameterContext *c) {
  std::string name = "'" + p.name.text.str() + "'";
  if (p.isBuffer && !c->direction())
    error(p.name.loc, "buffer " + name + " has no direction", "write in, out or inout before it");
  if (p.isBuffer && p.type.dimensions.empty())
    error(p.type.name.loc, "buffer " + name + " has no size",
          "write " + p.type.name.text.str() + "[n]");
  if (p.isBuffer && p.isGlobal)
    error(loc(c->global), "'global' stands before graphs, and " + name + " is a buffer");
  if (p.isBuffer && p.defaultValue)
    error(loc(c->init), "buffer " + name + " cannot have a default value");
  if (p.isBuffer && p.candidates)
    error(p.candidates->loc, "buffer " + name + " cannot have candidates");
  if (!p.isBuffer && p.significantAt)
    error(loc(c->place), "'at' says where a buffer is significant, and " + name + " is a value");
}

ast::Parameter AstBuilder::build(CollParser::ParameterContext *c) {
  ast::Type type = build(c->type());
  bool isList = type.dimensions.size() == 1 && type.dimensions[0].kind == ast::DimensionKind::Open;
  bool isBuffer = c->direction() || (!type.dimensions.empty() && !isList);
  BufferRole role = c->direction() ? *parseBufferRole(textOf(c->direction())) : BufferRole::In;
  ast::Parameter parameter = {name(c->identifier()),
                              isBuffer,
                              role,
                              type,
                              buildOptional(c->place),
                              c->global != nullptr,
                              buildOptional(c->init),
                              build(c->candidates())};
  check(parameter, c);
  return parameter;
}

ArrayRef<ast::Parameter> AstBuilder::build(CollParser::ParametersContext *parameters) {
  return parameters ? buildAll(parameters->parameter()) : ArrayRef<ast::Parameter>();
}

const ast::Postcondition *AstBuilder::build(CollParser::PostconditionContext *postcondition) {
  SourceLoc at = loc(postcondition);
  if (auto *c = as<CollParser::ForPostconditionContext>(postcondition))
    return ast_.make<ast::ForPostcondition>(
        {{ast::PostconditionKind::For, at}, build(c->iteration()), build(c->postcondition())});
  if (auto *c = as<CollParser::AtPostconditionContext>(postcondition))
    return ast_.make<ast::AtPostcondition>(
        {{ast::PostconditionKind::At, at}, build(c->expr()), build(c->postcondition())});
  if (auto *c = as<CollParser::ValuePostconditionContext>(postcondition))
    return ast_.make<ast::ValuePostcondition>(
        {{ast::PostconditionKind::Value, at}, build(c->expr())});
  return ast_.make<ast::SynchronizesPostcondition>({{ast::PostconditionKind::Synchronizes, at}});
}

const ast::Clause *AstBuilder::build(CollParser::ClauseContext *clause) {
  SourceLoc at = loc(clause);
  if (auto *c = as<CollParser::WhereClauseContext>(clause))
    return ast_.make<ast::WhereClause>({{ast::ClauseKind::Where, at}, build(c->expr())});
  if (auto *c = as<CollParser::EnsuresClauseContext>(clause))
    return ast_.make<ast::EnsuresClause>(
        {{ast::ClauseKind::Ensures, at}, build(c->postcondition())});
  auto *c = static_cast<CollParser::AliasesClauseContext *>(clause);
  return ast_.make<ast::AliasesClause>(
      {{ast::ClauseKind::Aliases, at}, name(c->identifier()), build(c->expr())});
}

ast::Decl AstBuilder::decl(ast::DeclKind kind, CollParser::IdentifierContext *identifier,
                           CollParser::ParametersContext *parameters, Rule *whole) {
  const Token &first = tokens_[whole->getStart()->getStartIndex()];
  StringRef before = text_.take_front(first.text.data() - text_.data());
  return {kind, loc(identifier), name(identifier), ast_.copy(docCommentAbove(before)),
          build(parameters)};
}

void AstBuilder::buildImport(CollParser::ImportDeclContext *c) {
  const antlr4::Token *path = c->String()->getSymbol();
  std::string text = take(parseString(path->getText(), loc(path)));
  imports_.push_back({ast_.copy(text), loc(path)});
}

const ast::Decl *AstBuilder::build(CollParser::ItemContext *item) {
  if (auto *c = item->functionDecl())
    return ast_.make<ast::FunctionDecl>(
        {decl(ast::DeclKind::Function, c->identifier(), c->parameters(), c), build(c->expr())});
  if (auto *c = item->treeDecl())
    return ast_.make<ast::StructureDecl>(
        {decl(ast::DeclKind::Structure, c->identifier(), c->parameters(), c), true,
         build(c->block())});
  if (auto *c = item->graphDecl())
    return ast_.make<ast::StructureDecl>(
        {decl(ast::DeclKind::Structure, c->identifier(), c->parameters(), c), false,
         build(c->block())});
  auto *c = item->collectiveDecl();
  ast::Decl head = decl(ast::DeclKind::Collective, c->identifier(), c->parameters(), c);
  ArrayRef<const ast::Clause *> clauses = buildAll(c->clause());
  return ast_.make<ast::CollectiveDecl>(
      {head, c->deterministic != nullptr, clauses, build(c->block())});
}

void AstBuilder::buildFile(CollParser::FileContext *file) {
  SmallVector<const ast::Decl *> decls;
  for (CollParser::ItemContext *item : file->item()) {
    if (item->importDecl())
      buildImport(item->importDecl());
    else
      decls.push_back(build(item));
  }
  ast_.imports = copy(imports_);
  ast_.decls = copy(decls);
}

} // namespace colldsl
