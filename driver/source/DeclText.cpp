#include "driver/source/DeclText.h"

#include "compiler/Scanner.h"

#include <algorithm>

namespace colldsl::driver {

llvm::StringRef kindWord(DeclKind kind) {
  switch (kind) {
  case DeclKind::Collective:
    return "collective";
  case DeclKind::Tree:
    return "tree";
  case DeclKind::Graph:
    return "graph";
  case DeclKind::Function:
    return "function";
  }
  return "";
}

std::string headOf(std::string_view text, const Decl &decl) {
  size_t begin = 0;
  for (uint32_t line = 1; line < decl.loc.line; ++line)
    begin = text.find('\n', begin) + 1;
  llvm::StringRef rest(text.substr(begin));
  Result<std::vector<Token>> tokens = scan({rest.data(), rest.size()}, 0, ParseLimits());
  if (!tokens)
    return rest.split('\n').first.str();
  unsigned depth = 0;
  for (const Token &token : *tokens) {
    llvm::StringRef sign(token.text);
    if (depth == 0 && (sign == "{" || sign == ";"))
      return rest.take_front(static_cast<size_t>(sign.data() - rest.data())).rtrim().str();
    depth += sign == "(" || sign == "[" || sign == "{";
    depth -= depth > 0 && (sign == ")" || sign == "]" || sign == "}");
  }
  return rest.rtrim().str();
}

std::string placeOf(const Program &program, const Decl &decl) {
  return program.files[decl.loc.file] + ":" + std::to_string(decl.loc.line);
}

std::string summaryOf(llvm::StringRef doc) {
  std::string text = doc.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  size_t end = text.find(". ");
  while (end != std::string::npos && end > 0 && text[end - 1] == '.')
    end = text.find(". ", end + 1);
  llvm::StringRef sentence = llvm::StringRef(text).take_front(end);
  sentence.consume_back(".");
  return sentence.str();
}

} // namespace colldsl::driver
