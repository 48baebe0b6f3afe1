/// Longer words for messages, from the table Explanations.def.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace colldsl::tools {

struct Explanation {
  llvm::StringRef name;
  llvm::StringRef fragment; ///< of the message
  llvm::StringRef text;
  llvm::StringRef example; ///< source text
};

llvm::ArrayRef<Explanation> explanations();

/// The first whose fragment is in the message; null: there is none.
const Explanation *findExplanation(llvm::StringRef message);

/// Adds the note "`colldsl explain deadlock` explains this" for the first of the diagnostics for
/// which there is an explanation.
void addExplanationNote(std::vector<Diagnostic> &diagnostics);

} // namespace colldsl::tools
