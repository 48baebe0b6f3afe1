#include "compiler/Spelling.h"

namespace colldsl {

llvm::StringRef nearestWord(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> words) {
  constexpr size_t kLongestWord = 64; // the distance costs the product of both lengths
  if (word.size() > kLongestWord)
    return {};
  auto best = static_cast<unsigned>((word.size() + 2) / 3) + 1;
  llvm::StringRef nearest;
  for (llvm::StringRef candidate : words) {
    if (candidate == word || candidate.size() > kLongestWord)
      continue;
    unsigned distance = word.edit_distance(candidate, /*AllowReplacements=*/true, best);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string didYouMean(llvm::StringRef word) {
  return word.empty() ? std::string() : "did you mean '" + word.str() + "'?";
}

llvm::StringRef meantWord(llvm::StringRef hint) {
  bool isOurs = hint.consume_front("did you mean '") && hint.consume_back("'?");
  return isOurs ? hint : llvm::StringRef();
}

} // namespace colldsl
