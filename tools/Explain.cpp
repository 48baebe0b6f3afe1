#include "compiler/ForeignWords.h"
#include "compiler/Spelling.h"
#include "driver/explain/Explanations.h"
#include "tools/Commands.h"
#include "tools/options/ResultStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace colldsl::tools {
namespace {

void printList() {
  size_t width = 0;
  for (const Explanation &e : explanations())
    width = std::max(width, e.name.size());
  for (const Explanation &e : explanations())
    resultStream() << llvm::left_justify(e.name, static_cast<unsigned>(width)) << "  "
                   << e.firstMessage() << "\n";
}

void print(const Explanation &e) {
  resultStream() << e.name << ": \"" << e.firstMessage() << "\"\n\n" << e.text.trim() << "\n";
  if (!e.example.trim().empty())
    resultStream() << (e.isOfCommands()
                           ? "\nFor example:\n\n"
                           : "\nFor example, `colldsl verify` refuses this with it:\n\n")
                   << e.example.trim() << "\n";
}

const Explanation *named(llvm::StringRef name) {
  const Explanation *found =
      llvm::find_if(explanations(), [&](const Explanation &e) { return e.name == name; });
  return found == explanations().end() ? nullptr : found;
}

/// A name, a message, or a word of another language.
const Explanation *find(llvm::StringRef words) {
  if (const Explanation *e = named(words))
    return e;
  bool isForeign = !ourWordFor(words).empty() || !hintForMpi(words).empty();
  return isForeign ? named("no-statement") : findExplanation(words);
}

Exit refuse(llvm::StringRef words, const Options &options) {
  std::vector<llvm::StringRef> names;
  for (const Explanation &e : explanations())
    names.push_back(e.name);
  std::string hint = didYouMean(nearestWord(words, names));
  return options.refuse("nothing explains '" + words + "'; " +
                        (hint.empty() ? "`colldsl explain` lists what there is" : hint));
}

} // namespace

Exit explainCommand(Arguments arguments) {
  bool example = false;
  Options options(
      "explain", "[NAME|MESSAGE]",
      "Explains a message, with an example that gets it. Without an operand: which there\n"
      "are.");
  options.addFlag("--example",
                  "print the example alone, as source text, or as commands behind `$ `", example);
  Completion names;
  for (const Explanation &e : explanations())
    names.words.push_back(e.name.str());
  options.completeOperands(names);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().empty() && example)
    return options.refuse("--example needs a name");
  if (options.operands().empty()) {
    printList();
    return Exit::Success;
  }
  std::string words = llvm::join(options.operands(), " ");
  const Explanation *found = find(words);
  if (!found)
    return refuse(words, options);
  if (example && found->example.trim().empty())
    return options.refuse("'" + found->name + "' has no example of its own");
  if (example)
    resultStream() << found->example.trim() << "\n";
  else
    print(*found);
  return Exit::Success;
}

} // namespace colldsl::tools
