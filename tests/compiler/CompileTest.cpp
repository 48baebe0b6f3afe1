// Files, imports, the standard library, and arguments from the command line.
#include "Parsing.h"

#include "compiler/Compile.h"
#include "compiler/SymbolIndex.h"
#include "stdlib/StdlibFiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace colldsl;

namespace {

const char *const kCollective = "(inout x: T[n]) ensures x == x@rank { }\n";

class CompileTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "colldsl-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) {
    std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }

  /// All that is said, with the folder's name left out.
  std::string messages(const Compilation &c) const {
    std::string all;
    for (const Diagnostic &d : c.diagnostics())
      all += c.render(d);
    std::string prefix = folder.string() + "/";
    for (size_t at = all.find(prefix); at != std::string::npos; at = all.find(prefix))
      all.erase(at, prefix.size());
    return all;
  }
  std::vector<std::string> mainNames(const Compilation &c) const {
    std::vector<std::string> names;
    for (DeclId id : c.mainDecls())
      names.push_back(c.program().nameOf(c.program().decl(id)));
    return names;
  }

  std::filesystem::path folder;
};

using Names = std::vector<std::string>;

TEST_F(CompileTest, TheStandardLibraryAlone) {
  Compilation c = compileFiles({});
  EXPECT_EQ(messages(c), "");
  EXPECT_TRUE(c.ok());
  EXPECT_EQ(mainNames(c), Names{});
  EXPECT_EQ(c.program().files.size(), stdlibFiles().size());
  EXPECT_NE(c.program().find("binomial", DeclKind::Tree), kNoDecl);
}

TEST_F(CompileTest, WithoutTheStandardLibrary) {
  CompileOptions options;
  options.withStdlib = false;
  Compilation c = compileFiles({}, options);
  EXPECT_TRUE(c.ok());
  EXPECT_TRUE(c.program().decls.empty());
}

TEST_F(CompileTest, LinesThatStandForOtherPlaces) {
  CompileOptions options;
  options.origins.files = {{"other.py", "one\n"}, {"f.py", "def f(me, x):\n  me.send(x, 1)\n"}};
  options.origins.places = {{2, {2, 3, 1}}};
  Compilation c = compileFiles(
      {write("f.coll",
             "collective f(in x: T[n]) {\n  a[1 + 1]: send x to 1;\n  send x to 2;\n}\n")},
      options);
  ASSERT_EQ(messages(c), "");
  std::vector<SourceLoc> places;
  for (const Stmt &stmt : c.program().stmts)
    if (stmt.kind == StmtKind::Message && stmt.loc.file >= stdlibFiles().size())
      places.push_back(stmt.loc);
  auto main = static_cast<uint16_t>(stdlibFiles().size());
  auto traced = static_cast<uint16_t>(main + 2);
  EXPECT_EQ(places, (std::vector<SourceLoc>{{2, 3, traced}, {3, 3, main}}));
  EXPECT_EQ(c.program().files.at(traced), "f.py");
  EXPECT_EQ(c.program().labels.back().loc, (SourceLoc{2, 3, traced}));
  EXPECT_EQ(c.render(Diagnostic::error(places[0], "why")),
            "f.py:2:3: error: why\n  me.send(x, 1)\n  ^\n");
}

TEST_F(CompileTest, LinesOfMoreFilesThanACompilationHas) {
  CompileOptions options;
  options.withStdlib = false;
  options.origins.files.resize(UINT16_MAX);
  options.origins.places = {{2, {2, 3, UINT16_MAX - 1}}};
  Compilation c = compileFiles({write("f.coll", "collective f(in x: T[n]) {\n}\n")}, options);
  EXPECT_EQ(messages(c), "error: cannot read 'f.coll': it stands for 65535 files, a compilation "
                         "has at most 65535\n");
}

TEST_F(CompileTest, ExamplesOfTheDesign) {
  for (const auto &entry : std::filesystem::directory_iterator(COLLDSL_EXAMPLES)) {
    if (entry.path().extension() != ".coll")
      continue;
    Compilation c = compileFiles({entry.path()});
    EXPECT_EQ(messages(c), "") << entry.path();
    EXPECT_TRUE(c.ok());
  }
}

TEST_F(CompileTest, LocalDeclarationsShadowTheLibrary) {
  std::string path = write("a.coll", "tree binomial(root: rank) { }\n"
                                     "collective mine(t: tree = binomial(0)) { }\n");
  Compilation c = compileFiles({path});
  EXPECT_EQ(messages(c), "");
  EXPECT_EQ(mainNames(c), (Names{"binomial", "mine"}));
  EXPECT_EQ(c.program().find("binomial", DeclKind::Tree), c.mainDecls()[0]);
}

