/// Explanations of messages, from the table Explanations.def.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace colldsl::driver {

struct Explanation {
  llvm::StringRef name;
  llvm::StringRef fragments; ///< of messages, as Explanations.def writes them
  llvm::StringRef text;
  llvm::StringRef example; ///< source text, or commands behind "$ "; empty: there is none

  /// The message of the first fragment, with "..." for any text.
  std::string firstMessage() const;
  bool isOfCommands() const { return example.ltrim().starts_with("$ "); }
};

llvm::ArrayRef<Explanation> explanations();

/// The first explanation that fits the message, which a place and "error: " may precede; null: none
/// fits.
const Explanation *findExplanation(llvm::StringRef message);

/// "`colldsl explain deadlock` explains this"; empty: no explanation fits.
std::string explanationNote(llvm::StringRef message);

/// Adds that note for each explanation of the diagnostics, unless it is there.
void addExplanationNote(std::vector<Diagnostic> &diagnostics);

} // namespace colldsl::driver
