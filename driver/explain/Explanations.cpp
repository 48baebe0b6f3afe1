#include "driver/explain/Explanations.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

namespace colldsl::driver {
namespace {

constexpr Explanation kExplanations[] = {
#define COLLDSL_EXPLANATION(name, fragments, sources, text, example)                               \
  {name, fragments, text, example},
#include "driver/explain/Explanations.def"
};

} // namespace

llvm::ArrayRef<Explanation> explanations() { return kExplanations; }

std::string Explanation::firstMessage() const {
  llvm::StringRef words = fragments.split('|').first;
  bool begins = words.consume_front("^"), ends = words.consume_back("$");
  return (begins ? "" : "...") + words.str() + (ends ? "" : "...");
}

namespace {

/// True if the message has the pieces of a fragment, such as "block ... of", in this order. '^':
/// the first piece begins the message; '$': the last one ends it.
bool fits(llvm::StringRef fragment, llvm::StringRef message) {
  bool begins = fragment.consume_front("^"), ends = fragment.consume_back("$");
  if (begins && !message.starts_with(fragment.split("...").first))
    return false;
  if (ends) {
    auto [front, last] = fragment.rsplit("...");
    bool isOne = last.empty(); // rsplit() leaves all of it in front
    if (!message.consume_back(isOne ? front : last))
      return false;
    fragment = isOne ? "" : front;
  }
  while (!fragment.empty()) {
    auto [piece, rest] = fragment.split("...");
    size_t at = message.find(piece);
    if (at == llvm::StringRef::npos)
      return false;
    message = message.substr(at + piece.size());
    fragment = rest;
  }
  return true;
}

/// The message without its place and severity.
llvm::StringRef textBehindPlace(llvm::StringRef message) {
  for (llvm::StringRef severity : {"error: ", "warning: "})
    if (size_t at = message.find(severity); at != llvm::StringRef::npos)
      return message.substr(at + severity.size());
  return message;
}

} // namespace

const Explanation *findExplanation(llvm::StringRef message) {
  llvm::StringRef words = textBehindPlace(message);
  for (const Explanation &e : kExplanations)
    for (auto [fragment, rest] = e.fragments.split('|'); !fragment.empty();
         std::tie(fragment, rest) = rest.split('|'))
      if (fits(fragment, words))
        return &e;
  return nullptr;
}

std::string explanationNote(llvm::StringRef message) {
  const Explanation *found = findExplanation(message);
  return found ? "`colldsl explain " + found->name.str() + "` explains this" : "";
}

void addExplanationNote(std::vector<Diagnostic> &diagnostics) {
  std::vector<std::string> notes;
  auto isThere = [&](const std::string &note) {
    return llvm::is_contained(notes, note) ||
           llvm::any_of(diagnostics, [&](const Diagnostic &d) { return d.message == note; });
  };
  for (const Diagnostic &d : diagnostics)
    if (std::string note = explanationNote(d.message); !note.empty() && !isThere(note))
      notes.push_back(std::move(note));
  for (std::string &note : notes)
    diagnostics.push_back(Diagnostic::note({}, std::move(note)));
}

} // namespace colldsl::driver
