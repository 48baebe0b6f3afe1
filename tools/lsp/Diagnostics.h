/// Diagnostics of the compiler and of proofs, as the protocol has them.
#pragma once

#include "tools/lsp/Context.h"

#include "ir/Result.h"
#include "llvm/Support/JSON.h"

namespace colldsl::lsp {

/// The sign or word at a place, as the offsets of its ends; both the same where there is none.
struct TokenEnds {
  size_t begin = 0, end = 0;
};
TokenEnds tokenAt(std::string_view text, size_t offset);

/// One with its notes. What is wrong in another file is shown at `anchor`, an offset in the
/// document, and that place is related information.
llvm::json::Object toJson(Context &context, const Analysis &analysis, const Diagnostic &diagnostic,
                          size_t anchor);

/// All that the compiler finds in the document.
llvm::json::Array compilerDiagnostics(Context &context, const Analysis &analysis);

/// Quick fixes for the diagnostics that touch a range: a word that was meant for the one that is
/// there.
llvm::json::Array quickFixes(Context &context, const Document &document, const Analysis &analysis,
                             const Range &range);

} // namespace colldsl::lsp
