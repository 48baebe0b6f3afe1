/// A syntax tree as bytes: how the standard library is parsed when colldsl is built, and not when
/// it starts.
#pragma once

#include "compiler/Ast.h"

#include <memory>
#include <string>

namespace colldsl {

/// All of the tree but the file of its places. Little endian, deterministic.
std::string serializeAst(const Ast &ast);

/// The tree that was serialized, with places in this file. The bytes are trusted; they outlive the
/// tree, whose strings lie in them.
std::unique_ptr<Ast> deserializeAst(llvm::StringRef bytes, uint16_t file);

} // namespace colldsl
