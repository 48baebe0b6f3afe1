/// Semantic analysis: names to declarations and slots, types, arity, contracts;
/// from syntax trees to the checked program.
#pragma once

#include "compiler/Ast.h"
#include "compiler/SymbolIndex.h"
#include "ir/Result.h"
#include "program/Program.h"

#include <memory>
#include <string_view>
#include <vector>

namespace colldsl {

/// One file's declarations, for analyse(). Later files shadow earlier ones; within one
/// file two declarations of a kind and name are an error.
struct SemaInput {
  llvm::ArrayRef<const ast::Decl *> decls;
  uint32_t unit = 0;   ///< files of one unit see each other; of lower units, the nearest first
  bool isMain = false; ///< named by the user, not imported
};

/// Analyses files in the given order (the standard library first, all of it unit 0;
/// then each file a unit of its own, imports before their importers) into `program`, whose `files`
/// the caller fills. All errors found. `symbols`, if not null, gets the names.
std::vector<Diagnostic> analyse(llvm::ArrayRef<SemaInput> inputs, Program &program,
                                std::vector<DeclId> &mainDecls, uint32_t maxErrors = 20,
                                SymbolIndex *symbols = nullptr);

/// Checks one expression as the value of a parameter and adds it to the program.
/// It may use `rank`, `ranks`, literals, functions, trees and graphs, no names of the body.
Result<ExprId> analyseArgument(const ast::Expr &expr, DeclId collective, std::string_view param,
                               Program &program);

} // namespace colldsl
