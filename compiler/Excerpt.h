/// The line of a source that a diagnostic is about.
#pragma once

#include "ir/Result.h"

#include "llvm/Support/SourceMgr.h"

namespace colldsl {

llvm::SourceMgr::DiagKind diagKindOf(Severity severity);

/// `ring.coll:12:9: error: message`, the line and a caret. A line of more than 100 bytes is cut to
/// the text around the caret, with `...` for the rest.
void printWithLine(llvm::raw_ostream &out, const llvm::SMDiagnostic &diagnostic);

} // namespace colldsl
