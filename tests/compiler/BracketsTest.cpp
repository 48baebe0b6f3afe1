// Brackets without partners, and the depth that they and operators may reach.
#include "Parsing.h"

#include "compiler/Brackets.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

std::vector<Diagnostic> check(std::string_view text, const ParseLimits &limits = {}) {
  return checkBrackets(*scan(text, 0, limits), limits);
}
std::vector<std::string> errorsIn(std::string_view text, const ParseLimits &limits = {}) {
  return brief(check(text, limits));
}
using Texts = std::vector<std::string>;

TEST(Brackets, AcceptsBalancedText) { EXPECT_EQ(errorsIn("a(b[c]{d;}){([])}"), Texts{}); }

TEST(Brackets, ReportsEachThatIsNotClosedBeforeTheStatementEnds) {
  std::vector<Diagnostic> errors = check("{ a(b; c[d; }");
  EXPECT_EQ(brief(errors),
            (Texts{"1:6: expected ')' before ';'", "1:11: expected ']' before ';'"}));
  ASSERT_EQ(errors[0].notes.size(), 1u);
  EXPECT_EQ(brief(errors[0].notes[0]), "1:4: '(' is opened here");
}

TEST(Brackets, ReportsWrongAndLonelyOnes) {
  EXPECT_EQ(errorsIn("{ (a }"), Texts{"1:6: expected ')' before '}'"});
  EXPECT_EQ(errorsIn("a ) b ]"), (Texts{"1:3: ')' closes nothing", "1:7: ']' closes nothing"}));
  EXPECT_EQ(errorsIn("{\n { }"), Texts{"1:1: this '{' is never closed"});
}

TEST(Brackets, StopsAtTheErrorLimit) {
  ParseLimits limits;
  limits.maxErrors = 3;
  EXPECT_EQ(errorsIn(repeat(") ", 100), limits).size(), 3u);
}

TEST(Brackets, BoundsNesting) {
  ParseLimits limits;
  limits.maxNesting = 3;
  EXPECT_EQ(errorsIn("([{}])", limits), Texts{});
  EXPECT_EQ(errorsIn("([{()}])", limits),
            Texts{"1:4: brackets are nested deeper than 3, the limit (--max-nesting)"});
}

TEST(Brackets, BoundsChains) {
  ParseLimits limits;
  limits.maxChain = 5;
  std::string error = ": this expression is too long: more than 5 tokens with those around it, "
                      "the limit (--max-chain)";
  EXPECT_EQ(errorsIn("a+b+c;d+e+f", limits), Texts{});
  EXPECT_EQ(errorsIn("a+b+c+d", limits), Texts{"1:6" + error});
  EXPECT_EQ(errorsIn("a,b,c,d,e,f", limits), Texts{}) << "a comma begins anew";
  EXPECT_EQ(errorsIn("(a(b,c,d),e)", limits), Texts{}) << "a bracket counts as one token";
  EXPECT_EQ(errorsIn("a(b(c+d", limits), Texts{"1:6" + error}) << "what is around it counts";
  EXPECT_EQ(errorsIn("(a,a(b,b(c+d", limits), Texts{"1:10" + error});
  EXPECT_EQ(errorsIn("if a {if b {if c {d+e+f;}}}", limits), Texts{}) << "blocks do not";
}

} // namespace
