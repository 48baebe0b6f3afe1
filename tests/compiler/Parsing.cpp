#include "Parsing.h"

#include "compiler/SerializedAst.h"
#include "tests/compiler/AstDump.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace colldsl {

std::string brief(const Diagnostic &d) {
  std::string text = std::to_string(d.loc.line) + ":" + std::to_string(d.loc.column) + ": ";
  return text + d.message + (d.hint.empty() ? "" : " [" + d.hint + "]");
}

std::vector<std::string> brief(const std::vector<Diagnostic> &diagnostics) {
  std::vector<std::string> lines;
  for (const Diagnostic &d : diagnostics)
    lines.push_back(brief(d));
  return lines;
}

std::vector<std::string> errorsOf(std::string_view text, const ParseLimits &limits) {
  return brief(parseFile(text, 0, limits).errors);
}

std::string dumpOf(std::string_view text) {
  ParseResult result = parseFile(text, 0);
  if (!result.ast)
    return llvm::join(brief(result.errors), "\n");
  std::string dumped = dump(*result.ast), bytes = serializeAst(*result.ast);
  std::unique_ptr<Ast> read = deserializeAst(bytes, 0);
  EXPECT_EQ(dump(*read), dumped);
  EXPECT_EQ(serializeAst(*read), bytes);
  return dumped;
}

std::string dumpOfExpr(std::string_view text) {
  ParsedExpr result = parseExpression(text, 0);
  return result.ast ? dump(*result.expr) : llvm::join(brief(result.errors), "\n");
}

std::string inBody(std::string_view statements) {
  return "collective c() {\n" + std::string(statements) + "\n}\n";
}

std::string readFile(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string repeat(std::string_view text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

} // namespace colldsl