TEST_F(CompileTest, ImportsAreSearchedBesideTheFileThenInThePath) {
  write("sub/near.coll", std::string("import \"far.coll\"; collective near") + kCollective);
  write("path/far.coll", std::string("collective far") + kCollective);
  write("path/near.coll", "this one is not read");
  std::string path = write("main.coll", "import \"sub/near.coll\";\n"
                                        "collective both(inout x: T[n]) ensures x == x@rank {\n"
                                        "  near(x); far(x);\n"
                                        "}\n");
  CompileOptions options;
  options.includePaths = {folder / "none", folder / "path"};
  Compilation c = compileFiles({path}, options);
  EXPECT_EQ(messages(c), "");
  EXPECT_EQ(mainNames(c), Names{"both"}) << "imported ones are not main";
}

TEST_F(CompileTest, AFileIsReadOnceHoweverItIsNamed) {
  write("c.coll", std::string("collective c") + kCollective);
  write("a.coll", "import \"c.coll\";");
  std::string main = write("main.coll", "import \"a.coll\"; import \"./c.coll\";\n"
                                        "import \"../" +
                                            folder.filename().string() + "/c.coll\";");
  Compilation c = compileFiles({main, main});
  EXPECT_EQ(messages(c), "");
  EXPECT_EQ(c.program().files.size(), stdlibFiles().size() + 3);
}

TEST_F(CompileTest, MissingImport) {
  std::string path = write("sub/main.coll", "\nimport  \"no.coll\";");
  CompileOptions options;
  options.includePaths = {"/nowhere"};
  Compilation c = compileFiles({path}, options);
  EXPECT_FALSE(c.ok());
  EXPECT_EQ(messages(c),
            "sub/main.coll:2:9: error: 'sub/main.coll' imports 'no.coll', which does not exist\n"
            "import  \"no.coll\";\n"
            "        ^\n"
            "  hint: looked for in 'sub', '/nowhere'\n");
}

TEST_F(CompileTest, ImportCycle) {
  write("b.coll", "import \"c.coll\";");
  write("c.coll", "// c\nimport \"a.coll\";");
  std::string path = write("a.coll", "import \"b.coll\";");
  EXPECT_EQ(messages(compileFiles({path})),
            "c.coll:2:8: error: 'c.coll' imports 'a.coll', which imports it in turn\n"
            "import \"a.coll\";\n"
            "       ^\n"
            "a.coll:1:8: note: by way of this import\n"
            "import \"b.coll\";\n"
            "       ^\n"
            "b.coll:1:8: note: by way of this import\n"
            "import \"c.coll\";\n"
            "       ^\n");
}

TEST_F(CompileTest, ImportOfItself) {
  std::string path = write("a.coll", "import \"a.coll\";");
  EXPECT_EQ(messages(compileFiles({path})), "a.coll:1:8: error: 'a.coll' imports itself\n"
                                            "import \"a.coll\";\n"
                                            "       ^\n");
}

TEST_F(CompileTest, MissingMainFile) {
  EXPECT_EQ(messages(compileFiles({folder / "no.coll"})),
            "error: cannot read 'no.coll': No such file or directory\n");
}

TEST_F(CompileTest, ReadsOrdinaryFilesOnly) {
  EXPECT_EQ(messages(compileFiles({folder})),
            "error: cannot read '" + folder.string() + "': it is not an ordinary file\n");
  EXPECT_EQ(messages(compileFiles({"/dev/zero"})),
            "error: cannot read '/dev/zero': it is not an ordinary file\n");
  std::string path = write("a.coll", "import \"/dev/zero\";");
  EXPECT_EQ(messages(compileFiles({path})),
            "a.coll:1:8: error: cannot read '/dev/zero': it is not an ordinary file\n"
            "import \"/dev/zero\";\n"
            "       ^\n");
}

TEST_F(CompileTest, LimitsOnFiles) {
  write("1.coll", "import \"2.coll\";");
  write("2.coll", "import \"3.coll\";");
  write("3.coll", "");
  std::string path = write("0.coll", "import \"1.coll\";");
  CompileOptions options;
  options.limits.maxFiles = 3;
  EXPECT_EQ(messages(compileFiles({path}, options)),
            "2.coll:1:8: error: cannot read '3.coll': more than 3 files, the limit (--max-files)\n"
            "import \"3.coll\";\n"
            "       ^\n");
  options.limits.maxFiles = 4;
  EXPECT_EQ(messages(compileFiles({path}, options)), "");
  options.withStdlib = false;
  options.limits.maxBytes = 10;
  EXPECT_EQ(messages(compileFiles({path}, options)),
            "error: cannot read '0.coll': it has 16 bytes, the limit is 10 (--max-source-bytes)\n");
}

