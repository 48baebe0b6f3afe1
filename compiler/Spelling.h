/// Near misses: which of the words that fit was meant.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace colldsl {

/// The word closest to `word`, if a third of its letters or fewer are wrong; else
/// empty. The first of equals, so that the same text gives the same message.
llvm::StringRef nearestWord(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> words);

/// "did you mean 'x'?", or nothing for an empty x.
std::string didYouMean(llvm::StringRef word);

/// The x of a hint that didYouMean() made; empty: it is another hint.
llvm::StringRef meantWord(llvm::StringRef hint);

} // namespace colldsl
