// What of the machine a text can look at, compared with the rows of the vocabulary, and with what
// instantiation looks at.
#include "program/MachineUse.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "ir/TextForm.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>
#include <map>

namespace colldsl {
namespace {

constexpr uint32_t kRanks = 4;

Compilation compile(const std::string &text) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy(text, "test.coll"));
  Compilation compilation = compileTexts(std::move(files), {});
  for (const Diagnostic &d : compilation.diagnostics())
    ADD_FAILURE() << compilation.render(d) << text;
  return compilation;
}

MachineUse::Found find(const Program &program, const std::string &collective) {
  return MachineUse(program).find(program.find(collective, DeclKind::Collective), {});
}

std::string wordsOf(const MachineUse::Found &found) {
  std::string words;
  for (Level level : kLevels)
    if (found.levels.has(level))
      words += std::string(spelling(level)) + ' ';
  return words + (found.leaders ? "leaders" : "");
}

Result<Schedule> instantiate(const Program &program, const std::string &collective,
                             const LeaderOrder *leaders = nullptr) {
  InstantiateRequest request;
  request.collective = program.find(collective, DeclKind::Collective);
  request.ranks = kRanks;
  request.elements = 12;
  request.leaders = leaders;
  return instantiateAll(program, request);
}

/// A text for each kind of expression that names a level: what it does depends on the level, and on
/// the leaders, if the expression does.
const std::map<ExprKind, std::string> &textsOfLevels() {
  static const std::map<ExprKind, std::string> texts{
      {ExprKind::Leader, "if rank == leader(LEVEL) { calc 1ns; }"},
      {ExprKind::GroupOf, "for i in 0..LEVEL.size { calc 1ns; }"},
      {ExprKind::GroupLeaders, "if leaders(LEVEL).rank == none { calc 1ns; }"},
  };
  return texts;
}

std::string replaced(std::string text, const std::string &word, std::string_view by) {
  for (size_t at; (at = text.find(word)) != std::string::npos;)
    text.replace(at, word.size(), by);
  return text;
}

TEST(MachineUse, KnowsEachKindOfExpressionThatNamesALevel) {
  for (unsigned kind = 0; kind < kExprKinds; ++kind)
    EXPECT_EQ(textsOfLevels().contains(static_cast<ExprKind>(kind)),
              kExprs[kind].value == ValueUse::Level)
        << "a row of Exprs.def, '" << kExprs[kind].usage << "', has no text here";
  for (const auto &[kind, text] : textsOfLevels())
    for (Level level : kLevels) {
      Compilation compiled =
          compile(replaced("collective c() { " + text + " }", "LEVEL", spelling(level)));
      MachineUse::Found found = find(compiled.program(), "c");
      LevelSet wanted;
      wanted.add(level);
      EXPECT_EQ(found.levels, wanted) << text << spelling(level);
      Result<Schedule> schedule = instantiate(compiled.program(), "c");
      ASSERT_TRUE(schedule.ok()) << text << spelling(level) << schedule.message();
      EXPECT_EQ(schedule->usesTopology, !wanted.empty()) << text << spelling(level);
    }
}

TEST(MachineUse, KnowsWhereLeadersMakeADifference) {
  LeaderOrder highest;
  highest.places.fill({3, 2, 1, 0});
  for (const auto &[kind, text] : textsOfLevels()) {
    Compilation compiled = compile(replaced("collective c() { " + text + " }", "LEVEL", "node"));
    Result<Schedule> one = instantiate(compiled.program(), "c"),
                     other = instantiate(compiled.program(), "c", &highest);
    ASSERT_TRUE(one.ok() && other.ok()) << text;
    EXPECT_EQ(find(compiled.program(), "c").leaders, printText(*one) != printText(*other)) << text;
  }
}

