// What a text parses to. Trees are compared by their dumps, which have brackets around
// every operator.
#include "Parsing.h"

#include "tests/compiler/AstDump.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <filesystem>

using namespace colldsl;

namespace {

// The examples of the language's design, as they stand there

std::vector<std::string> examples() {
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(COLLDSL_EXAMPLES))
    if (entry.path().extension() == ".coll")
      paths.push_back(entry.path().stem());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Example : public testing::TestWithParam<std::string> {
protected:
  std::string text() const {
    return readFile(std::string(COLLDSL_EXAMPLES "/") + GetParam() + ".coll");
  }
};

TEST_P(Example, Parses) { EXPECT_EQ(errorsOf(text()), std::vector<std::string>{}); }

TEST_P(Example, DumpParsesToTheSameTree) {
  std::string once = dumpOf(text());
  EXPECT_EQ(dumpOf(once), once);
}

INSTANTIATE_TEST_SUITE_P(Design, Example, testing::ValuesIn(examples()),
                         [](const auto &info) { return info.param; });

TEST(Parser, ExamplesAreThere) { EXPECT_EQ(examples().size(), 6u); }

// Expressions

struct Reading {
  const char *text;
  const char *dump;
};

void PrintTo(const Reading &reading, std::ostream *out) { *out << reading.text; }

class Precedence : public testing::TestWithParam<Reading> {};

TEST_P(Precedence, BindsAsStated) { EXPECT_EQ(dumpOfExpr(GetParam().text), GetParam().dump); }

const Reading kReadings[] = {
    {"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
    {"a ? b ? c : d : e", "(a ? (b ? c : d) : e)"},
    {"a or b ? c or d : e or f", "((a or b) ? (c or d) : (e or f))"},
    {"a or b and c or d", "((a or (b and c)) or d)"},
    {"not a and not b == c", "((not a) and (not (b == c)))"},
    {"not not a", "(not (not a))"},
    {"a == b and c != d", "((a == b) and (c != d))"},
    {"a xor b == c xor d", "((a xor b) == (c xor d))"},
    {"a xor b << c", "(a xor (b << c))"},
    {"1 << a + b", "(1 << (a + b))"},
    {"a - b - c + d", "(((a - b) - c) + d)"},
    {"a * b % c / d", "(((a * b) % c) / d)"},
    {"a + b * c", "(a + (b * c))"},
    {"-a * -b", "((-a) * (-b))"},
    {"- - + a", "(-(-(+a)))"},
    {"-a.b[c](d)", "(-a.b[c](d))"},
    {"a - -1", "(a - (-1))"},
    {"x[i]@e.peer == y", "((x[i] @ e.peer) == y)"},
    {"-x@r", "(-(x @ r))"},
    {"x@r[1] + 2", "((x @ r[1]) + 2)"},
    {"(g@r).out", "(g @ r).out"},
    {"x@-1", "(x @ (-1))"},
    {"(a + b) * c", "((a + b) * c)"},
};
INSTANTIATE_TEST_SUITE_P(Operators, Precedence, testing::ValuesIn(kReadings));

const Reading kOthers[] = {
    {"[]", "[]"},
    {"[a, [b], -c]", "[a, [b], (-c)]"},
    {"[for i in 0..=n if i != k: y[i]]", "[for i in 0..=n if (i != k): y[i]]"},
    {"sum(for r in t.children: c[r])", "sum(for r in t.children: c[r])"},
    {"y[a..b]", "y[a..b]"},
    {"part(b, i of k)", "part(b, i of k)"},
    {"part(b, i + 1..j of k * 2)", "part(b, (i + 1)..j of (k * 2))"},
    {"kary(root, 2..8)", "kary(root, 2..8)"},
    {"where(r: r % 2 == 0)", "where(r: ((r % 2) == 0))"},
    {"leader(node, include = none, index = 0)", "leader(node, include = none, index = 0)"},
    {"edges(\"a \\\"b\\\" \\\\\")", "edges(\"a \\\"b\\\" \\\\\")"},
    {"1GiB + 3ms", "(1073741824B + 3000000ns)"},
    {"true or false", "(true or false)"},
    {"f()", "f()"},
    {"f(a = b, c = d)(e)", "f(a = b, c = d)(e)"},
};
INSTANTIATE_TEST_SUITE_P(OtherForms, Precedence, testing::ValuesIn(kOthers));

TEST(Parser, AnExpressionStandsAlone) {
  EXPECT_EQ(dumpOfExpr("a b"), "1:3: expected the end of the file after 'a', found 'b'");
  EXPECT_EQ(dumpOfExpr(""), "1:1: expected an expression, found the end of the file");
  EXPECT_EQ(dumpOfExpr("1 < 2 < 3"), "1:7: comparisons do not chain: '<' before '<' [write 'a < b "
                                     "and b < c']");
  EXPECT_EQ(dumpOfExpr("(1 < 2) == (3 < 4)"), "((1 < 2) == (3 < 4))");
}

// Statements

/// Statement and dump are the same text.
class Statement : public testing::TestWithParam<const char *> {};

TEST_P(Statement, DumpsAsWritten) {
  std::string body = std::string("  ") + GetParam();
  EXPECT_EQ(dumpOf(inBody(body)), "collective c() {\n" + body + "\n}\n");
}

const char *const kStatements[] = {
    "let a = b;",
    "temp a: T[n];",
    "temp a: T[k][n];",
    "send a to b;",
    "send a to b tag c;",
    "send a along e;",
    "send a along e tag 1;",
    "send [a, b] to c;",
    "send [for i in 0..n: y[i]] to c;",
    "recv a from b;",
    "recv a from b tag 2 combine op before;",
    "recv a along e combine sum after;",
    "send a to b tag 2 multicast;",
    "recv a from b multicast combine op before;",
    "signal to b;",
    "signal to b tag c;",
    "signal along e;",
    "wait from b;",
    "wait along e tag c;",
    "copy a to b;",
    "combine a into b op before;",
    "calc 100ns;",
    "parent p;",
    "child c;",
    "edge to p;",
    "edge from p key k weight w;",
    "edge to p weight w;",
    "f();",
    "f(a, b = c) over node;",
    "f(a) over where(r: (r < 3));",
    "x: send a to b;",
    "x[i, j]: f(a);",
    "x requires y, z[(k - 1)];",
    "x[i] irequires y;",
};
INSTANTIATE_TEST_SUITE_P(All, Statement, testing::ValuesIn(kStatements));

TEST(Parser, CombineIsAfterByDefault) {
  EXPECT_EQ(
      dumpOf(inBody("recv a from b combine op; combine a into b op;")),
      "collective c() {\n  recv a from b combine op after;\n  combine a into b op after;\n}\n");
}

TEST(Parser, LabelsTakeSeveralIndices) {
  EXPECT_EQ(dumpOf(inBody("x[i][j]: calc 1ns;")), dumpOf(inBody("x[i, j]: calc 1ns;")));
}

TEST(Parser, BlocksNest) {
  EXPECT_EQ(dumpOf(inBody("for i in 0..n { if a { f(); } else if b { } else { g(); } }")),
            "collective c() {\n"
            "  for i in 0..n {\n"
            "    if a {\n"
            "      f();\n"
            "    } else if b {\n"
            "    } else {\n"
            "      g();\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(Parser, LoopsHaveInvariants) {
  EXPECT_EQ(dumpOf(inBody("for i in 0..n invariant for r in 0..i if r > 1: y[r] == x@r "
                          "invariant at rank > 0: y == x { f(); }")),
            "collective c() {\n"
            "  for i in 0..n invariant for r in 0..i if (r > 1): (y[r] == (x @ r)) "
            "invariant at (rank > 0): (y == x) {\n"
            "    f();\n"
            "  }\n"
            "}\n");
}

// Declarations

/// Declaration and dump are the same text.
class Declaration : public testing::TestWithParam<const char *> {};

TEST_P(Declaration, DumpsAsWritten) {
  EXPECT_EQ(dumpOf(GetParam()), std::string(GetParam()) + "\n");
}

const char *const kDeclarations[] = {
    "import \"a/b.coll\";",
    "function f(a: int, b: int[]) = (a + b[0]);",
    "function one() = 1;",
    "tree t(root: rank) {\n}",
    "graph g(dims: int[], w: int = 1 in {1, 2, 3}) {\n}",
    "deterministic collective c(in x: f64[n]) {\n}",
    "collective c(in x: T[k][c] at root, out y: T[*], inout z: T[2][<= m], g: global graph, "
    "op: reduction = sum, s: bytes = 4B in 1B..8B, t: tree = k(r) in {k(r, 2..8), d(r)}) {\n}",
    "collective c(in x: T[n], out y: T[n])\n"
    "  where commutative(op)\n"
    "  x aliases y[rank]\n"
    "  ensures synchronizes\n"
    "  ensures for r in 0..ranks if (r != 3): (y[r] == (x @ r))\n"
    "  ensures at (rank == root): for i in l: (y == reduce(op, for r in l: (x @ r))) {\n}",
};
INSTANTIATE_TEST_SUITE_P(All, Declaration, testing::ValuesIn(kDeclarations));

TEST(Parser, ParametersAreBuffersOrValues) {
  ParseResult result = parseFile("function f(in a: T[n], b: int, c: int[]) = 1;", 0);
  ASSERT_TRUE(result.ast);
  auto parameters = result.ast->decls[0]->parameters;
  EXPECT_TRUE(parameters[0].isBuffer);
  EXPECT_FALSE(parameters[1].isBuffer);
  EXPECT_FALSE(parameters[2].isBuffer);
}

TEST(Parser, DocCommentsBelongToTheNextDeclaration) {
  ParseResult result = parseFile("/// stray\n\n/// one\n/// two\ndeterministic collective a() {}\n"
                                 "tree b() {} /// not c's\n"
                                 "// c\nfunction c() = 1;",
                                 0);
  ASSERT_TRUE(result.ast);
  EXPECT_EQ(result.ast->decls[0]->doc, "one\ntwo");
  EXPECT_EQ(result.ast->decls[1]->doc, "");
  EXPECT_EQ(result.ast->decls[2]->doc, "");
}

TEST(Parser, TreesOutliveTheText) {
  std::string text = inBody("send abcdefghijklmnopqrstuvwxyz to p;");
  ParseResult result = parseFile(text, 0);
  text.assign(text.size(), '#');
  ASSERT_TRUE(result.ast);
  EXPECT_NE(dump(*result.ast).find("abcdefghijklmnopqrstuvwxyz"), std::string::npos);
}

TEST(Parser, LocationsAreWhereCaretsPoint) {
  ParseResult result = parseFile("collective c() {\n  x: send a + b to p;\n}", 5);
  ASSERT_TRUE(result.ast);
  auto *c = llvm::cast<ast::CollectiveDecl>(result.ast->decls[0]);
  EXPECT_EQ(c->loc, (SourceLoc{1, 12, 5})) << "the name of a declaration";
  auto *send = llvm::cast<ast::MessageStmt>(c->body[0]);
  EXPECT_EQ(send->loc, (SourceLoc{2, 6, 5})) << "the operation, not its label";
  EXPECT_EQ(send->label->name.loc, (SourceLoc{2, 3, 5}));
  EXPECT_EQ(send->slice->loc, (SourceLoc{2, 13, 5})) << "the operator";
}

// Contextual keywords

const char *const kKeywords[] = {
    "after",  "aliases",   "along",        "and",     "at",        "before",
    "calc",   "child",     "collective",   "combine", "copy",      "deterministic",
    "edge",   "else",      "ensures",      "for",     "from",      "function",
    "global", "graph",     "if",           "import",  "in",        "inout",
    "into",   "irequires", "key",          "let",     "multicast", "of",
    "or",     "out",       "over",         "parent",  "recv",      "requires",
    "send",   "signal",    "synchronizes", "tag",     "temp",      "to",
    "tree",   "wait",      "weight",       "where",   "xor",
};

class Keyword : public testing::TestWithParam<const char *> {
protected:
  /// The text with the keyword for every #.
  std::string with(std::string text) const {
    for (size_t at = text.find('#'); at != std::string::npos; at = text.find('#'))
      text.replace(at, 1, GetParam());
    return text;
  }
};

TEST_P(Keyword, NamesDeclarationsAndParameters) {
  std::string text = with("collective #(in #: #[#], a: int) {\n}\n");
  EXPECT_EQ(dumpOf(text), text);
}

TEST_P(Keyword, NamesLetsBuffersAndLabels) {
  std::string text = inBody(with("  let # = 1;\n  temp #: T[#];\n  #: send #[0] to #;\n"
                                 "  for # in # {\n  }\n  #[1] requires #, #[2];\n"
                                 "  recv # from # tag # combine # before;\n"
                                 "  combine # into # # after;\n  #(#, #.#) over #;"));
  EXPECT_EQ(dumpOf(text), text);
}

TEST_P(Keyword, IsAnOperand) {
  EXPECT_EQ(dumpOfExpr(with("a + # * b")), with("(a + (# * b))"));
  EXPECT_EQ(dumpOfExpr(with("#.# == [#]")), with("(#.# == [#])"));
}

INSTANTIATE_TEST_SUITE_P(All, Keyword, testing::ValuesIn(kKeywords),
                         [](const auto &info) { return std::string(info.param); });

TEST(Keywords, OperatorsWinOverNames) {
  EXPECT_EQ(dumpOfExpr("not (x)"), "(not x)");
  EXPECT_EQ(dumpOfExpr("not - 1"), "(not (-1))");
  EXPECT_EQ(dumpOfExpr("not[0]"), "(not [0])");
  EXPECT_EQ(dumpOfExpr("not == not"), "(not == not)") << "no operand, so it is a name";
}

TEST(Keywords, StatementsWinOverCalls) {
  EXPECT_EQ(dumpOf(inBody("  parent (x);\n  calc (x);\n  child (x) + 1;")),
            inBody("  parent x;\n  calc x;\n  child (x + 1);"));
  EXPECT_EQ(dumpOf(inBody("  parent(x, y);\n  copy(x);\n  send(x) over node;")),
            inBody("  parent(x, y);\n  copy(x);\n  send(x) over node;"));
}

TEST(Keywords, ValuesCannotBeNames) {
  for (const char *value : {"true", "false", "none"})
    EXPECT_EQ(errorsOf(inBody(std::string("let ") + value + " = 1;")),
              std::vector<std::string>{std::string("2:5: expected a name after 'let', found '") +
                                       value + "' ['" + value +
                                       "' is a value and cannot be a name]"});
}

} // namespace
