/// A declaration in words, as `colldsl list NAME` prints it and editors show it.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <string_view>

namespace colldsl::driver {

/// "collective", "tree", ...
llvm::StringRef kindWord(DeclKind kind);

/// The text of a declaration from its line to the body: parameters and contract; all of a function.
/// `text` is that of its file.
std::string headOf(std::string_view text, const Decl &decl);

/// "stdlib/bcast.coll:35".
std::string placeOf(const Program &program, const Decl &decl);

/// The first sentence of a doc comment, in one line. An ellipsis does not end a sentence.
std::string summaryOf(llvm::StringRef doc);

} // namespace colldsl::driver
