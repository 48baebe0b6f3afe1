/// Diagnostics of the compiler and of proofs, as the protocol has them.
#pragma once

#include "lsp/Context.h"

#include "ir/Result.h"
#include "llvm/Support/JSON.h"

namespace colldsl::lsp {

/// The sign or word at a place, as the offsets of its ends, which are equal if there is none.
struct TokenEnds {
  size_t begin = 0, end = 0;
};
TokenEnds tokenAt(std::string_view text, size_t offset);

/// A diagnostic with its notes. If it is in another file, it is shown at `anchor`, an offset in the
/// document, with its own place as related information.
llvm::json::Object toJson(Context &context, const Analysis &analysis, const Diagnostic &diagnostic,
                          size_t anchor);

/// All diagnostics of the compiler in the document.
llvm::json::Array compilerDiagnostics(Context &context, const Analysis &analysis);

/// Quick fixes for the diagnostics that touch a range: they replace a word by a similar one.
llvm::json::Array quickFixes(Context &context, const Document &document, const Analysis &analysis,
                             const Range &range);

} // namespace colldsl::lsp
