// Syntax errors as people get them: place, both sides, hint; and that one mistake gives
// one message, however much stands behind it.
#include "Parsing.h"

#include "compiler/SyntaxError.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

struct Mistake {
  const char *text;
  const char *error;
};

void PrintTo(const Mistake &mistake, std::ostream *out) { *out << mistake.text; }

class Mistakes : public testing::TestWithParam<Mistake> {};

const Mistake kInStatements[] = {
    {"send s to p", "2:12: expected ';' after 'send', found '}'"},
    {"send s top;", "2:8: expected 'to' or 'along' after 's', found 'top' [did you mean 'to'?]"},
    {"send to p;", "2:9: expected 'to' or 'along' after 'to', found 'p'"},
    {"recv s form p;",
     "2:8: expected 'from' or 'along' after 's', found 'form' [did you mean 'from'?]"},
    {"recv s from p combin op;",
     "2:15: expected ';' after 'recv', found 'combin' [did you mean 'combine'?]"},
    {"recv s from p combine op befor;",
     "2:26: expected ';' after 'recv', found 'befor' [did you mean 'before'?]"},
    {"recv s from p combine;", "2:22: expected a name after 'combine', found ';'"},
    {"copy a b;", "2:8: expected 'to' after 'a', found 'b'"},
    {"combine a to b op;",
     "2:11: expected 'into' after 'a', found 'to' [the form is: combine A into B op]"},
    {"combine a into b with op;",
     "2:23: expected ';' after 'combine', found 'op' [the form is: combine A into B op]"},
    {"combine a into b op befor;",
     "2:21: expected ';' after 'combine', found 'befor' [did you mean "
     "'before'?]"},
    {"recieve s from p;", "2:1: 'recieve' begins no statement here [did you mean 'recv'?]"},
    {"wiat from p;", "2:1: 'wiat' begins no statement here [did you mean 'wait'?]"},
    {"elif a { }", "2:1: 'elif' begins no statement here [did you mean 'else if'?]"},
    {"while a { }", "2:1: 'while' begins no statement here [did you mean 'for'?]"},
    {"x = 3;", "2:1: 'x' cannot be assigned [names are bound once, with 'let x = ...']"},
    {"y = x;", "2:1: 'y' cannot be assigned [names are bound once, with 'let y = ...'; of buffers, "
               "write 'copy x to y;']"},
    {"y += x[k];", "2:1: 'y' cannot be assigned [names are bound once, with 'let y = ...'; of "
                   "buffers, write 'combine x[k] into y sum;']"},
    {"y[rank] = x;", "2:1: 'y[rank]' cannot be assigned [write 'copy x to y[rank];']"},
    {"y[(rank - 1) % ranks] = x[0..n / 2];",
     "2:1: 'y[(rank - 1) % ranks]' cannot be assigned [write 'copy x[0..n / 2] to y[(rank - 1) % "
     "ranks];']"},
    {"y[0][1]   =   x ;", "2:1: 'y[0][1]' cannot be assigned [write 'copy x to y[0][1];']"},
    {"y[0..1] = x;", "2:1: 'y[0..1]' cannot be assigned [write 'copy x to y[0..1];']"},
    {"y[k..2 * k]+=x[0];",
     "2:1: 'y[k..2 * k]' cannot be assigned [write 'combine x[0] into y[k..2 * k] sum;']"},
    {"y[0..1] == x;", "2:4: expected ',' or ']' after '0', found '..'"},
    {"y[0] += x;", "2:1: 'y[0]' cannot be assigned [write 'combine x into y[0] sum;']"},
    {"y[0] -= x;",
     "2:1: 'y[0]' cannot be assigned [buffers are written by copy, combine and recv]"},
    {"y[0] = 2 * x;",
     "2:1: 'y[0]' cannot be assigned [buffers are written by copy, combine and recv]"},
    {"y[0] = if x { }",
     "2:1: 'y[0]' cannot be assigned [buffers are written by copy, combine and recv]"},
    {"function f(a: int) = a;",
     "2:1: 'function' begins no statement here [declarations stand beside "
     "each other, not in a block]"},
    {"if a { tree t(root: rank) { } }", "2:8: 'tree' begins no statement here [declarations stand "
                                        "beside each other, not in a block]"},
    {"s[k]: snd x to p;", "2:7: 'snd' begins no statement here [did you mean 'send'?]"},
    {"s[k]: let x = 3;", "2:7: a label stands before an operation or a call, not before 'let'"},
    {"let y 3;", "2:7: expected '=' after 'y', found '3'"},
    {"let y = ;", "2:9: expected an expression after '=', found ';'"},
    {"let y = a +;", "2:12: expected an expression after '+', found ';'"},
    {"let y = a ? b;", "2:14: expected ':' after 'b', found ';'"},
    {"let y = 2.5;", "2:11: expected a name after '.', found '5' [numbers are whole]"},
    {"let y = !a;", "2:9: expected an expression after '=', found '!' [did you mean 'not'?]"},
    {"let y = a && b;", "2:11: expected ';' after 'let', found '&&' [did you mean 'and'?]"},
    {"let y = a & b;", "2:11: expected ';' after 'let', found '&' [did you mean 'and'?]"},
    {"x += 3;", "2:1: 'x' cannot be assigned [names are bound once, with 'let x = ...']"},
    {"let y = a ^ b;", "2:11: expected ';' after 'let', found '^' [did you mean 'xor'?]"},
    {"if a = b { }", "2:6: expected '{' after 'a', found '=' [did you mean '=='?]"},
    {"if a || b { }", "2:6: expected '{' after 'a', found '||' [did you mean 'or'?]"},
    {"if a send x to y;", "2:6: expected '{' after 'a', found 'send'"},
    {"for i n 0..3 { }", "2:7: expected 'in' after 'i', found 'n' [did you mean 'in'?]"},
    {"for i in 0.. { }", "2:14: expected an expression after '..', found '{'"},
    {"edge too 3;", "2:6: expected 'to' or 'from' after 'edge', found 'too' [did you mean 'to'?]"},
    {"child;", "2:6: expected an expression after 'child', found ';'"},
    {"f(a, b c);", "2:8: expected ')' after 'b', found 'c'"},
    {"f(a,);", "2:5: expected an expression after ',', found ')'"},
    {"3 + 4;", "2:1: expected a statement or '}', found '3'"},
    {"\"text\";", "2:1: expected a statement or '}', found a string"},
    {"let x = a < b < c;",
     "2:15: comparisons do not chain: '<' before '<' [write 'a < b and b < c']"},
};

