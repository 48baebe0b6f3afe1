#include "lsp/Structure.h"

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

TEST(Structure, FindsScopesOfNamesOfInvariants) {
  const std::string text = "collective f(inout y: T[n]) {\n"
                           "  for s in 0..2 invariant for i in 0..s: y == y invariant y == y@s {\n"
                           "    copy y to y;\n  }\n}\n";
  auto scope = [&](const char *name) {
    Structure::Piece piece = Structure(text).scopeOf(text.find(name));
    return text.substr(piece.begin, piece.end - piece.begin);
  };
  EXPECT_EQ(scope("s in 0"),
            text.substr(text.find("s in 0"), text.rfind("}\n}") - text.find("s in 0")));
  EXPECT_EQ(scope("i in 0"), "i in 0..s: y == y ");
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

/// "callee(first, name=, )" of each call around the `^`, the innermost one first.
std::string callsIn(std::string text) {
  size_t caret = text.find('^');
  text.erase(caret, 1);
  std::string all;
  for (const Structure::Call &call : Structure(text).callsAround(caret)) {
    all += (all.empty() ? "" : " ") + std::string(call.isMember ? "." : "");
    all += std::string(call.callee) + "(";
    for (size_t i = 0; i < call.arguments.size(); ++i)
      all += (i > 0 ? "," : "") + std::string(call.arguments[i].first) +
             (call.arguments[i].isNamed ? "=" : "");
    all += ")";
  }
  return all;
}

TEST(Structure, FindsCalls) {
  EXPECT_EQ(callsIn("let a = max(k, ^1);"), "max(k,)");
  EXPECT_EQ(callsIn("max(min(a, b), k = ^"), "max(min,k=)");
  EXPECT_EQ(callsIn("max(min(a, ^"), "min(a,) max(min)");
  EXPECT_EQ(callsIn("max([a, b, ^"), "max([)");
  EXPECT_EQ(callsIn("max((a, ^"), "max(()");
  EXPECT_EQ(callsIn("max(/* (, */ \"(,\", ^"), "max(\"(,\",)");
  EXPECT_EQ(callsIn("t.at(^"), ".at()");
  EXPECT_EQ(callsIn("collective f(in x: T[n], k: int = g(^"), "g()");
  EXPECT_EQ(callsIn("collective f() where (g(^"), "g()");
  EXPECT_EQ(callsIn("collective f() where where(^"), "where()");
}

TEST(Structure, FindsNoCallElsewhere) {
  for (const char *text :
       {"send ^x to max(k, 1);", "max(k, 1)^;", "ma^x(k, 1);", "f(a; send x to ^", "f(a { ^",
        "collective f(in x^", "function f(^", "graph g(^", "collective f(a: int in {1, ^",
        "collective f() where (^", "^", ""})
    EXPECT_EQ(callsIn(std::string(text) + (*text ? "" : "^")), "") << text;
}

std::string clauseOf(const std::string &text, const char *keyword) {
  std::optional<Structure::Piece> piece = Structure(text).clauseAt(text.find(keyword));
  return piece ? text.substr(piece->begin, piece->end - piece->begin) : "";
}

TEST(Structure, FindsClauses) {
  std::string text = "collective f(in x: T[n], out y: T[n], k: int in {1, 2})\n"
                     "  where (k > 1) and where(r: r > 1).size > 2 // one\n"
                     "  x aliases y[0..n]\n  ensures at k > where(r: r > 2).size: y == x\n"
                     "{ let g = where(r: r > 3); }\n";
  EXPECT_EQ(clauseOf(text, "where (k"), "where (k > 1) and where(r: r > 1).size > 2");
  EXPECT_EQ(clauseOf(text, "aliases"), "x aliases y[0..n]");
  EXPECT_EQ(clauseOf(text, "ensures"), "ensures at k > where(r: r > 2).size: y == x");
  for (const char *call : {"where(r: r > 1", "where(r: r > 2", "where(r: r > 3"})
    EXPECT_EQ(clauseOf(text, call), "");
  EXPECT_EQ(clauseOf("collective f() ensures x == reduce(sum, {", "ensures"),
            "ensures x == reduce(sum,");
  EXPECT_EQ(textOf(Structure(kText).partAround(find("r in 0"))),
            "ensures for r in 0..ranks: x == x@r");
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
  EXPECT_TRUE(structure.callsAround(14).empty());
  EXPECT_EQ(structure.scopeOf(3).end, open.size());
}

} // namespace
} // namespace colldsl::lsp
