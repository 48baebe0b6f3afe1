#include "tools/lsp/Structure.h"

#include <gtest/gtest.h>

#include <string>

namespace colldsl::lsp {
namespace {

const std::string kText = "import \"a\";\n"
                          "collective f(in x: T[n], k: int = g(1, 2) in {1, 2})\n"
                          "  ensures for r in 0..ranks: x == x@r\n"
                          "{\n"
                          "  for i in 0..2 { let a = [for j in 0..i: j + k]; }\n"
                          "  send x to max(k, 1);\n"
                          "}\n"
                          "function h(b: int) = b;\n";

size_t find(const char *what, size_t inside = 0) { return kText.find(what) + inside; }

std::string textOf(Structure::Piece piece) {
  return kText.substr(piece.begin, piece.end - piece.begin);
}

TEST(Structure, FindsScopesOfNames) {
  Structure structure(kText);
  EXPECT_EQ(textOf(structure.scopeOf(find("i in 0"))),
            "i in 0..2 { let a = [for j in 0..i: j + k]; ");
  EXPECT_EQ(textOf(structure.scopeOf(find("a = ["))), "a = [for j in 0..i: j + k]; ");
  EXPECT_EQ(textOf(structure.scopeOf(find("j in"))), "j in 0..i: j + k");
  EXPECT_EQ(structure.scopeOf(find("r in 0")).end, find("}\nfunction", 1)); // of the contract
}

TEST(Structure, FindsDeclarations) {
  Structure structure(kText);
  EXPECT_EQ(structure.declAround(find("f(in")).begin, find("collective"));
  EXPECT_EQ(structure.declAround(find("f(in")).end, find("}\nfunction", 1));
  EXPECT_EQ(textOf(structure.declAround(find("h(b"))), "function h(b: int) = b;");
}

TEST(Structure, FindsParts) {
  Structure structure(kText);
  EXPECT_EQ(textOf(structure.partAround(find("x: T"))), "in x: T[n]");
  EXPECT_EQ(textOf(structure.partAround(find("k: int"))), "k: int = g(1, 2) in {1, 2}");
  EXPECT_EQ(textOf(structure.partAround(find("a = ["))), "let a = [for j in 0..i: j + k]");
  EXPECT_EQ(textOf(structure.partAround(find("i in 0"))), "for i in 0..2");
}

TEST(Structure, FindsCalls) {
  Structure structure(kText);
  EXPECT_EQ(structure.calleeAt(find("(k, 1)", 1)), "max");
  EXPECT_EQ(structure.calleeAt(find("(k, 1)", 4)), "max");
  EXPECT_EQ(structure.calleeAt(find("send x", 5)), std::nullopt);
}

TEST(Structure, CountsBrackets) {
  Structure structure(kText);
  EXPECT_EQ(structure.depthAt(0), 0u);
  EXPECT_EQ(structure.depthAt(find("for i")), 1u);
  EXPECT_EQ(structure.depthAt(find("let a")), 2u);
  EXPECT_EQ(structure.depthAt(find("function")), 0u);
  EXPECT_EQ(structure.depthAt(kText.size()), 0u);
}

TEST(Structure, OfATextWithoutTokensIsEmpty) {
  std::string open = "collective f( /* ";
  Structure structure(open);
  EXPECT_EQ(structure.depthAt(5), 0u);
  EXPECT_EQ(structure.calleeAt(14), std::nullopt);
  EXPECT_EQ(structure.scopeOf(3).end, open.size());
}

} // namespace
} // namespace colldsl::lsp
