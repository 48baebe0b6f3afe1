/// The syntax trees of the standard library, built into the program.
#pragma once

#include "compiler/Ast.h"

#include <memory>

namespace colldsl {

/// The tree of file `i` of stdlibFiles(), with places in file `i` of a compilation. It is made once
/// per process. Threads: any.
std::shared_ptr<const Ast> stdlibTree(uint16_t i);

} // namespace colldsl
