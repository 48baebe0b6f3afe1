// Any bytes as text: they end in errors or in a schedule; and that prints to a text
// that reads back the same, has an image that loads, and GOAL text that parses.

#include "tests/ir/DescribeErrors.h"
#include "tests/ir/Fuzz.h"
#include "tests/ir/Schedules.h"
#include "tests/ir/Walk.h"

#include "formats/GoalText.h"
#include "ir/Image.h"
#include "ir/TextForm.h"

namespace colldsl {
namespace {

constexpr std::string_view kGoal = "num_ranks 2\n"
                                   "rank 0 {\n"
                                   "  l1: send 8b to 1 tag 5 cpu 1 nic 2 // to the other\n"
                                   "  l2: recv 1 b from 1\n"
                                   "  l2 requires l1\n"
                                   "  /* a\n comment */ l3: calc 100 cpu 3\r\n"
                                   "  l3 irequires l1\n"
                                   "}\n"
                                   "rank 1 { \n recv 8b from 0 tag 5\n send 1b to 0\n}\n";

void checkReadsBack(const Schedule &schedule) {
  std::string text = printText(schedule);
  ParsedText back = parseText(text, "fuzz");
  if (!back.errors.empty())
    failFuzz("the text does not read back: " + describeErrors(back.errors, "fuzz") + text);
  if (std::string what = difference(schedule, back.schedule); !what.empty())
    failFuzz("the text reads back as another schedule: " + what + "\n" + text);
  if (printText(back.schedule) != text)
    failFuzz("the text prints differently when read back:\n" + text);
}

void checkImage(const Schedule &schedule) {
  auto bytes = encodeImage(schedule);
  Result<Image> image = Image::load(bytes);
  if (!image)
    failFuzz("a text that reads has an image that does not load: " + image.message());
  if (std::string what = walk(*image); !what.empty())
    failFuzz("an accepted image has " + what);
}

void checkGoal(const Schedule &schedule) {
  Result<std::string> goal = printGoal(schedule, {.localOpsAsCalc = true});
  if (!goal)
    return;
  ParsedText back = parseText(*goal, "fuzz.goal");
  if (!back.errors.empty())
    failFuzz("the GOAL text does not read back: " + describeErrors(back.errors, "goal") + *goal);
}

} // namespace

std::vector<FuzzInput> fuzzCorpus() {
  std::vector<FuzzInput> corpus;
  auto add = [&](std::string_view text) { corpus.emplace_back(text.begin(), text.end()); };
  add(kGoal);
  add(printText(everythingSchedule()));
  add(printText(ringSchedule(2)));
  for (uint64_t seed = 0; seed < 8; ++seed)
    add(printText(randomSchedule(seed)));
  return corpus;
}

} // namespace colldsl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace colldsl;
  std::string_view text(reinterpret_cast<const char *>(data), size);
  ParsedText parsed = parseText(text, "fuzz");
  for (const Diagnostic &error : parsed.errors)
    if (error.message.empty() || !error.loc.known())
      failFuzz("an error without words or place");
  if (!parsed.errors.empty())
    return 0;
  checkReadsBack(parsed.schedule);
  checkImage(parsed.schedule);
  checkGoal(parsed.schedule);
  return 0;
}
