// Imported schedules are declared like the collectives that serve their functions.

#include "driver/library/ImportedSchedules.h"
#include "driver/rules/StandardFunctions.h"

#include <gtest/gtest.h>

namespace colldsl::driver {
namespace {

TEST(ImportedSchedules, SuitTheCallsOfTheirFunctions) {
  std::string text;
  for (const CallForm &form : callForms())
    text += declarationOf(form, "our_" + form.function.str());
  SinkText messages;
  Session session(messages);
  std::unique_ptr<Source> source = Source::ofText(session, "imported", text, ScheduleRequest());
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
} // namespace colldsl::driver