TEST_P(Mistakes, GiveOneMessage) {
  EXPECT_EQ(errorsOf(inBody(GetParam().text) + "collective d(in x: T[n]) { }"),
            std::vector<std::string>{GetParam().error});
}

INSTANTIATE_TEST_SUITE_P(InStatements, Mistakes, testing::ValuesIn(kInStatements));

class DeclMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(DeclMistakes, GiveOneMessage) {
  EXPECT_EQ(errorsOf(GetParam().text), std::vector<std::string>{GetParam().error});
}

const Mistake kInDeclarations[] = {
    {"colective c() {}",
     "1:1: expected a declaration, found 'colective' [did you mean 'collective'?]"},
    {"def f() = 1;", "1:1: expected a declaration, found 'def' [did you mean 'function'?]"},
    {"let x = 3;", "1:1: expected a declaration, found 'let'"},
    {"import foo;", "1:8: expected a string after 'import', found 'foo'"},
    {"collective 3c() {}", "1:12: expected a name after 'collective', found '3c'"},
    {"collective c {}", "1:14: expected '(' after 'c', found '{'"},
    {"collective c(3) {}", "1:14: expected ')' after '(', found '3'"},
    {"collective c(in x T[n]) {}", "1:19: expected ':' after 'x', found 'T'"},
    {"collective c(inn x: T[n]) {}",
     "1:18: expected ':' after 'inn', found 'x' [did you mean 'in'?]"},
    {"collective c(k: int int) {}", "1:21: expected ')' or ',' after 'int', found 'int'"},
    {"collective c(k: int = ) {}", "1:23: expected an expression after '=', found ')'"},
    {"collective c(in x: T[n]) ensure x == y {}",
     "1:33: expected 'aliases' after 'ensure', found 'x' [did you mean 'ensures'?]"},
    {"collective c(in x: T[n]) ensures x = y {}",
     "1:36: expected a clause or '{' after 'x', found '=' [did you mean '=='?]"},
    {"collective c() ensures for r 0..3: x == y {}",
     "1:30: expected 'aliases' after 'r', found '0'"},
    {"function f() 1;", "1:14: expected '=' after ')', found '1'"},
    {"function f() = 1", "1:17: expected ';' after '1', found the end of the file"},
    {"tree t() ensures x == y {}", "1:10: expected '{' after ')', found 'ensures'"},
    {"collective c(x: T[n]) {}",
     "1:14: buffer 'x' has no direction [write in, out or inout before it]"},
    {"collective c(in x: T) {}", "1:20: buffer 'x' has no size [write T[n]]"},
    {"collective c(in x: global T[n]) {}",
     "1:20: 'global' stands before graphs, and 'x' is a buffer"},
    {"collective c(in x: T[n] = 3) {}", "1:27: buffer 'x' cannot have a default value"},
    {"collective c(in x: T[n] in 1..2) {}", "1:28: buffer 'x' cannot have candidates"},
    {"collective c(k: int at 3) {}",
     "1:24: 'at' says where a buffer is significant, and 'k' is a value"},
};
INSTANTIATE_TEST_SUITE_P(InDeclarations, DeclMistakes, testing::ValuesIn(kInDeclarations));

