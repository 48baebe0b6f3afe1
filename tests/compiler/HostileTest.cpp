// Hostile texts: each ends in a message, in bounded time and memory, with any bytes in it.
// The bounds are an order of magnitude above what an idle machine needs.
#include "Parsing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

using namespace colldsl;

namespace {

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

size_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlowdown = 20;
#else
constexpr double kSlowdown = 1;
#endif

struct Cost {
  std::vector<std::string> errors;
  double seconds;
  size_t bytes;
};

Cost costOf(const std::string &text) {
  size_t bytesBefore = residentBytes();
  double before = cpuSeconds();
  std::vector<std::string> errors = errorsOf(text);
  double seconds = cpuSeconds() - before;
  return {std::move(errors), seconds, residentBytes() - std::min(bytesBefore, residentBytes())};
}

struct HostileText {
  const char *name;
  std::string (*make)();
  const char *message; ///< part of the first error; empty: it is a proper text
};

void PrintTo(const HostileText &text, std::ostream *out) { *out << text.name; }

const HostileText kTexts[] = {
    {"OneLineOf10MB", [] { return repeat("a", 10'000'000); }, "(--max-line-bytes)"},
    {"OperatorsOnOneLine", [] { return "function f() = 1" + repeat(" + 1", 2'500'000) + ";"; },
     "(--max-line-bytes)"},
    {"MillionParentheses",
     [] { return "function f() = " + repeat("(\n", 1'000'000) + "1" + repeat(")\n", 1'000'000); },
     "(--max-tokens)"},
    {"ManyParentheses",
     [] { return "function f() = " + repeat("(\n", 90'000) + "1" + repeat(")\n", 90'000); },
     "(--max-nesting)"},
    {"ManyBlocks",
     [] { return "tree t() {" + repeat("if a {\n", 40'000) + repeat("}\n", 40'000) + "}"; },
     "(--max-nesting)"},
    {"OpenBracketsOnly", [] { return repeat("[{(\n", 60'000); }, "(--max-nesting)"},
    {"LongSum", [] { return "function f() = 1" + repeat("\n+ 1", 50'000) + ";"; }, "(--max-chain)"},
    {"LongConditional", [] { return "function f() = " + repeat("a ? b :\n", 20'000) + "c;"; },
     "(--max-chain)"},
    {"ManyNots", [] { return "function f() = " + repeat("not\n", 90'000) + "c;"; },
     "(--max-chain)"},
    {"ManySigns", [] { return "function f() = " + repeat("-\n", 90'000) + "c;"; }, "(--max-chain)"},
    {"ManyMembers", [] { return "function f() = a" + repeat(".\nb", 50'000) + ";"; },
     "(--max-chain)"},
    {"ManyIndices", [] { return "function f() = a" + repeat("[0]\n", 50'000) + ";"; },
     "(--max-chain)"},
    {"ManyPromises",
     [] { return "collective c() ensures " + repeat("at a:\n", 50'000) + "x == y {}"; },
     "(--max-chain)"},
    {"ManyTokens", [] { return "function f() = [" + repeat("1,\n", 1'000'000) + "1];"; },
     "(--max-tokens)"},
    {"ManyStatements", [] { return inBody(repeat("let a = 1;\n", 38'000)); }, ""},
    {"ManyDeclarations", [] { return repeat("function f() = 1;\n", 24'000); }, ""},
    {"ManyParameters", [] { return "tree t(" + repeat("a: int,\n", 45'000) + "b: int) {}"; }, ""},
    {"ManyLabels",
     [] { return inBody(repeat("s[k + 1 * (2 - 3)][2] requires t[1], u;\n", 8'000)); }, ""},
    {"ManyArms", [] { return inBody("if a {}" + repeat(" else if a {}\n", 30'000)); },
     "(--max-chain)"},
    {"DeepestSum", [] { return "function f() = 1" + repeat(" + 1", 495) + ";"; }, ""},
    {"DeepestConditional", [] { return "function f() = " + repeat("a ? b : ", 248) + "c;"; }, ""},
    {"DeepestNots", [] { return "function f() = " + repeat("not ", 990) + "c;"; }, ""},
    {"DeepestParentheses",
     [] { return "function f() = " + repeat("(", 199) + "1" + repeat(")", 199) + ";"; }, ""},
    {"DeepestCalls",
     [] { return "function f() = " + repeat("f(", 199) + "1" + repeat(")", 199) + ";"; }, ""},
    {"DeepestLists",
     [] { return "function f() = " + repeat("[", 199) + "1" + repeat("]", 199) + ";"; }, ""},
    {"DeepestBlocks", [] { return inBody(repeat("if (a) {", 199) + repeat("}", 199)); }, ""},
    {"CallsOrStatements",
     [] {
       return inBody(repeat("parent " + repeat("(", 150) + "x" + repeat(")", 150) + ";\n", 500));
     },
     ""},
    {"CommentOf16MB", [] { return "/*" + repeat(repeat("x", 99) + "\n", 167'000) + "*/"; }, ""},
    {"DocComments", [] { return repeat("/// doc\n", 2'000'000) + "tree t() {}"; }, ""},
    {"OpenComment", [] { return repeat("/*\n", 5'000'000); }, "this comment is never closed"},
    {"OpenString", [] { return repeat("\"\n", 5'000'000); }, "this string is never closed"},
    {"BackslashAtTheEnd", [] { return std::string("import \"\\"); }, "this string is never closed"},
    {"NothingFits", [] { return repeat("a ;\n", 90'000); }, "expected a declaration"},
    {"OnlyClosers", [] { return repeat(") ] }\n", 60'000); }, "closes nothing"},
    {"NulBytes", [] { return repeat(std::string("\0\n", 2), 1'000'000); }, "NUL byte"},
    {"NotUtf8", [] { return repeat("\xFF\n", 1'000'000); }, "does not begin a UTF-8 character"},
    {"TooManyBytes", [] { return repeat("a\n", 9'000'000); }, "(--max-source-bytes)"},
    {"LongWords", [] { return repeat(repeat("a", 16'000) + "\n", 900); }, "expected a declaration"},
};

class Hostile : public testing::TestWithParam<HostileText> {};

TEST_P(Hostile, EndsInBoundedTimeAndMemory) {
  Cost cost = costOf(GetParam().make());
  if (*GetParam().message == '\0')
    EXPECT_EQ(cost.errors, std::vector<std::string>{});
  else
    EXPECT_NE((cost.errors.empty() ? "no error" : cost.errors[0]).find(GetParam().message),
              std::string::npos)
        << (cost.errors.empty() ? "" : cost.errors[0]);
  EXPECT_LE(cost.errors.size(), ParseLimits().maxErrors);
  EXPECT_LT(cost.seconds, 10 * kSlowdown);
  EXPECT_LT(cost.bytes, kSlowdown * (size_t{512} << 20));
}

INSTANTIATE_TEST_SUITE_P(Texts, Hostile, testing::ValuesIn(kTexts),
                         [](const auto &info) { return info.param.name; });

// Random texts

/// Words of the language in an order that no grammar knows.
std::string randomTokens(std::mt19937 &random, size_t count) {
  static const char *const kWords[] = {
      "collective", "tree",  "graph",   "function", "import", "let",  "for",   "if",  "else",
      "in",         "out",   "send",    "recv",     "to",     "from", "along", "tag", "combine",
      "ensures",    "where", "aliases", "at",       "reduce", "not",  "and",   "or",  "xor",
      "x",          "y",     "0",       "64KiB",    "\"s\"",  "{",    "}",     "(",   ")",
      "[",          "]",     ";",       ",",        ":",      "?",    ".",     "..",  "..=",
      "=",          "==",    "<",       "+",        "-",      "*",    "@",     "of",  "requires",
      "true",       "none",  "&&",      "\n"};
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += std::string(kWords[random() % std::size(kWords)]) + " ";
  return text;
}

TEST(HostileRandom, TokensInAnyOrderGiveErrorsOnly) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i)
    errorsOf(randomTokens(random, 1 + random() % 60));
}

TEST(HostileRandom, BodiesInAnyOrderGiveErrorsOnly) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i)
    errorsOf(inBody(randomTokens(random, 1 + random() % 30)));
}

/// A good text with some bytes changed, removed or doubled.
std::string mutated(std::string text, std::mt19937 &random) {
  for (int i = 0; i < 3; ++i) {
    size_t at = random() % text.size();
    switch (random() % 3) {
    case 0:
      text[at] = static_cast<char>(32 + random() % 95);
      break;
    case 1:
      text.erase(at, 1 + random() % 5);
      break;
    case 2:
      text.insert(at, text.substr(random() % text.size(), random() % 10));
      break;
    }
  }
  return text;
}

TEST(HostileRandom, DamagedExamplesGiveErrorsOnly) {
  std::string text = readFile(COLLDSL_EXAMPLES "/bcast_tree.coll") +
                     readFile(COLLDSL_EXAMPLES "/allgather_ring.coll");
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i)
    for (const std::string &error : errorsOf(mutated(text, random)))
      EXPECT_NE(error.find(": "), std::string::npos);
}

TEST(Threads, ParseAtTheSameTime) {
  std::string text = readFile(COLLDSL_EXAMPLES "/neighbors.coll");
  std::string expected = dumpOf(text);
  std::vector<std::string> dumps(4);
  std::vector<std::thread> threads;
  for (std::string &dump : dumps)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        dump = dumpOf(text);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(dumps, std::vector<std::string>(4, expected));
}

} // namespace
