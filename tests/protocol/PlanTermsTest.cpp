// What a plan is, in words of bounded length.
#include "protocol/open/PlanTerms.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

std::string differenceOf(const PlanTerms &a, const PlanTerms &b) {
  return compareTerms(Rank{0}, a.text(), Rank{1}, b.text()).message();
}

TEST(PlanTerms, namesTheFirstThatDiffers) {
  PlanTerms a, b;
  a.add("type", "i32");
  b.add("type", "i32");
  EXPECT_TRUE(compareTerms(Rank{0}, a.text(), Rank{1}, b.text()).ok());
  a.add("size 'n'", "4");
  b.add("size 'n'", "5");
  a.add("value of 'root'", "0");
  b.add("value of 'root'", "1");
  EXPECT_EQ(differenceOf(a, b),
            "rank 0 and rank 1 disagree on the size 'n': 4 on rank 0, 5 on rank 1");
}

TEST(PlanTerms, namesWhatOneSideLacks) {
  PlanTerms a, b;
  a.add("type", "i32");
  b.add("type", "i32");
  b.add("value of 'k'", "3");
  EXPECT_EQ(differenceOf(a, b),
            "rank 0 and rank 1 disagree on the value of 'k': none on rank 0, 3 on rank 1");
  EXPECT_EQ(differenceOf(b, a),
            "rank 0 and rank 1 disagree on the value of 'k': 3 on rank 0, none on rank 1");
}

TEST(PlanTerms, differInLongValues) {
  PlanTerms a, b;
  std::string list(1000, '1');
  a.add("value of 'counts'", list);
  list.back() = '2';
  b.add("value of 'counts'", list);
  EXPECT_LE(a.text().size(), PlanTerms::kMaxBytes);
  EXPECT_NE(differenceOf(a, b).find("disagree on the value of 'counts': 1111"), std::string::npos);
}

TEST(PlanTerms, differInWhatHasNoRoom) {
  for (int number : {0, 5, 30}) {
    PlanTerms a, b;
    for (int i = 0; i < 40; ++i) {
      a.add("value of 'p" + std::to_string(i) + "'", "1");
      b.add("value of 'p" + std::to_string(i) + "'", i == number ? "2" : "1");
    }
    EXPECT_LE(a.text().size(), PlanTerms::kMaxBytes);
    EXPECT_NE(differenceOf(a, b).find(number < 30 ? "value of 'p" + std::to_string(number) + "': 1"
                                                  : "other values: #"),
              std::string::npos)
        << differenceOf(a, b);
  }
}

} // namespace
} // namespace colldsl::protocol
