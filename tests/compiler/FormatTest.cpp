// The layout of source text: examples, and on all files of this tree that it changes no word, no
// sign and no comment, parses to the same tree, and that its result stays as it is.
#include "Parsing.h"

#include "compiler/Format.h"
#include "compiler/SourcePieces.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace colldsl;

namespace {

std::string formatted(std::string_view text) {
  Result<std::string> result = formatSource(text, 0);
  return result ? result.take() : result.message();
}

struct Layout {
  const char *before;
  const char *after;
};

const Layout kStatements[] = {
    {"for k in 0 .. ranks-1{send y [k] to p;}", "for k in 0..ranks - 1 { send y[k] to p; }"},
    {"for k in 0..n invariant for i in 0..k :y [i]==x @ i invariant y==x{ }",
     "for k in 0..n invariant for i in 0..k: y[i] == x@i invariant y == x { }"},
    {"for k in 0..n\ninvariant for i in 0..k: y[i] ==\nx@i\ninvariant y == x {\ncopy y to z;\n}",
     "for k in 0..n\n  invariant for i in 0..k: y[i] ==\n    x@i\n  invariant y == x {\n"
     "  copy y to z;\n}"},
    {"let a=-1+ - b*( c ) ;", "let a = -1 + -b * (c);"},
    {"let a = b?c:d ;", "let a = b ? c : d;"},
    {"let l=[ for i in 0..=3 if i>1 :i ];", "let l = [for i in 0..=3 if i > 1: i];"},
    {"s [ k ] :send [ x,y ] to( rank+1 )%ranks tag -k;",
     "s[k]: send [x, y] to(rank + 1) % ranks tag -k;"},
    {"recv y from (a) combine op  before ;", "recv y from (a) combine op before;"},
    {"temp a:T [ <=m ];", "temp a: T[<= m];"},
    {"temp a:T [ * ];", "temp a: T[*];"},
    {"f( a ,k=4 ,for i in s:i ) over node ;", "f(a, k = 4, for i in s: i) over node;"},
    {"x . y ( 3 ) ;", "x.y(3);"},
    {"let a = x @ ( r+1 ) == y @ r;", "let a = x@(r + 1) == y@r;"},
    {"if a{ }   // why", "if a { }   // why"},
    {"let a = /* of b */ 3;", "let a = /* of b */ 3;"},
    {"if a   { wait from 0; }", "if a   { wait from 0; }"}, // a column of the writer's
};

TEST(Format, blanks) {
  for (const Layout &layout : kStatements)
    EXPECT_EQ(formatted(layout.before), std::string(layout.after) + "\n");
}

TEST(Format, lines) {
  EXPECT_EQ(formatted("\n\n/// d\ncollective c(in x: T[n],\nout y: T[n]\n= 3)\nwhere a\n"
                      "ensures y ==\nx\n{\n\n\n// s\nif a {\nb();\n\n\n\n}\nelse {\nlet c = 1 +\n2;"
                      "\n}\n}   \n\n\n"),
            "/// d\n"
            "collective c(in x: T[n],\n"
            "             out y: T[n]\n"
            "               = 3)\n"
            "  where a\n"
            "  ensures y ==\n"
            "    x\n"
            "{\n"
            "  // s\n"
            "  if a {\n"
            "    b();\n"
            "  }\n"
            "  else {\n"
            "    let c = 1 +\n"
            "      2;\n"
            "  }\n"
            "}\n");
}

TEST(Format, bracketsAtLineEnds) {
  EXPECT_EQ(formatted("let a = f(\nb,\nc\n);"), "let a = f(\n    b,\n    c\n);\n");
}

TEST(Format, commentsOfSeveralLinesStay) {
  EXPECT_EQ(formatted("   /* a\n     b  \r\n c */ let x = 1;"), "/* a\n     b\n c */ let x = 1;\n");
}

TEST(Format, nothing) { EXPECT_EQ(formatted(" \n\n"), ""); }

TEST(Format, faultsOfTheText) {
  EXPECT_EQ(formatted("/* a"), "this comment is never closed: '*/' is missing");
}

std::vector<std::string> filesOfTheTree() {
  std::vector<std::string> paths;
  for (const char *folder : {"stdlib", "examples", "tests", "bench"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(std::string(COLLDSL_TREE "/") + folder))
      if (entry.path().extension() == ".coll")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Words, signs, comments.
std::vector<std::string> contentOf(std::string_view text) {
  Result<std::vector<Piece>> pieces = piecesOf(text, 0, {});
  std::vector<std::string> content;
  if (!pieces)
    return {pieces.message()};
  for (const Piece &piece : *pieces)
    content.emplace_back(piece.text);
  return content;
}

/// Every piece on a line of its own, but for comments.
std::string torn(std::string_view text) {
  Result<std::vector<Piece>> pieces = piecesOf(text, 0, {});
  std::string lines;
  if (!pieces)
    return lines;
  for (const Piece &piece : *pieces)
    lines += std::string(piece.text) + "\n";
  return lines;
}

TEST(Format, allFilesOfTheTree) {
  std::vector<std::string> paths = filesOfTheTree();
  EXPECT_GT(paths.size(), 200u);
  size_t parsed = 0;
  for (const std::string &path : paths) {
    std::string text = readFile(path);
    if (!scan(text, 0, {}))
      continue; // a test of such faults
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << path;
    EXPECT_EQ(contentOf(once), contentOf(text)) << path;
    parsed += errorsOf(text).empty();
    if (errorsOf(text).empty()) {
      EXPECT_EQ(dumpOf(once), dumpOf(text)) << path; // doc comments, too
    }
    std::string fromLines = formatted(torn(text));
    EXPECT_EQ(formatted(fromLines), fromLines) << path;
    EXPECT_EQ(contentOf(fromLines), contentOf(text)) << path;
  }
  EXPECT_GT(parsed, 150u);
}

} // namespace