// Each place in which an expression can stand.
TEST(MachineUse, LooksWhereverAnExpressionCanStand) {
  const std::pair<const char *, const char *> texts[] = {
      {"collective c() { }", ""},
      {"collective c() { calc 1ns; if false { calc socket.size * 1ns; } }", "socket "},
      {"collective c(inout x: T[n]) where node.size > 0 ensures x == x { }", "node "},
      {"collective c(inout x: T[n]) ensures at rank == leader(board): x == x { }", "board leaders"},
      {"collective c(in x: T[node.size]) { }", "node "},
      {"collective c(in x: T[2] at leader(numa)) { }", "numa leaders"},
      {"collective c(in x: T[n], inout y: T[ranks][n]) x aliases y[node.rank] ensures y == y { }",
       "node "},
      {"collective c() { temp t: T[node.size]; }", "node "},
      {"collective c() { s[node.size]: calc 1ns; }", "node "},
      {"collective c() { s[1]: calc 1ns; t: calc 1ns; t requires s[numa.size]; }", "numa "},
      {"collective c() { signal to none tag board.size; }", "board "},
      {"collective c(in x: T[n]) { for s in segments(x, node.size * 64B) { } }", "node "},
      {"collective c(k: int = node.size) { }", "node "},
      {"function f(a: int = socket.size) = a;\ncollective c() { let a = f(); }", "socket "},
      {"function f(a: int = socket.size) = a;\ncollective c() { let a = f(1); }", ""},
      {"function f() = g(); function g() = board.size;\ncollective c() { let a = f(); }", "board "},
      {"tree t(root: rank) { parent rank == root ? none : leader(node, include = root); "
       "if rank == root { for i in 1..node.size { child node.member(i); } } }\n"
       "collective c() { let a = t(0); }",
       "node leaders"},
      {"graph g() { edge to node.member(0); edge from none; }\ncollective c() { let a = g(); }",
       "node "},
      {"collective d() { calc socket.size * 1ns; }\ncollective c() { d() over where(r: r > 0); }",
       "socket "},
      {"collective d(k: int = numa.size) { }\ncollective c() { d(); }", "numa "},
      {"collective d(k: int = numa.size) { }\ncollective c() { d(k = 1); }", ""},
      {"collective d() { }\ncollective c() { d() over node; }", "node "},
      {"collective d() { }\ncollective c() { d() over all; }", ""},
      {"collective c(t: tree = binomial(0) in {binomial(0), distance(0)}) { }", ""},
      {"collective c(t: tree = distance(0)) { }", "node socket leaders"},
      {"collective unused() { calc node.size * 1ns; }\ncollective c() { }", ""},
  };
  for (auto [text, wanted] : texts)
    EXPECT_EQ(wordsOf(find(compile(text).program(), "c")), wanted) << text;
}

TEST(MachineUse, ArgumentsStandInPlaceOfDefaults) {
  Compilation compiled = compile("collective c(t: tree = binomial(0)) { }");
  DeclId id = compiled.program().find("c", DeclKind::Collective);
  MachineUse use(compiled.program());
  Result<ExprId> distance = compiled.addArgument(id, "t", "distance(0)"),
                 chain = compiled.addArgument(id, "t", "chain(0)");
  ASSERT_TRUE(distance.ok() && chain.ok());
  EXPECT_TRUE(use.find(id, {}).levels.empty());
  EXPECT_FALSE(use.find(id, std::vector{*distance}).levels.empty());
  EXPECT_TRUE(use.find(id, std::vector{*chain}).levels.empty());
  EXPECT_TRUE(MachineUse(compiled.program()).find(id, {}).levels.empty());
}

// What instantiation looks at, the text can look at.
TEST(MachineUse, MissesNothingInTheStandardLibrary) {
  Compilation compiled = compileFiles({});
  const Program &program = compiled.program();
  unsigned made = 0, looking = 0;
  for (const Decl &decl : program.decls) {
    if (decl.kind != DeclKind::Collective)
      continue;
    Result<Schedule> schedule = instantiate(program, program.nameOf(decl));
    if (!schedule) // it needs arguments
      continue;
    ++made;
    looking += schedule->usesTopology;
    EXPECT_LE(schedule->usesTopology, !find(program, program.nameOf(decl)).levels.empty())
        << program.nameOf(decl);
  }
  EXPECT_GT(made, 60u);
  EXPECT_GT(looking, 5u);
}

} // namespace
} // namespace colldsl
