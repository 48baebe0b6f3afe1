// Trees that are stored and read again, and those of the standard library that are built in. That
// all trees of these tests survive it is checked by dumpOf().
#include "compiler/SerializedAst.h"
#include "compiler/Parser.h"
#include "compiler/Sema.h"
#include "compiler/StdlibTrees.h"
#include "program/SerializedProgram.h"
#include "stdlib/StdlibFiles.h"
#include "tests/compiler/AstDump.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

/// The checked program of the standard library whose files have these trees.
std::vector<std::byte> programOf(const std::vector<std::shared_ptr<const Ast>> &trees) {
  std::vector<SemaInput> inputs;
  for (const auto &tree : trees)
    inputs.push_back({tree->decls, 0, false});
  Program program;
  std::vector<DeclId> mainDecls;
  EXPECT_TRUE(analyse(inputs, program, mainDecls).empty());
  return serializeProgram(program);
}

TEST(SerializedAst, TheTreesOfTheStandardLibraryAreThoseOfItsTexts) {
  std::vector<std::shared_ptr<const Ast>> parsed, builtIn;
  for (uint16_t i = 0; i < stdlibFiles().size(); ++i) {
    const StdlibFile &file = stdlibFiles()[i];
    parsed.push_back(parseFile(file.text, i).ast);
    builtIn.push_back(stdlibTree(i));
    ASSERT_TRUE(parsed.back());
    EXPECT_EQ(dump(*builtIn.back()), dump(*parsed.back())) << file.name;
  }
  // The program has the places, too.
  EXPECT_EQ(programOf(builtIn), programOf(parsed));
}

TEST(SerializedAst, PlacesAreInTheFileThatIsNamed) {
  ParseResult parsed = parseFile("import \"a.coll\";\nfunction f(a: int) = a;\n", 3);
  ASSERT_TRUE(parsed.ast);
  std::string bytes = serializeAst(*parsed.ast);
  std::unique_ptr<Ast> read = deserializeAst(bytes, 7);
  EXPECT_EQ(read->decls[0]->name.loc, (SourceLoc{2, 10, 7}));
  EXPECT_EQ(read->imports[0].loc, (SourceLoc{1, 8, 7}));
  EXPECT_EQ(read->imports[0].path, "a.coll");
}

TEST(SerializedAst, EachTreeOfTheStandardLibraryIsMadeOnce) {
  EXPECT_EQ(stdlibTree(0), stdlibTree(0));
}

} // namespace
