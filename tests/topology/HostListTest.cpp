// Host lists of Slurm, against lists written out by hand.
#include "topology/HostList.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

using Names = std::vector<std::string>;

Names expand(std::string_view list) {
  HostList hosts(1000);
  Status s = hosts.expand(list);
  return s ? hosts.names() : Names{s.message(), std::to_string(hosts.column())};
}

TEST(HostList, RangesKeepTheirWidth) {
  EXPECT_EQ(expand("node[001-003,017],login1"),
            (Names{"node001", "node002", "node003", "node017", "login1"}));
  EXPECT_EQ(expand("n[8-10]"), (Names{"n8", "n9", "n10"}));
  EXPECT_EQ(expand("n[098-101]"), (Names{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expand("n[08-10,8]x"), (Names{"n08x", "n09x", "n10x", "n8x"}));
  EXPECT_EQ(expand("10.0.0.1,b-2.site.eu"), (Names{"10.0.0.1", "b-2.site.eu"}));
  EXPECT_EQ(expand("[1-2]"), (Names{"1", "2"}));
}

TEST(HostList, TheLastBracketsRunFastest) {
  EXPECT_EQ(expand("r[0-1]n[00-01],a[1]b[2]c"),
            (Names{"r0n00", "r0n01", "r1n00", "r1n01", "a1b2c"}));
}

TEST(HostList, ErrorsHaveAColumn) {
  EXPECT_EQ(expand("a,,b"), (Names{"a host has no name", "3"}));
  EXPECT_EQ(expand(""), (Names{"a host has no name", "1"}));
  EXPECT_EQ(expand("a,n[1-2"), (Names{"'[' is not closed", "4"}));
  EXPECT_EQ(expand("a,n1-2]"), (Names{"']' without '['", "7"}));
  EXPECT_EQ(expand("n[1-2[3]]"), (Names{"'[' within brackets", "6"}));
  EXPECT_EQ(expand("n[1,3-2]"),
            (Names{"cannot make sense of '3-2' in brackets: numbers and ranges such as 001-003 "
                   "stand there",
                   "5"}));
  EXPECT_EQ(expand("n[]").back(), "3");
  EXPECT_EQ(expand("n[a]").back(), "3");
}

TEST(HostList, MoreNamesThanTheLimitAreRefusedAtOnce) {
  EXPECT_EQ(expand("n[1-1000]").size(), 1000u);
  EXPECT_EQ(expand("a,n[1-1000]"), (Names{"more than 1000 hosts", "3"}));
  EXPECT_EQ(expand("n[0-18446744073709551615]"), (Names{"more than 1000 hosts", "1"}));
  EXPECT_EQ(expand("n[1-999][1-999][1-999][1-999][1-999][1-999][1-999]"),
            (Names{"more than 1000 hosts", "1"}));
}

} // namespace
} // namespace colldsl
