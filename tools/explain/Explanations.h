/// Longer words for messages, from the table Explanations.def.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace colldsl::tools {

struct Explanation {
  llvm::StringRef name;
  llvm::StringRef fragments; ///< of messages, as Explanations.def writes them
  llvm::StringRef text;
  llvm::StringRef example; ///< source text, or commands behind "$ "; empty: none shows it alone

  /// Of the first of the fragments, with "..." where anything may stand.
  std::string firstMessage() const;
  bool isOfCommands() const { return example.ltrim().starts_with("$ "); }
};

llvm::ArrayRef<Explanation> explanations();

/// The first that fits the message, in front of which a place and "error: " may stand; null: there
/// is none.
const Explanation *findExplanation(llvm::StringRef message);

/// "`colldsl explain deadlock` explains this"; empty: nothing does.
std::string explanationNote(llvm::StringRef message);

/// Adds that note for each explanation of the diagnostics, unless it is there.
void addExplanationNote(std::vector<Diagnostic> &diagnostics);

} // namespace colldsl::tools
