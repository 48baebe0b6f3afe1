#include "tools/explain/Explanations.h"

#include "llvm/ADT/STLExtras.h"

namespace colldsl::tools {
namespace {

constexpr Explanation kExplanations[] = {
#define COLLDSL_EXPLANATION(name, fragment, text, example) {name, fragment, text, example},
#include "tools/explain/Explanations.def"
};

} // namespace

llvm::ArrayRef<Explanation> explanations() { return kExplanations; }

const Explanation *findExplanation(llvm::StringRef message) {
  const auto *found = llvm::find_if(
      kExplanations, [&](const Explanation &e) { return message.contains(e.fragment); });
  return found == std::end(kExplanations) ? nullptr : found;
}

void addExplanationNote(std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &d : diagnostics)
    if (const Explanation *found = findExplanation(d.message)) {
      diagnostics.push_back(
          Diagnostic::note({}, "`colldsl explain " + found->name.str() + "` explains this"));
      return;
    }
}

} // namespace colldsl::tools
