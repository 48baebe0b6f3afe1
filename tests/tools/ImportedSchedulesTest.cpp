// Imported schedules are declared like the collectives that serve their functions.

#include "tools/library/ImportedSchedules.h"
#include "tools/library/StandardFunctions.h"

#include <gtest/gtest.h>

namespace colldsl::tools {
namespace {

TEST(ImportedSchedules, SuitTheCallsOfTheirFunctions) {
  std::string text;
  for (const CallForm &form : callForms())
    text += declarationOf(form, "our_" + form.function.str());
  std::unique_ptr<Source> source = Source::ofText("imported", text, ScheduleOptions());
  ASSERT_TRUE(source);
  Result<StandardFunctions> standard = StandardFunctions::make();
  ASSERT_TRUE(standard) << standard.message();
  for (const CallForm &form : callForms()) {
    SelectionRule rule;
    rule.function = form.function.str();
    EXPECT_TRUE(standard->has(rule.function));
    DeclId id = source->program().find("our_" + rule.function, DeclKind::Collective);
    ASSERT_NE(id, kNoDecl);
    rule.collective = index(id);
    Status suits = standard->check(rule, source->program());
    EXPECT_TRUE(suits.ok()) << suits.message();
  }
}

} // namespace
} // namespace colldsl::tools
