#include "lsp/Shift.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace colldsl::lsp {
namespace {

TEST(Shift, KeepsWhatIsBeforeAndBehindAChange) {
  Shift shift("let a = 1;", "let abc = 1;");
  EXPECT_EQ(shift.forward(4), 4u);
  EXPECT_EQ(shift.forward(8), 10u);
  EXPECT_EQ(shift.back(10), 8u);
  EXPECT_EQ(shift.back(6), std::nullopt); // within "bc"
}

TEST(Shift, OfEqualTextsMovesNothing) {
  Shift shift("abc", "abc");
  for (size_t i = 0; i <= 3; ++i)
    EXPECT_EQ(shift.forward(i), i);
}

TEST(Shift, MovesPlacesWithTheTextBeforeOrBehindThem) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string before, after;
    for (unsigned count = random() % 12; count > 0; --count)
      before += static_cast<char>('a' + random() % 3);
    after = before;
    size_t at = random() % (before.size() + 1);
    after.replace(at, random() % 4,
                  std::string(random() % 4, static_cast<char>('a' + random() % 3)));
    Shift shift(before, after);
    for (size_t offset = 0; offset <= before.size(); ++offset) {
      std::optional<size_t> moved = shift.forward(offset);
      EXPECT_TRUE(moved || offset > at) << before << " " << after << " " << offset;
      if (moved) {
        EXPECT_TRUE(before.substr(0, offset) == after.substr(0, *moved) ||
                    before.substr(offset) == after.substr(*moved))
            << before << " " << after << " " << offset;
      }
    }
  }
}

} // namespace
} // namespace colldsl::lsp
