#include "compiler/antlr/AstBuilder.h"

namespace colldsl {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

ast::Block AstBuilder::build(CollParser::BlockContext *block) {
  return buildAll(block->statement());
}

const ast::Stmt *AstBuilder::build(CollParser::StatementContext *statement) {
  SourceLoc at = loc(statement);
  if (auto *c = statement->operationStatement())
    return build(c);
  if (auto *c = statement->letStatement())
    return ast_.make<ast::LetStmt>(
        {{ast::StmtKind::Let, at}, name(c->identifier()), build(c->expr())});
  if (auto *c = statement->forStatement())
    return ast_.make<ast::ForStmt>({{ast::StmtKind::For, at},
                                    name(c->identifier()),
                                    build(c->range()),
                                    buildAll(c->postcondition()),
                                    build(c->block())});
  if (auto *c = statement->ifStatement())
    return build(c);
  if (auto *c = statement->tempStatement())
    return ast_.make<ast::TempStmt>(
        {{ast::StmtKind::Temp, at}, name(c->identifier()), build(c->type())});
  if (auto *c = statement->treeStatement())
    return ast_.make<ast::TreeStmt>(
        {{ast::StmtKind::Tree, at}, c->kind->getText() == "parent", build(c->expr())});
  if (auto *c = statement->edgeStatement())
    return build(c);
  return build(statement->orderStatement());
}

const ast::Stmt *AstBuilder::build(CollParser::IfStatementContext *c) {
  SmallVector<ast::IfArm> arms;
  for (CollParser::ArmContext *arm : c->arm())
    arms.push_back({build(arm->expr()), build(arm->block())});
  if (arms.size() > limits_.maxChain)
    error(loc(c), "this 'if' has " + std::to_string(arms.size()) + " arms, the limit is " +
                      std::to_string(limits_.maxChain) + " (--max-chain)");
  return ast_.make<ast::IfStmt>(
      {{ast::StmtKind::If, loc(c)}, copy(arms), c->otherwise ? build(c->otherwise) : ast::Block()});
}

const ast::Stmt *AstBuilder::build(CollParser::EdgeStatementContext *c) {
  return ast_.make<ast::EdgeStmt>({{ast::StmtKind::Edge, loc(c)},
                                   c->way->getText() == "to",
                                   build(c->peer),
                                   buildOptional(c->key),
                                   buildOptional(c->weight)});
}

ast::Label AstBuilder::build(CollParser::LabelContext *c) {
  return {name(c->identifier()), buildAll(c->expr())};
}

const ast::Stmt *AstBuilder::build(CollParser::OrderStatementContext *c) {
  return ast_.make<ast::OrderStmt>({{ast::StmtKind::Order, loc(c)},
                                    c->how->getText() == "irequires",
                                    build(c->waiting),
                                    buildAll(c->awaited)});
}

ast::CombineHow AstBuilder::how(CollParser::IdentifierContext *reduction,
                                CollParser::SideContext *side) {
  bool before = side && side->where->getText() == "before";
  return {name(reduction), before ? Side::Before : Side::After};
}

ast::MessageStmt AstBuilder::message(ast::OperationStmt base, OpKind op, antlr4::Token *way,
                                     CollParser::ExprContext *peer, CollParser::ExprContext *tag) {
  base.kind = ast::StmtKind::Message;
  bool alongEdge = way->getText() == "along";
  return {base, op, nullptr, alongEdge, build(peer), buildOptional(tag), nullptr, false};
}

const ast::Stmt *AstBuilder::buildTransfer(ast::OperationStmt base,
                                           CollParser::OperationContext *operation) {
  if (auto *c = as<CollParser::SendOperationContext>(operation)) {
    auto *to = c->destination();
    ast::MessageStmt send = message(base, OpKind::Send, to->way, to->peer, to->tag);
    send.slice = build(c->expr());
    send.multicast = c->all != nullptr;
    return ast_.make(send);
  }
  if (auto *c = as<CollParser::RecvOperationContext>(operation)) {
    auto *from = c->origin();
    ast::MessageStmt recv = message(base, OpKind::Recv, from->way, from->peer, from->tag);
    recv.slice = build(c->expr());
    recv.multicast = c->all != nullptr;
    recv.combine = c->identifier() ? ast_.make(how(c->identifier(), c->side())) : nullptr;
    return ast_.make(recv);
  }
  if (auto *c = as<CollParser::SignalOperationContext>(operation)) {
    auto *to = c->destination();
    return ast_.make(message(base, OpKind::Signal, to->way, to->peer, to->tag));
  }
  if (auto *c = as<CollParser::WaitOperationContext>(operation)) {
    auto *from = c->origin();
    return ast_.make(message(base, OpKind::Wait, from->way, from->peer, from->tag));
  }
  return nullptr;
}

const ast::Stmt *AstBuilder::buildLocal(ast::OperationStmt base,
                                        CollParser::OperationContext *operation) {
  if (auto *c = as<CollParser::CopyOperationContext>(operation)) {
    base.kind = ast::StmtKind::Copy;
    return ast_.make<ast::CopyStmt>({base, build(c->source), build(c->target)});
  }
  if (auto *c = as<CollParser::CombineOperationContext>(operation)) {
    base.kind = ast::StmtKind::Combine;
    return ast_.make<ast::CombineStmt>(
        {base, build(c->source), build(c->target), how(c->identifier(), c->side())});
  }
  if (auto *c = as<CollParser::CalcOperationContext>(operation)) {
    base.kind = ast::StmtKind::Calc;
    return ast_.make<ast::CalcStmt>({base, build(c->expr())});
  }
  auto *c = static_cast<CollParser::CallOperationContext *>(operation);
  base.kind = ast::StmtKind::Call;
  return ast_.make<ast::CallStmt>(
      {base, name(c->identifier()), build(c->arguments()), buildOptional(c->group)});
}

const ast::Stmt *AstBuilder::build(CollParser::OperationStatementContext *c) {
  ast::OperationStmt base = {{ast::StmtKind::Call, loc(c->operation())}, nullptr};
  if (c->label())
    base.label = ast_.make(build(c->label()));
  if (const ast::Stmt *transfer = buildTransfer(base, c->operation()))
    return transfer;
  return buildLocal(base, c->operation());
}

} // namespace colldsl