TEST(SyntaxErrors, SeveralInOneRun) {
  EXPECT_EQ(errorsOf("collective c(in x T[n], k: int = ) ensures x = y {\n"
                     "  send x to;\n"
                     "  if a { recv x form p; 3; }\n"
                     "}\n"
                     "foo bar baz;\n"
                     "tree t() { parent; }\n"),
            (std::vector<std::string>{
                "1:19: expected ':' after 'x', found 'T'",
                "1:34: expected an expression after '=', found ')'",
                "1:46: expected a clause or '{' after 'x', found '=' [did you mean '=='?]",
                "2:12: expected an expression after 'to', found ';'",
                "3:17: expected 'from' or 'along' after 'x', found 'form' [did you mean 'from'?]",
                "3:25: expected a statement or '}', found '3'",
                "5:1: expected a declaration, found 'foo'",
                "6:18: expected an expression after 'parent', found ';'",
            }));
}

// Keywords are names, too, where an operation or a call may begin with one.
TEST(SyntaxErrors, NameWhatEachKeywordNeeds) {
  for (const std::string &word : grammarWords())
    for (const char *rest : {" f;", " f(a) = a;", " 3;", ";", " { }"})
      for (const std::string &error : errorsOf(inBody(word + rest)))
        EXPECT_EQ(error.find("something else"), std::string::npos) << word << rest << ": " << error;
}

TEST(SyntaxErrors, NoMoreThanTheLimit) {
  ParseLimits limits;
  limits.maxErrors = 4;
  ParseResult result = parseFile(repeat("foo;\n", 100), 0, limits);
  ASSERT_EQ(result.errors.size(), 4u);
  ASSERT_EQ(result.errors.back().notes.size(), 1u);
  EXPECT_EQ(result.errors.back().notes[0].message, "stopped after 4 errors (--max-errors)");
}

TEST(SyntaxErrors, LongTokensAreCutShort) {
  std::string word = repeat("x", 1000);
  EXPECT_EQ(
      errorsOf("tree t() {} " + word),
      std::vector<std::string>{"1:13: expected a declaration, found '" + repeat("x", 30) + "...'"});
}

TEST(SyntaxErrors, ErrorsInOneArmLeaveTheOthersChecked) {
  EXPECT_EQ(errorsOf(inBody("if a { send x; }\nelse { send y; }")),
            (std::vector<std::string>{
                "2:14: expected 'to' or 'along' after 'x', found ';'",
                "3:14: expected 'to' or 'along' after 'y', found ';'",
            }));
}

TEST(SyntaxErrors, TooManyArms) {
  ParseLimits limits;
  limits.maxChain = 20;
  EXPECT_EQ(errorsOf(inBody("if a {} " + repeat("else if a {} ", 19)), limits).size(), 0u);
  EXPECT_EQ(errorsOf(inBody("if a {} " + repeat("else if a {} ", 20)), limits),
            std::vector<std::string>{"2:1: this 'if' has 21 arms, the limit is 20 (--max-chain)"});
}

} // namespace
