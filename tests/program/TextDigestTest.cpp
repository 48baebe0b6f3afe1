// The digest to which proofs of texts are bound: each change of what a text means changes it, and
// nothing else does.
#include "program/TextDigest.h"

#include "compiler/Compile.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>
#include <set>

namespace colldsl {
namespace {

constexpr const char *kText = R"(
tree line(root: rank, step: int = 1) { if rank != root { parent rank - step; } if next(rank) < ranks { child next(rank); } }
function next(r: int) = r + 1;

/// Down a line.
collective down(inout buf: T[n], root: rank = 0, t: tree = line(0))
  where t.root == root
  ensures buf == buf@root
{
  temp copy_of: T[n];
  if rank != root { a: recv buf from t.parent; }
  for c in t.children { b: send buf to c tag 3; }
}

collective twice(inout buf: T[n])
  ensures buf == buf@0
{
  down(buf);
  down(buf, t = line(0, 1));
}
)";

uint64_t digestOf(const std::string &text, const char *collective = "twice",
                  bool withStdlib = false) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy(text, "test.coll"));
  CompileOptions options;
  options.withStdlib = withStdlib;
  Compilation compilation = compileTexts(std::move(files), options);
  for (const Diagnostic &d : compilation.diagnostics())
    ADD_FAILURE() << compilation.render(d) << text;
  if (!compilation.ok())
    return 0;
  const Program &program = compilation.program();
  return textDigest(program, program.find(collective, DeclKind::Collective));
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = kText;
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(TextDigest, doesNotDependOnWhatMeansNothing) {
  uint64_t digest = digestOf(kText);
  EXPECT_EQ(digestOf("// a comment\n\n" + with("/// Down a line.", "/// Another comment.\n")),
            digest);
  EXPECT_EQ(digestOf(with("{ a: recv", "{\n    // another\n    a: recv")), digest);
  EXPECT_EQ(digestOf("function unused(x: int) = x;\ncollective other() { calc 1ns; }" +
                     std::string(kText)),
            digest);
  EXPECT_EQ(digestOf(kText, "twice", true), digest) << "beside the standard library";
}

TEST(TextDigest, changesWithEachPartOfATextAndOfWhatItUses) {
  std::set<uint64_t> digests{digestOf(kText)};
  constexpr std::pair<const char *, const char *> kChanges[] = {
      {"down(buf);", ""},                                           // a call
      {"t = line(0, 1)", "t = line(0, 2)"},                         // an argument
      {"rank - step", "rank - 1"},                                  // a tree
      {"r + 1", "1 + r"},                                           // a function
      {"  where t.root == root\n", ""},                             // a condition
      {"t: tree = line(0)", "t: tree = line(root)"},                // a default
      {"buf == buf@root", "buf == buf@t.root"},                     // a promise
      {"temp copy_of", "temp copy_to"},                             // the name of a buffer
      {"{ b: send", "{ send"},                                      // a label
      {" tag 3", " tag 4"},                                         // a number
      {"for c in t.children", "for c in [for d in t.children: d]"}, // a loop
  };
  for (auto [from, to] : kChanges)
    EXPECT_TRUE(digests.insert(digestOf(with(from, to))).second) << from;
}

TEST(TextDigest, isOfTheCollective) { EXPECT_NE(digestOf(kText, "down"), digestOf(kText)); }

} // namespace
} // namespace colldsl
