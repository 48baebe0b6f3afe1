/// A declaration in words, as `colldsl list NAME` prints it and editors show it.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <string_view>

namespace colldsl::tools {

/// "collective", "tree", ...
llvm::StringRef kindWord(DeclKind kind);

/// From its line to the body, as it is written: parameters and contract. All of a function.
/// `text` is that of its file.
std::string headOf(std::string_view text, const Decl &decl);

/// "stdlib/bcast.coll:35".
std::string placeOf(const Program &program, const Decl &decl);

/// The first sentence of a doc comment, in one line. Dots of an ellipsis end none.
std::string summaryOf(llvm::StringRef doc);

} // namespace colldsl::tools
