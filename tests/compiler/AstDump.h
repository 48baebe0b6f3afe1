/// A syntax tree as text.
#pragma once

#include "compiler/Ast.h"

#include <string>

namespace colldsl {

/// The tree in the language itself, with brackets around every operator and units made
/// plain (64KiB is 65536B). Parsing it gives the same dump again.
std::string dump(const Ast &ast);
std::string dump(const ast::Expr &expr);

} // namespace colldsl