TEST_F(CompileTest, AThousandImportsDeep) {
  for (int i = 0; i < 1000; ++i)
    write(std::to_string(i) + ".coll", "import \"" + std::to_string(i + 1) + ".coll\";");
  write("1000.coll", "");
  Compilation c = compileFiles({folder / "0.coll"});
  ASSERT_EQ(c.diagnostics().size(), 1u);
  EXPECT_NE(c.diagnostics()[0].message.find("(--max-files)"), std::string::npos);
}

TEST_F(CompileTest, ErrorsOfAllFilesAtOnce) {
  write("b.coll", "tree t() { foo; }");
  std::string a = write("a.coll", "import \"b.coll\"; import \"no.coll\";");
  std::string c = write("c.coll", "graph g() { 3; }");
  EXPECT_EQ(brief(compileFiles({a, c}).diagnostics()),
            (Names{"1:12: 'foo' begins no statement here [did you mean 'for'?]",
                   "1:25: '" + a + "' imports 'no.coll', which does not exist [looked for in '" +
                       folder.string() + "']",
                   "1:13: expected a statement or '}', found '3'"}));
}

TEST_F(CompileTest, LeavesTheLibraryWholeForTheNextCompilation) {
  CompileOptions few;
  few.usedBy = {"bcast_kary"};
  size_t used = compileFiles({}, few).program().decls.size();
  size_t all = compileFiles({}).program().decls.size();
  EXPECT_LT(used, all);
  EXPECT_EQ(compileFiles({}, few).program().decls.size(), used);
  EXPECT_EQ(compileFiles({}).program().decls.size(), all);
}

TEST_F(CompileTest, OpenTextsStandForImportedFiles) {
  write("parts.coll", "function one() = 1;\n");
  std::string main =
      write("main.coll", "import \"parts.coll\";\nfunction two() = one() + other();\n");
  EXPECT_EQ(messages(compileFiles({main})).substr(0, 53),
            "main.coll:2:26: error: unknown function 'other'\nfunct");
  CompileOptions options;
  options.openTexts[std::filesystem::canonical(folder / "parts.coll")] =
      "function one() = 1;\nfunction other() = 2;\n";
  EXPECT_EQ(messages(compileFiles({main}, options)), "");
}

TEST_F(CompileTest, NotesWhereNamesAreDeclaredAndUsed) {
  std::string text =
      "collective f(in x: T[n], out y: T[n]) ensures y == x {\n"
      "  for i in 0..2 { s[i]: copy x to y; }\n"
      "  s[0] requires s[1];\n"
      "}\n"
      "collective g(inout x: T[n]) ensures x == x@rank { temp t: T[n]; f(x = x, y = t); }\n";
  SymbolIndex symbols;
  CompileOptions options;
  options.symbols = &symbols;
  options.withStdlib = false;
  Compilation c = compileFiles({write("main.coll", text)}, options);
  EXPECT_EQ(messages(c), "");
  std::string uses;
  for (const SymbolIndex::Use &use : symbols.uses()) {
    const SymbolIndex::Symbol *symbol = symbols.at(use.loc);
    ASSERT_NE(symbol, nullptr);
    uses += symbol->name + " " + std::to_string(use.loc.line) + ":" +
            std::to_string(use.loc.column) + "-" + std::to_string(symbol->loc.line) + ":" +
            std::to_string(symbol->loc.column) + "\n";
  }
  EXPECT_EQ(uses, "T 1:33-1:20\nn 1:35-1:22\n" // out y: T[n]
                  "y 1:47-1:30\nx 1:52-1:17\n" // y == x
                  "i 2:21-2:7\nx 2:30-1:17\ny 2:35-1:30\n"
                  "s 3:3-2:19\ns 3:17-2:19\n"
                  "x 5:37-5:20\nx 5:42-5:20\n" // x == x@rank
                  "T 5:59-5:23\nn 5:61-5:25\n" // temp t: T[n]
                  "f 5:65-1:12\nx 5:67-1:17\nx 5:71-5:20\ny 5:74-1:30\nt 5:78-5:56\n");
}

TEST_F(CompileTest, ArgumentsHavePlacesOfTheirOwn) {
  std::string path = write("a.coll", "collective c(k: int) { }");
  Compilation c = compileFiles({path});
  ASSERT_TRUE(c.ok()) << messages(c);
  DeclId id = c.mainDecls()[0];
  EXPECT_TRUE(c.addArgument(id, "k", "2 + 3").ok());
  Result<ExprId> open = c.addArgument(id, "k", "2 + (3");
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(c.render(open.status().diagnostic()),
            "argument 'k':1:5: error: this '(' is never closed\n"
            "2 + (3\n"
            "    ^\n");
  EXPECT_EQ(c.program().files.back(), "argument 'k'");
}

} // namespace
